import type { EventGroup } from './model.ts'

/** A rank or layer and how many events it has. */
export interface SpreadShare {
  readonly key: EventGroup['key']
  readonly count: number
  /** Of the one with the most, 0 to 1. */
  readonly share: number
  readonly firstStep: number
}

/** Ranks or layers that are shown at most. */
const MOST = 8

/** How events are spread over groups: those that had the first of them first, then the ones with the most. */
export const sharesOf = (groups: readonly EventGroup[]): readonly SpreadShare[] => {
  const most = Math.max(1, ...groups.map(({ count }) => count))
  return groups
    .toSorted((a, b) => a.firstStep - b.firstStep || b.count - a.count)
    .slice(0, MOST)
    .map(({ key, count, firstStep }) => ({ key, count, share: count / most, firstStep }))
}
