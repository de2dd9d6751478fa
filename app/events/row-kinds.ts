import type { Severity } from '../trace/stages.ts'

/**
 * What a query row of a rank's partial is worth a look for, the worst first. The `rows` table has partials as the kernel
 * returned them, before `neutralize` makes rows without keys (out 0, lse -inf): what is left in those is harmless if it does so.
 */
export const BAD_ROW_KINDS = ['nan_in_row', 'inf_in_row', 'lse_in_row', 'empty_row_left'] as const
export type BadRowKind = (typeof BAD_ROW_KINDS)[number]

export const ROW_KINDS = [...BAD_ROW_KINDS, 'empty_row'] as const
export type RowKind = (typeof ROW_KINDS)[number]

export const ROW_SEVERITY: Readonly<Record<RowKind, Severity>> = {
  nan_in_row: 'error',
  inf_in_row: 'error',
  // The merge reads it as "no keys", so the rank's keys are lost.
  lse_in_row: 'error',
  empty_row_left: 'warning',
  empty_row: 'info',
}

/** Columns of the `rows` table that say whether a row is bad. */
export interface RowStats {
  readonly empty: boolean
  readonly outNan: number
  readonly outInf: number
  readonly outAbsmax: number
  readonly lseNan: number
  /** NaN where all lse are. */
  readonly lseMax: number
}

/** What a row is worth a look for; null for a row with keys and finite values. */
export const rowKind = ({ empty, outNan, outInf, outAbsmax, lseNan, lseMax }: RowStats): RowKind | null => {
  if (empty) {
    const neutral =
      outNan === 0 && outInf === 0 && outAbsmax === 0 && lseNan === 0 && lseMax === Number.NEGATIVE_INFINITY
    return neutral ? 'empty_row' : 'empty_row_left'
  }
  if (outNan > 0) return 'nan_in_row'
  if (outInf > 0) return 'inf_in_row'
  return lseNan > 0 || lseMax === Number.POSITIVE_INFINITY ? 'lse_in_row' : null
}
