import type { StoreResult } from '../../../app/protocol/store.ts'
import { PATH_KINDS, type PathSegment } from '../../../app/trace/critical-path.ts'
import { STAGES } from '../../../app/trace/stages.ts'
import { formatNs, formatPercent } from '../../drawing/format.ts'

type Found = StoreResult<'stepPath'>

/** Columns of a path as its segments. */
export const segmentsOf = ({ rank, stage, layer, kind, start, end }: Found['path']): readonly PathSegment[] =>
  Array.from(rank, (of, i) => ({
    rank: of,
    stage: stage[i] ?? -1,
    layer: layer[i] ?? -1,
    kind: PATH_KINDS[kind[i] ?? 0] ?? 'work',
    startNs: start[i] ?? 0,
    endNs: end[i] ?? 0,
  }))

/** Which rank was slow in a step, and by what; or why none was. */
export const verdictText = (step: number, { path, ranks, slowest }: Found): string => {
  if (path.rank.length === 0) return `Nothing of step ${step} was recorded.`
  const length = formatNs((path.end.at(-1) ?? 0) - (path.start[0] ?? 0))
  const begin = `The critical path of step ${step} takes ${length}.`
  const waited = ranks.reduce((sum, { waitNs }) => sum + waitNs, 0)
  if (ranks.length < 2) return `${begin} One rank, which waits for nobody.`
  if (slowest === null)
    return waited === 0
      ? `${begin} No rank waited for another.`
      : `${begin} No rank stands out as slow: the ranks waited ${formatNs(waited)} for each other.`
  const { rank, causedNs, share, stage } = slowest
  const why =
    stage === null
      ? ''
      : ` Its ${STAGES[stage.stage] ?? 'work'} took ${formatNs(stage.ownNs)}, the median of the others ${formatNs(stage.othersNs)}.`
  return `${begin} Rank ${rank} is the slowest: the others waited ${formatNs(causedNs)} for it, ${formatPercent(share)} of all waiting.${why}`
}
