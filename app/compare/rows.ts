/** What of a row of a partial differs, in the order in which it is looked at: the first that does is told. */
export const ROW_DIFFERENCES = ['keys', 'empty', 'nan', 'lse', 'out'] as const
export type RowDifference = (typeof ROW_DIFFERENCES)[number]

export const ROW_WORDS: Readonly<Record<RowDifference, string>> = {
  keys: 'keys that it sees',
  empty: 'whether it sees keys at all',
  nan: 'values that are no numbers',
  lse: 'lse',
  out: 'largest magnitude',
}

/** A row of a partial that both runs recorded and that differs by more than rounding explains. */
export interface DifferingRow {
  readonly step: number
  readonly layer: number
  readonly rank: number
  readonly request: number
  readonly qIndex: number
  readonly kind: RowDifference
  /** Counts of keys or of values that are no numbers, 1 for a row without keys; of lse in base e the largest of the heads. */
  readonly a: number
  readonly b: number
}

/** How the check against the reference went. */
export interface CheckOutcome {
  /** Relative error that passes. */
  readonly tolerance: number
  readonly checkedRows: number
  /** Largest relative error; null where nothing was checked. */
  readonly worst: number | null
  readonly failedSteps: number
  readonly firstFailed: number | null
}

/** What two runs recorded of the rows of their partials and of their checks, over the steps that both have. */
export interface RowComparison {
  /** Why rows cannot be compared one by one; null where they can. */
  readonly unlike: string | null
  readonly rows: number
  /** Rows that differ, by what of them. */
  readonly differing: Readonly<Record<RowDifference, number>>
  readonly tolerance: number
  readonly first: DifferingRow | null
  readonly checks: { readonly a: CheckOutcome; readonly b: CheckOutcome }
}
