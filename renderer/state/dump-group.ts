import type { StoreResult } from '../../app/protocol/store.ts'

/** A step and layer of a dump. */
export type GroupRef = Pick<StoreResult<'dumpInfo'>['groups'][number], 'step' | 'layer'>

const distance = (a: GroupRef, b: GroupRef): number =>
  Math.abs(a.step - b.step) * 1024 + Math.abs(a.layer - b.layer)

/**
 * The group that is shown for what is selected: that step and layer, else the nearest; without a selected step the newest,
 * without a selected layer the first of the step. Null where there is none.
 */
export const chosenGroup = <G extends GroupRef>(
  groups: readonly G[],
  step: number | null,
  layer: number | null,
): G | null => {
  const newest = groups.reduce((most, group) => Math.max(most, group.step), 0)
  const wanted = { step: step ?? newest, layer: layer ?? 0 }
  return groups.reduce<G | null>(
    (best, group) => (best === null || distance(group, wanted) < distance(best, wanted) ? group : best),
    null,
  )
}
