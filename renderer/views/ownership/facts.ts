import { localIndex, owner } from '../../../app/dcp/ownership.ts'
import { columnOf, pageOffset, slotOf } from '../../../app/dcp/pages.ts'
import type { Paging } from '../../../app/dcp/types.ts'

/** Everything that is known of one token's place. */
export interface TokenFacts {
  readonly token: number
  readonly owner: number
  readonly localIndex: number
  /** Virtual page: the column of the block table. */
  readonly column: number
  readonly offset: number
  /** Physical page and slot; null where the page table has no page for the column, or there is no table. */
  readonly page: number | null
  readonly slot: number | null
  readonly newest: boolean
}

/** `pages`: physical page of each block-table column, -1 not allocated; null without a run. */
export const factsOf = (
  token: number,
  len: number,
  paging: Paging,
  pages: ArrayLike<number> | null,
): TokenFacts => {
  const rank = owner(token, paging)
  const column = columnOf(token, paging)
  const listed = pages?.[column] ?? -1
  const page = listed < 0 ? null : listed
  return {
    token,
    owner: rank,
    localIndex: localIndex(token, paging),
    column,
    offset: pageOffset(token, paging),
    page,
    slot: page === null ? null : slotOf(token, rank, page, paging),
    newest: token === len - 1,
  }
}
