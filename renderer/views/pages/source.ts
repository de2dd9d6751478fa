import type { PageSource, RunInfo, StoreResult } from '../../../app/protocol/store.ts'
import { chosenGroup } from '../../state/dump-group.ts'
import type { Selection } from '../../state/selection.ts'

/** Whose block table is shown. */
export interface Shown {
  readonly source: PageSource
  /** What a run recorded, what its kernels got at a step that it captured, or a dump of a serving engine. */
  readonly kind: 'recorded' | 'captured' | 'dump'
  readonly step: number
  /** Of tensors only. */
  readonly layer: number | null
  readonly rank: number
  readonly ranks: number
  /** The step was captured too, so that both kinds can be shown. */
  readonly both: boolean
  /** The selected step is not there, and the nearest is shown. */
  readonly elsewhere: boolean
}

type Wanted = Pick<Selection, 'step' | 'layer' | 'rank'>

/** The nearest of `count` places. */
export const within = (x: number, count: number): number => Math.min(Math.max(0, x), Math.max(0, count - 1))

/**
 * The block table of a run for what is selected: of the newest step where none is. At a step that was captured it is the one
 * that the kernels got, unless `recorded` asks for that of the run. Null before the first step.
 */
export const shownOfRun = (
  run: Pick<RunInfo, 'id' | 'steps' | 'captures'> & { readonly ranks: number },
  wanted: Wanted,
  recorded: boolean,
): Shown | null => {
  if (run.steps === 0) return null
  const step = within(wanted.step ?? run.steps - 1, run.steps)
  const rank = within(wanted.rank ?? 0, run.ranks)
  const layers = run.captures.filter((capture) => capture.step === step).map(({ layer }) => layer)
  const layer = layers.find((one) => one === wanted.layer) ?? layers[0]
  const common = {
    step,
    rank,
    ranks: run.ranks,
    both: layer !== undefined,
    elsewhere: wanted.step !== null && wanted.step !== step,
  }
  return layer === undefined || recorded
    ? { ...common, kind: 'recorded', layer: null, source: { run: run.id, step, rank } }
    : { ...common, kind: 'captured', layer, source: { dump: run.id, step, layer, rank } }
}

/** The block table of a dump, at the step and layer that Post-mortem shows too. Null where no file can be used. */
export const shownOfDump = (
  dump: string,
  groups: StoreResult<'dumpInfo'>['groups'],
  wanted: Wanted,
): Shown | null => {
  const group = chosenGroup(groups, wanted.step, wanted.layer)
  if (group === null) return null
  const { step, layer, dcpSize } = group
  const rank = wanted.rank === null ? (group.ranks[0] ?? 0) : within(wanted.rank, dcpSize)
  return {
    source: { dump, step, layer, rank },
    kind: 'dump',
    step,
    layer,
    rank,
    ranks: dcpSize,
    both: false,
    elsewhere:
      (wanted.step !== null && wanted.step !== step) || (wanted.layer !== null && wanted.layer !== layer),
  }
}

/** The step and layer that the table is of. */
export const sourceText = ({ step, layer, elsewhere }: Shown): string =>
  `step ${step}${layer === null ? '' : `, layer ${layer}`}${elsewhere ? ', the nearest' : ''}`
