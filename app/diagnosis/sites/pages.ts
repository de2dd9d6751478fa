import { localIndex, owner } from '../../dcp/ownership.ts'
import type { FaultName } from '../../faults/names.ts'
import { type Case, columnsOf, dealOf, type RankTables } from '../case.ts'
import type { Claim } from '../claim.ts'
import { DEFAULT_WEIGHT, type Hypothesis } from '../hypothesis.ts'
import { newToken, rightColumns, rowsOfRequest } from '../right.ts'
import { tableClaims } from './tables.ts'

/** Stands for "some page" where nothing says which. */
export const SOME_PAGE = Number.POSITIVE_INFINITY

/** Page tables: of columns in which a rank has keys every rank has the same page, and that of the slot of a new token. */
export const pageClaims = (c: Case, hypotheses: readonly Hypothesis[]): Claim[] => {
  const right = rightPages(c)
  const repeated = new Map(c.ranks.map((rank) => [rank.rank, repeatedPages(c, rank)]))
  const columns = Math.max(0, ...c.ranks.map(({ table }) => table?.columns ?? 0))
  return [
    ...widthClaims(c, hypotheses),
    ...tableClaims(c, hypotheses, {
      name: 'pages',
      unit: 'page',
      observed: ({ table }) => table?.values,
      expected: (rank, index) => {
        const own = rank.table?.columns ?? 1
        const request = Math.floor(index / own)
        const column = index % own
        if (column >= (rightColumns(c, rank, request) ?? 0)) return undefined
        const id = rank.table?.values[index] ?? 0
        const isWrong = id < 0 || (repeated.get(rank.rank)?.has(id) ?? false)
        return right.get(keyOf(request, column)) ?? (isWrong ? SOME_PAGE : undefined)
      },
      rowsOf: (index) => rowsOfRequest(c, Math.floor(index / Math.max(1, columns))),
      label: (index) =>
        `request ${Math.floor(index / Math.max(1, columns))}, column ${index % Math.max(1, columns)}`,
      predictions: (hypothesis) => hypothesis.pages?.(c, right) ?? [],
      otherwise: () => undefined,
    }),
  ]
}

/** Pages by request and column: what most ranks say, of those that say it alike; and what slots of new tokens say. */
export type RightPages = ReadonlyMap<string, number>

export const keyOf = (request: number, column: number): string => `${request}/${column}`

const rightPages = (c: Case): RightPages => {
  const pages = new Map<string, number>()
  const { page } = c
  if (page === undefined) return pages
  const votes = new Map<string, Map<number, number>>()
  const vote = (key: string, id: number, weight: number): void => {
    const of = votes.get(key) ?? new Map<number, number>()
    of.set(id, (of.get(id) ?? 0) + weight)
    votes.set(key, of)
  }
  for (const rank of c.ranks) {
    const repeated = repeatedPages(c, rank)
    for (const { request, column, id } of neededCells(c, rank))
      if (id >= 0 && !repeated.has(id)) vote(keyOf(request, column), id, 1)
  }
  for (const [key, of] of votes) {
    const [first, second] = [...of].sort((a, b) => b[1] - a[1])
    if (first !== undefined && (second === undefined || first[1] > second[1])) pages.set(key, first[0])
  }
  for (const [key, id] of slotPages(c, page)) pages.set(key, id)
  return pages
}

/** Pages that a rank's table has in several places where it has keys: no page holds keys of two places. */
const repeatedPages = (c: Case, rank: RankTables): Set<number> => {
  const [seen, repeated] = [new Set<number>(), new Set<number>()]
  for (const { id } of neededCells(c, rank)) {
    if (id >= 0 && seen.has(id)) repeated.add(id)
    seen.add(id)
  }
  return repeated
}

export interface PageFacts {
  /** Cells in which a rank has keys whose page is not dumped. */
  readonly missing: readonly { readonly rank: number; readonly request: number; readonly id: number }[]
  /** Cells in which a rank has keys but the table no page. */
  readonly none: readonly { readonly rank: number; readonly request: number; readonly column: number }[]
}

/** Pages that ranks need, and where there are none. */
export const pageFacts = (c: Case): PageFacts => {
  const needed = c.ranks.flatMap((rank) => neededCells(c, rank).map((cell) => ({ ...cell, rank })))
  return {
    missing: needed
      .filter(({ id, rank: { dumpedPages } }) => id >= 0 && dumpedPages?.has(id) === false)
      .map(({ rank, request, id }) => ({ rank: rank.rank, request, id })),
    none: needed
      .filter(({ id }) => id < 0)
      .map(({ rank, request, column }) => ({ rank: rank.rank, request, column })),
  }
}

/** Cells of a rank's table in which it has keys. */
const neededCells = (
  c: Case,
  rank: RankTables,
): { readonly request: number; readonly column: number; readonly id: number }[] => {
  const { table } = rank
  if (table === undefined) return []
  const cells: { request: number; column: number; id: number }[] = []
  for (let request = 0; request < table.rows; request++) {
    const columns = Math.min(table.columns, rightColumns(c, rank, request) ?? 0)
    for (let column = 0; column < columns; column++)
      cells.push({ request, column, id: table.values[request * table.columns + column] ?? 0 })
  }
  return cells
}

/** The page to which each new token was written; none where ranks write tokens that they do not hold, or do not write their own. */
const slotPages = (c: Case, page: number): Map<string, number> => {
  const found = new Map<string, number>()
  if (!c.ranks.every((rank) => writesItsOwn(c, rank))) return found
  for (let row = 0; row < c.rows; row++) {
    const token = newToken(c, row)
    if (token === undefined) continue
    const request = c.requestOf[row] ?? -1
    const only = c.ranks.find(({ slots }) => (slots?.[row] ?? -1) >= 0)
    if (only === undefined) continue
    found.set(
      keyOf(request, Math.floor(localIndex(token, dealOf(c, request)) / page)),
      Math.floor((only.slots?.[row] ?? 0) / page),
    )
  }
  return found
}

const writesItsOwn = (c: Case, { rank, slots }: RankTables): boolean =>
  slots?.every((slot, row) => {
    const token = newToken(c, row)
    return token === undefined || (owner(token, dealOf(c, c.requestOf[row] ?? -1)) === rank) === slot >= 0
  }) ?? true

/** A table that is narrower than its longest request needs. */
const widthClaims = (c: Case, hypotheses: readonly Hypothesis[]): Claim[] => {
  const { page, lengths } = c
  if (page === undefined || lengths === undefined) return []
  const needed = Math.max(
    0,
    ...lengths.subarray(0, c.batch).map((length, request) => columnsOf(c, page, length, request)),
  )
  const narrow = c.ranks.filter((rank) => (rank.table?.columns ?? Math.ceil(needed)) < leastColumns(c, rank))
  const [first] = narrow
  if (first === undefined) return []
  const columns = first.table?.columns ?? 0
  const predicted = hypotheses.flatMap((hypothesis) =>
    (hypothesis.width?.(c) ?? [])
      .filter((one) => one.columns === columns)
      .map(({ detail, weight = DEFAULT_WEIGHT }) => ({ hypothesis, detail, weight })),
  )
  predicted.sort((a, b) => b.weight - a.weight)
  const fault: FaultName = predicted[0]?.hypothesis.fault ?? 'table-width-mismatch'
  const detail = predicted[0]?.detail ?? ''
  return [
    {
      fault,
      confidence: 1,
      explained: 1,
      ranks: narrow.map(({ rank }) => rank),
      rows: [],
      heads: [],
      rivals: predicted.slice(1).map(({ hypothesis }) => hypothesis.fault),
      summary: `the page table has ${columns} columns where the longest request needs ${Math.ceil(needed)}${detail === '' ? '' : `, ${detail}`}`,
      evidence: {
        numbers: [{ name: 'columns of the page table', value: columns, expected: Math.ceil(needed) }],
      },
    },
  ]
}

/** Columns that hold keys of the rank. */
const leastColumns = (c: Case, rank: RankTables): number => {
  let most = 0
  for (let request = 0; request < c.batch; request++)
    most = Math.max(most, rightColumns(c, rank, request) ?? 0)
  return most
}
