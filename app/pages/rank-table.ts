import type { Paging, RankId, Sharding } from '../dcp/types.ts'

/** A cell of a block table. */
export interface CellPlace {
  readonly request: number
  /** Virtual page. */
  readonly column: number
}

/** The new tokens of a step, by query row [T]: of which request, at which global position; -1 for rows that only pad. */
export interface NewTokens {
  readonly request: ArrayLike<number>
  readonly token: ArrayLike<number>
}

/**
 * The block table of one rank at one step, with what is known beside it. B requests, those from `batch` on only pad the
 * batch of a graph. Lengths in tokens.
 */
export interface RankTable {
  readonly rank: RankId
  /** Without `page` nothing says which columns hold keys. */
  readonly sharding: Pick<Paging, 'dcp' | 'interleave'>
  /** Tokens of each prompt where generated tokens are dealt out anew behind it, [B]; null where all are dealt out in one go. */
  readonly prompts: ArrayLike<number> | null
  readonly page: number | null
  readonly requests: number
  readonly batch: number
  /** Rows lie behind each other: that of request r is cells begin[r] to begin[r + 1]; [B + 1]. */
  readonly begin: Int32Array
  /** Physical page of each cell; negative where it has none. */
  readonly ids: Float64Array
  /** Columns that every row has; null where each has its own number, as in what a run records. */
  readonly width: number | null
  /** [B]; null where they are not known. */
  readonly globalLens: Float64Array | null
  /** Local lengths as the kernel got them, [B]; null where only the global ones say them. */
  readonly localLens: Float64Array | null
  /** Longest context that the table was sized for. */
  readonly maxLen: number | null
  /** Pages of the rank's pool; null where nothing says it. */
  readonly poolPages: number | null
  /** Step at which each cell got its page, [cells]; -1 unknown. Null where no cell's is known. */
  readonly taken: Int32Array | null
  /** Where new tokens were written, [T], -1 not on this rank; null where that was not kept. */
  readonly slots: ArrayLike<number> | null
  /** Null where lengths are not known. */
  readonly newTokens: NewTokens | null
}

/** How the tokens of a request are dealt out. */
export const dealOf = (
  { sharding, prompts }: Pick<RankTable, 'sharding' | 'prompts'>,
  request: number,
): Sharding => ({
  dcp: sharding.dcp,
  interleave: sharding.interleave,
  prompt: prompts?.[request],
})

/** The same with the page size; null where none is known. */
export const pagingOf = (
  table: Pick<RankTable, 'sharding' | 'prompts' | 'page'>,
  request: number,
): Paging | null => (table.page === null ? null : { ...dealOf(table, request), page: table.page })
