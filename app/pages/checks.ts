import { localIndex, localLength, owner } from '../dcp/ownership.ts'
import { columnOf, NO_SLOT, tableWidth } from '../dcp/pages.ts'
import type { Paging } from '../dcp/types.ts'
import type { CellKind, PageTable } from './page-table.ts'
import type { CellPlace } from './rank-table.ts'

/** What must hold of a block table. */
export const PAGE_CHECKS = ['double', 'outside', 'missing', 'width', 'lengths', 'slots'] as const
export type PageCheckName = (typeof PAGE_CHECKS)[number]

export interface PageCheck {
  readonly name: PageCheckName
  /** What holds when it is fine: `no page is used twice`. */
  readonly rule: string
  readonly state: 'holds' | 'broken' | 'unknown'
  /** What breaks it: cells, requests or rows. */
  readonly count: number
  /** What was found, or what is missing to tell. */
  readonly detail: string
  /** Where it is broken first. */
  readonly first: CellPlace | null
}

const RULES: Readonly<Record<PageCheckName, string>> = {
  double: 'no page is used twice',
  outside: 'every page is in the pool',
  missing: 'no −1 inside the length',
  width: 'the table is as wide as its requests need',
  lengths: 'local lengths follow from the global ones',
  slots: 'new tokens are in their slots',
}

type Verdict = Omit<PageCheck, 'name' | 'rule'>

const holds = (detail: string): Verdict => ({ state: 'holds', count: 0, detail, first: null })
const unknown = (detail: string): Verdict => ({ state: 'unknown', count: 0, detail, first: null })
const broken = (count: number, detail: string, first: CellPlace | null): Verdict => ({
  state: 'broken',
  count,
  detail,
  first,
})

/** One verdict for each of PAGE_CHECKS, in their order. */
export const pageChecks = (pages: PageTable): PageCheck[] => {
  const wrong = countWrong(pages)
  const verdicts: Readonly<Record<PageCheckName, Verdict>> = {
    double: ofCells(pages, wrong.get('double'), doubleDetail),
    outside: outside(pages, wrong.get('outside')),
    missing: ofCells(
      pages,
      wrong.get('missing'),
      (_, { request, column }) =>
        `request ${request} has keys in column ${column}, where the table has no page`,
    ),
    width: width(pages),
    lengths: lengths(pages),
    slots: slots(pages),
  }
  return PAGE_CHECKS.map((name) => ({ name, rule: RULES[name], ...verdicts[name] }))
}

interface Found {
  count: number
  readonly first: CellPlace
}

const countWrong = (pages: PageTable): ReadonlyMap<CellKind, Found> => {
  const found = new Map<CellKind, Found>()
  for (const { kind, request, column } of pages.wrongCells()) {
    const known = found.get(kind)
    if (known === undefined) found.set(kind, { count: 1, first: { request, column } })
    else known.count++
  }
  return found
}

/** What is missing to tell which columns hold keys; undefined where nothing is. */
const lacking = ({ table }: PageTable): string | undefined =>
  table.page === null
    ? 'needs the page size'
    : table.globalLens === null && table.localLens === null
      ? 'needs seq_lens_global or seq_lens_local'
      : undefined

const ofCells = (
  pages: PageTable,
  found: Found | undefined,
  detail: (pages: PageTable, first: CellPlace) => string,
): Verdict => {
  const lacks = lacking(pages)
  if (lacks !== undefined) return unknown(lacks)
  return found === undefined
    ? holds('in no cell with keys of this rank')
    : broken(found.count, detail(pages, found.first), found.first)
}

const doubleDetail = (pages: PageTable, first: CellPlace): string => {
  const page = pages.pageAt(first.request, first.column)
  const other = pages
    .usersOf(page)
    .find(
      ({ kind, request, column }) =>
        kind === 'double' && (request !== first.request || column !== first.column),
    )
  const there = other === undefined ? '' : ` and in column ${other.column} of request ${other.request}`
  return `page ${page} is in column ${first.column} of request ${first.request}${there}`
}

const outside = (pages: PageTable, found: Found | undefined): Verdict => {
  const { poolPages } = pages.table
  const verdict = ofCells(
    pages,
    found,
    (_, { request, column }) =>
      `request ${request} has page ${pages.pageAt(request, column)} in column ${column}; the pool has ${poolPages ?? 'fewer'} pages`,
  )
  return poolPages === null && verdict.state === 'holds' ? unknown('needs the size of the pool') : verdict
}

const pagingOf = ({ table }: PageTable): Paging | null =>
  table.page === null ? null : { ...table.sharding, page: table.page }

const countText = (count: number, one: string): string => `${count} ${count === 1 ? one : `${one}s`}`

/** A table may be wider than needed, and SGLang's is; it must not be narrower. What a run records is exactly as wide. */
const width = (pages: PageTable): Verdict => {
  const { globalLens, localLens, batch, width: columns, maxLen } = pages.table
  const paging = pagingOf(pages)
  const lacks = lacking(pages)
  if (lacks !== undefined || paging === null) return unknown(lacks ?? '')
  const needs = (request: number): number =>
    globalLens === null ? (pages.heldColumns(request) ?? 0) : tableWidth(globalLens[request] ?? 0, paging)
  let [needed, narrow] = [0, 0]
  let first: CellPlace | null = null
  for (let request = 0; request < batch; request++) {
    const own = needs(request)
    needed = Math.max(needed, own)
    const has = pages.columnsOf(request)
    // On this rank the last column may hold nothing yet; a table of its own may leave it out.
    const least = localLens === null && columns === null ? own : (pages.heldColumns(request) ?? own)
    if (has >= least) continue
    narrow++
    first ??= { request, column: has }
  }
  const ofMost = maxLen === null ? '' : `, ${tableWidth(maxLen, paging)} for max_len`
  const has = columns ?? pages.widest
  const detail = `${countText(has, 'column')}, ${needed} needed${ofMost}`
  return narrow === 0 ? holds(detail) : broken(narrow, detail, first)
}

const lengths = (pages: PageTable): Verdict => {
  const { globalLens, localLens, batch, rank, sharding, page } = pages.table
  if (globalLens === null) return unknown('needs seq_lens_global')
  if (localLens === null) return unknown('needs seq_lens_local')
  let count = 0
  let first: { request: number; local: number; right: number } | undefined
  for (let request = 0; request < batch; request++) {
    const local = localLens[request] ?? 0
    const right = localLength(globalLens[request] ?? 0, rank, sharding)
    if (local === right) continue
    count++
    first ??= { request, local, right }
  }
  if (first === undefined) return holds(`of ${countText(batch, 'request')}`)
  const { request, local, right } = first
  const column = page === null ? 0 : Math.floor(Math.min(local, right) / page)
  return broken(count, `request ${request} has ${local} tokens here, ${right} are right`, { request, column })
}

/** Where new tokens were written against where the table puts them. */
const slots = (pages: PageTable): Verdict => {
  const { slots: written, newTokens } = pages.table
  if (written === null) return unknown('needs slot_mapping, which captures and dumps have')
  const paging = pagingOf(pages)
  if (paging === null || newTokens === null) return unknown('needs seq_lens_global and the page size')
  let [count, asked] = [0, 0]
  let first: { row: number; place: CellPlace; right: number } | undefined
  for (let row = 0; row < written.length; row++) {
    const token = newTokens.token[row] ?? -1
    if (token < 0) continue
    const request = newTokens.request[row] ?? 0
    const right = rightSlot(pages, request, token, paging)
    if (right === null) continue
    asked++
    if (right === written[row]) continue
    count++
    first ??= { row, place: { request, column: columnOf(token, paging) }, right }
  }
  if (first === undefined)
    return asked === 0 ? unknown('no new token has a page') : holds(`of ${countText(asked, 'new token')}`)
  const { row, place, right } = first
  return broken(
    count,
    `request ${place.request} was written to slot ${written[row]}, ${right} is right`,
    place,
  )
}

/** Slot of a token by the rank's own table, -1 where another rank holds it; null where the table has no page for it. */
export const rightSlot = (
  pages: PageTable,
  request: number,
  token: number,
  paging: Paging,
): number | null => {
  const { rank } = pages.table
  if (owner(token, paging) !== rank) return NO_SLOT
  const page = pages.pageAt(request, columnOf(token, paging))
  return page < 0 ? null : page * paging.page + (localIndex(token, paging) % paging.page)
}
