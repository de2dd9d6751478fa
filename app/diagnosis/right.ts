import { localIndex, localLength, owner } from '../dcp/ownership.ts'
import { columnOf, NO_SLOT } from '../dcp/pages.ts'
import { type Case, dealOf, pagingOf, type RankTables } from './case.ts'

/** What a faultless engine has in its integer tables; undefined where a cell means nothing, or too little is known. */

/** Local length of a request, tokens. */
export const rightLength = (
  c: Case,
  { rank }: Pick<RankTables, 'rank'>,
  request: number,
): number | undefined => {
  const length = c.lengths?.[request]
  return length === undefined ? undefined : localLength(length, rank, dealOf(c, request))
}

/** Global position of the new token of a row; undefined for rows of padding. */
export const newToken = (c: Case, row: number): number | undefined => {
  const request = c.requestOf[row] ?? -1
  const length = c.lengths?.[request]
  if (length === undefined || length === 0 || request >= c.batch) return undefined
  const position = length - (c.queriesOf[request] ?? 1) + (c.queryIndex[row] ?? 0)
  return position < 0 ? undefined : position
}

/** Page in a column of a rank's table; undefined where the table has no such column or none there. */
export const pageAt = ({ table }: RankTables, request: number, column: number): number | undefined => {
  if (table === undefined || column >= table.columns) return undefined
  const page = table.values[request * table.columns + column]
  return page === undefined || page < 0 ? undefined : page
}

/**
 * Slot of a place in a column of a request, undefined where the rank has no page there. Of a rank whose table is not dumped it is
 * the place within its page: slots of such ranks are compared so (`comparedSlots`).
 */
export const slotIn = (
  { page: size }: Case,
  rank: RankTables,
  request: number,
  column: number,
  offset: number,
): number | undefined => {
  if (size === undefined) return undefined
  if (rank.table === undefined) return offset
  const page = pageAt(rank, request, column)
  return page === undefined ? undefined : page * size + offset
}

/** Slots of new tokens as they are compared: without a page table nobody knows pages, and only places within them count. */
export const comparedSlots = ({ page }: Case, { slots, table }: RankTables): Float64Array | undefined =>
  slots === undefined || table !== undefined || page === undefined
    ? slots
    : slots.map((slot) => (slot < 0 ? slot : slot % page))

/** Slot of the new token of a row, -1 on ranks that do not hold it. */
export const rightSlot = (c: Case, rank: RankTables, row: number): number | undefined => {
  const paging = pagingOf(c, c.requestOf[row] ?? -1)
  const token = newToken(c, row)
  if (paging === undefined || token === undefined) return undefined
  if (owner(token, paging) !== rank.rank) return NO_SLOT
  const offset = localIndex(token, paging) % paging.page
  return slotIn(c, rank, c.requestOf[row] ?? -1, columnOf(token, paging), offset)
}

/** What stands for no token among chosen ids. */
export const NONE = -1

/** What a rank makes of a global id that the indexer chose: its local id, -1 where another rank holds the token. */
export const rightLocalId = (c: Case, rank: number, id: number): number =>
  id < 0 || owner(id, c) !== rank ? NONE : localIndex(id, c)

/** Slot of a local id in the pool of its rank. */
export const slotOfLocal = (
  c: Case,
  rank: RankTables,
  request: number,
  local: number,
): number | undefined => {
  if (local < 0) return NONE
  if (c.page === undefined) return undefined
  const page = pageAt(rank, request, Math.floor(local / c.page))
  return page === undefined ? undefined : page * c.page + (local % c.page)
}

/** Request of a cell of the tables of chosen ids, [T, K]; -1 for rows of padding. */
export const requestAt = (c: Case, { topk, topkLocal, topkSlots }: RankTables, index: number): number => {
  const columns = (topk ?? topkLocal ?? topkSlots)?.columns ?? 1
  return c.requestOf[Math.floor(index / columns)] ?? -1
}

/** Global id behind such a cell. */
export const chosenAt = (c: Case, rank: RankTables, index: number): number | undefined => {
  const request = requestAt(c, rank, index)
  return request < 0 || c.lengths?.[request] === 0 ? undefined : rank.topk?.values[index]
}

export const rowsOfRequest = (c: Case, request: number): number[] => {
  const rows: number[] = []
  for (let row = 0; row < c.rows; row++) if (c.requestOf[row] === request) rows.push(row)
  return rows
}

/** Columns of the page table in which a rank has keys of a request. */
export const rightColumns = (c: Case, rank: RankTables, request: number): number | undefined => {
  const length = rightLength(c, rank, request)
  return length === undefined || c.page === undefined || request >= c.batch
    ? undefined
    : Math.ceil(length / c.page)
}

/** Page where a table of zeros leads, which an index beyond the columns of a request finds. */
export const FIRST_PAGE = 0
