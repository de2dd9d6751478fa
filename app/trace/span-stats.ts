import type { Provenance } from './stages.ts'

/** What statistics of spans are counted by: the name of the stage, the rank, or the name of recorded kernels. */
export const STAT_GROUPINGS = ['stage', 'rank', 'kernel'] as const
export type StatGrouping = (typeof STAT_GROUPINGS)[number]

/** Most rows in one answer, those with the largest sum. */
export const MAX_STAT_ROWS = 500

/** Spans of one name, or of one rank, that touch a part of time. Durations are those of whole spans, ns. */
export interface SpanStat {
  /** Stage, rank or name of a kernel. */
  readonly key: string | number
  readonly count: number
  /** Of the parts that lie inside. */
  readonly sumNs: number
  /** Waiting for the last rank in collectives, of the parts that lie inside. */
  readonly waitNs: number
  /** Waiting of the others in collectives that this rank entered last; null where it is not counted by rank. */
  readonly causedNs: number | null
  readonly minNs: number
  readonly p50Ns: number
  readonly p95Ns: number
  readonly maxNs: number
  /** Where the longest one is. */
  readonly longest: { readonly rank: number; readonly startNs: number }
  readonly sources: readonly Provenance[]
}

/**
 * The share of each row in the sum of all, 0 to 1. `outer` says of a key whether its spans contain others, whose time is
 * none of its own: such a row has no share.
 */
export const sharesOf = (
  rows: readonly SpanStat[],
  outer: (key: string | number) => boolean,
): readonly (number | null)[] => {
  const total = rows.reduce((sum, row) => sum + (outer(row.key) ? 0 : row.sumNs), 0)
  return rows.map((row) => (outer(row.key) || total === 0 ? null : row.sumNs / total))
}
