/** Steps from `first` to `last`, both in. */
export interface StepRange {
  readonly first: number
  readonly last: number
}

/** Rows that are read together at most, about: a query costs nearly the same for one step as for so many. */
const MOST_ROWS = 16_384
/** Blocks that stay in memory, a few hundred kilobytes each: a person goes over the steps to and fro. */
export const OPEN_BLOCKS = 32

/**
 * The steps that are read with `step`, of those `within` which it lies, in a table with about `rowsPerStep` new rows in each.
 * Every step of a block has the same block.
 */
export const blockOf = (step: number, within: StepRange, rowsPerStep: number): StepRange => {
  const size = Math.max(1, Math.floor(MOST_ROWS / Math.max(rowsPerStep, Number.MIN_VALUE)))
  const origin = Number.isFinite(within.first) ? within.first : 0
  const first = origin + Math.floor((step - origin) / size) * size
  return { first: Math.max(first, within.first), last: Math.min(first + size - 1, within.last) }
}
