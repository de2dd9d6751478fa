import type { StoreResult } from '../../../app/protocol/store.ts'
import { EVENT_KINDS, type EventKind, SEVERITIES, type Severity } from '../../../app/trace/stages.ts'
import { clipTop, type Lanes, laneTop, stagesHeight } from './lanes.ts'
import { type TimeRange, xOfTime } from './range.ts'

/** An event, or several of one kind close to each other, on the lane of a rank or on the ruler. */
export interface EventMark {
  /** null: of no rank, and on the ruler. */
  readonly rank: number | null
  readonly kind: EventKind
  readonly severity: Severity
  /** When the first of them was noticed, ns. */
  readonly timeNs: number
  /** Step and layer of the first; -1: the whole step. */
  readonly step: number
  readonly layer: number
  readonly count: number
}

/** Columns as marks; kinds of newer bundles, which have no mark here, are left to the list of events. */
export const marksOf = (columns: StoreResult<'eventMarks'>): readonly EventMark[] =>
  Array.from(columns.time, (timeNs, i) => ({ timeNs, i })).flatMap(({ timeNs, i }) => {
    const kind = EVENT_KINDS[columns.kind[i] ?? -1]
    const severity = SEVERITIES[columns.severity[i] ?? -1]
    if (kind === undefined || severity === undefined) return []
    const rank = columns.rank[i] ?? -1
    return [
      {
        rank: rank < 0 ? null : rank,
        kind,
        severity,
        timeNs,
        step: columns.step[i] ?? 0,
        layer: columns.layer[i] ?? -1,
        count: columns.count[i] ?? 1,
      },
    ]
  })

/** Parts of a window of time in which events of one kind and rank are one mark. */
export const MARK_BUCKETS = 768

/** A part of time around `range` that stays the same while a person pans within it: what marks are asked for. */
export const marksWindow = ({ startNs, endNs }: TimeRange): TimeRange => {
  const span = 2 ** Math.ceil(Math.log2(Math.max(1, endNs - startNs)))
  const first = Math.floor(startNs / span)
  return { startNs: (first - 1) * span, endNs: (first + 3) * span }
}

/** What a mark looks like: shapes tell kinds apart without their colour. */
export type MarkShape = 'nan' | 'inf' | 'empty' | 'wrong' | 'other'

export const shapeOf = (kind: EventKind): MarkShape => {
  switch (kind) {
    case 'nan_in_partial':
    case 'nan_in_lse':
    case 'nan_in_merged':
      return 'nan'
    case 'inf_in_partial':
      return 'inf'
    case 'empty_rank':
      return 'empty'
    case 'check_failed':
      return 'wrong'
    case 'pool_full':
    case 'capture_incomplete':
    case 'kernels_recorded':
    case 'kernels_not_recorded':
      return 'other'
  }
}

/** Half the size of a mark, px. */
export const MARK_RADIUS = 5

/** Where the middle of a mark lies: at the foot of its rank's stages, or of the ruler; null where it is not seen. */
export const markPlace = (
  mark: EventMark,
  range: TimeRange,
  lanes: Lanes,
  plot: number,
): { readonly x: number; readonly y: number } | null => {
  const x = xOfTime(mark.timeNs, range, plot)
  if (x < -MARK_RADIUS || x > plot + MARK_RADIUS) return null
  if (mark.rank === null) return { x, y: lanes.rulerHeight - MARK_RADIUS - 1 }
  if (mark.rank >= lanes.ranks) return null
  const y = laneTop(mark.rank, lanes) + stagesHeight(mark.rank, lanes) - MARK_RADIUS - 6
  return y < clipTop(mark.rank, lanes) ? null : { x, y }
}

/** The mark at a point of the plot, the worst of several; null for none. `marks` begin with the worst. */
export const markAtPoint = (
  marks: readonly EventMark[],
  x: number,
  y: number,
  range: TimeRange,
  lanes: Lanes,
  plot: number,
): EventMark | null =>
  marks.find((mark) => {
    const place = markPlace(mark, range, lanes, plot)
    const reach = MARK_RADIUS + 2
    return place !== null && Math.abs(place.x - x) <= reach && Math.abs(place.y - y) <= reach
  }) ?? null
