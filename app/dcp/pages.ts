import { checkInt, checkPaging, checkRank, checkToken, MAX_PAGES, MAX_TOKENS } from './checks.ts'
import { globalIndex, localIndex, localLength, owner } from './ownership.ts'
import type { LocalIndex, PageId, Paging, RankId, Slot, TokenIndex, VirtualPage } from './types.ts'

/**
 * Pages of a sharded cache. A virtual page covers page * dcp global tokens, and each rank's part of it fills
 * exactly one physical page; so all ranks share one block table, and only the count of valid columns differs.
 * Where generated tokens are dealt out anew a rank goes on in the page where its part of the prompt ends
 * (vLLM v1/worker/block_table.py; SGLang create_mla_kv_page_table_for_dcp). RangeError on bad arguments.
 */

/** What a slot mapping says on ranks that do not own the token. */
export const NO_SLOT: Slot = -1

/** Global tokens of one virtual page: P * c. */
export const virtualPageTokens = (paging: Paging): number => {
  checkPaging(paging)
  return paging.page * paging.dcp
}

/** Block-table column of `token`, the page of its owner that holds it: t // (P*c) where all is dealt out in one go. */
export const columnOf = (token: TokenIndex, paging: Paging): VirtualPage => {
  checkPaging(paging)
  checkToken(token)
  return Math.floor(localIndex(token, paging) / paging.page)
}

/** Place of `token` within its physical page on the owner, in tokens: local index mod P. */
export const pageOffset = (token: TokenIndex, paging: Paging): number => {
  checkPaging(paging)
  return localIndex(token, paging) % paging.page
}

/** Columns that a block table needs for requests of up to `maxLen` tokens, those of rank 0: ceil(maxLen / (P*c)) in one go. */
export const tableWidth = (maxLen: number, paging: Paging): number => localPages(maxLen, 0, paging)

/**
 * Physical pages that a request of `len` tokens takes from the pool of every rank. A page is taken on all
 * ranks when the virtual page begins, so this is the same on each and may exceed a rank's `localPages`.
 */
export const pagesNeeded = (len: number, paging: Paging): number => tableWidth(len, paging)

/** Valid columns of the block table on `rank`: pages that hold at least one of its keys. */
export const localPages = (len: number, rank: RankId, paging: Paging): number => {
  checkPaging(paging)
  return Math.ceil(localLength(len, rank, paging) / paging.page)
}

/** Keys that `rank` holds in block-table column `column`, 0 to page, for a request of `len` tokens. */
export const validInColumn = (len: number, rank: RankId, column: VirtualPage, paging: Paging): number => {
  checkPaging(paging)
  checkInt('column', column, 0, MAX_TOKENS)
  return Math.min(Math.max(localLength(len, rank, paging) - column * paging.page, 0), paging.page)
}

/** Row of the pool where `rank` keeps `token` in physical page `page`; -1 when another rank owns it. */
export const slotOf = (token: TokenIndex, rank: RankId, page: PageId, paging: Paging): Slot => {
  checkPaging(paging)
  checkRank(rank, paging)
  checkInt('page', page, 0, MAX_PAGES - 1)
  return owner(token, paging) === rank ? page * paging.page + pageOffset(token, paging) : NO_SLOT
}

/** Token that `rank` keeps at `offset` of the page in `column`; inverse of (columnOf, pageOffset). */
export const tokenAt = (rank: RankId, column: VirtualPage, offset: number, paging: Paging): TokenIndex => {
  checkPaging(paging)
  checkInt('column', column, 0, MAX_TOKENS)
  checkInt('offset', offset, 0, paging.page - 1)
  const local: LocalIndex = column * paging.page + offset
  return globalIndex(local, rank, paging)
}
