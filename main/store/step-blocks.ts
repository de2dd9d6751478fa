/** Steps from `first` to `last`, both in. */
export interface StepRange {
  readonly first: number
  readonly last: number
}

/** Rows that are read together at most, about: a query costs nearly the same for one step as for so many. */
const MOST_ROWS = 16_384
/** Blocks that stay in memory, since a person goes over the steps to and fro, and what they may hold together: 20 to 53 bytes a row. */
export const OPEN_BLOCKS = 32
export const MOST_OPEN_ROWS = 1 << 20

/**
 * The steps that are read with `step`, of those `within` which it lies, in a table with about `rowsPerStep` new rows in each.
 * Every step of a block has the same block.
 */
export const blockOf = (step: number, within: StepRange, rowsPerStep: number): StepRange => {
  const size = Math.max(1, Math.floor(MOST_ROWS / rowsPerStep))
  const origin = Number.isFinite(within.first) ? within.first : 0
  const first = origin + Math.floor((step - origin) / size) * size
  return { first: Math.max(first, within.first), last: Math.min(first + size - 1, within.last) }
}
