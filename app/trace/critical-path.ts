import { type Collective, collectivesOf } from './collectives.ts'
import type { StepSpan } from './step-spans.ts'

/**
 * What bounds a part of a step: a stage of a rank, the transfer of a collective once all have entered, or the time
 * between two spans of a rank.
 */
export const PATH_KINDS = ['work', 'transfer', 'between'] as const
export type PathKind = (typeof PATH_KINDS)[number]

/** A part of the critical path, ns. */
export interface PathSegment {
  readonly rank: number
  /** Code of the stage, and its layer; -1 between spans. */
  readonly stage: number
  readonly layer: number
  readonly kind: PathKind
  readonly startNs: number
  readonly endNs: number
}

/** The spans of one rank by start, with the latest end of all up to each. */
interface Lane {
  readonly spans: readonly StepSpan[]
  readonly latestEnd: readonly number[]
}

const laneOf = (spans: readonly StepSpan[]): Lane => {
  const sorted = [...spans].sort((a, b) => a.startNs - b.startNs || a.endNs - b.endNs)
  let latest = Number.NEGATIVE_INFINITY
  return { spans: sorted, latestEnd: sorted.map(({ endNs }) => (latest = Math.max(latest, endNs))) }
}

/** Of the spans that begin before `at`, the one that reaches furthest up to it, the latest of such; undefined for none. */
const spanBefore = ({ spans, latestEnd }: Lane, at: number): StepSpan | undefined => {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.startNs ?? 0) < at) low = middle + 1
    else high = middle
  }
  let best: StepSpan | undefined
  for (let i = low - 1; i >= 0; i--) {
    const span = spans[i]
    if (span === undefined || Math.min(latestEnd[i] ?? 0, at) <= (best?.endNs ?? Number.NEGATIVE_INFINITY))
      break
    if (best === undefined || Math.min(span.endNs, at) > Math.min(best.endNs, at)) best = span
    if (best.endNs >= at) break
  }
  return best
}

/**
 * The chain of work that a step could not have ended without, from its start to its end without a gap: from the rank that
 * ended last backwards; from a collective to the rank that entered it last, since until then the others only waited.
 */
export const criticalPath = (spans: readonly StepSpan[]): readonly PathSegment[] => {
  const lanes = new Map<number, Lane>()
  for (const rank of new Set(spans.map((span) => span.rank)))
    lanes.set(rank, laneOf(spans.filter((span) => span.rank === rank)))
  const collectives = collectivesOf(spans)
  const startNs = spans.reduce((least, span) => Math.min(least, span.startNs), Number.POSITIVE_INFINITY)
  const last = spans.reduce<StepSpan | undefined>(
    (latest, span) => (latest === undefined || span.endNs > latest.endNs ? span : latest),
    undefined,
  )
  if (last === undefined) return []
  return walkedBack(lanes, collectives, startNs, last)
}

const walkedBack = (
  lanes: ReadonlyMap<number, Lane>,
  collectives: ReadonlyMap<number, Collective>,
  startNs: number,
  last: StepSpan,
): readonly PathSegment[] => {
  const path: PathSegment[] = []
  let [rank, at] = [last.rank, last.endNs]
  /** Moves from rank to rank since time went back: clocks that are off could let them go on for ever. */
  let moves = 0
  const add = (span: StepSpan | undefined, kind: PathKind, from: number): void => {
    moves = 0
    if (from >= at) return
    path.push({ rank, stage: span?.stage ?? -1, layer: span?.layer ?? -1, kind, startNs: from, endNs: at })
    at = from
  }
  while (at > startNs) {
    const span = spanBefore(lanes.get(rank) ?? { spans: [], latestEnd: [] }, at)
    if (span === undefined) {
      add(undefined, 'between', startNs)
      break
    }
    if (span.endNs < at) add(undefined, 'between', span.endNs)
    const meeting = collectives.get(span.collective)
    const isLast = meeting === undefined || span.enterNs >= meeting.lastEnterNs
    if (isLast || moves > lanes.size) {
      add(span, span.collective < 0 ? 'work' : 'transfer', span.startNs)
      continue
    }
    // Where the transfer ended for both at once, the path stays on the rank that it comes from.
    const ofLast = meeting.spans.find((other) => other.rank === meeting.lastRank)
    if (span.lastEnterNs < at && (ofLast?.endNs ?? 0) < at)
      add(span, 'transfer', Math.max(span.startNs, span.lastEnterNs))
    moves++
    rank = meeting.lastRank
  }
  return path.reverse()
}

/** Time on the critical path of one rank and stage. */
export interface PathPart {
  readonly rank: number
  readonly stage: number
  readonly kind: PathKind
  /** Segments, and their time, ns. */
  readonly count: number
  readonly sumNs: number
}

/** The path by rank, stage and kind, the longest time first. */
export const pathParts = (path: readonly PathSegment[]): readonly PathPart[] => {
  const parts = new Map<string, PathPart>()
  for (const { rank, stage, kind, startNs, endNs } of path) {
    const key = `${rank} ${stage} ${kind}`
    const { count, sumNs } = parts.get(key) ?? { count: 0, sumNs: 0 }
    parts.set(key, { rank, stage, kind, count: count + 1, sumNs: sumNs + endNs - startNs })
  }
  return [...parts.values()].sort((a, b) => b.sumNs - a.sumNs || a.rank - b.rank || a.stage - b.stage)
}
