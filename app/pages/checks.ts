import { localIndex, localLength, owner } from '../dcp/ownership.ts'
import { columnOf, localPages, NO_SLOT, tableWidth } from '../dcp/pages.ts'
import type { Paging } from '../dcp/types.ts'
import type { CellKind, PageTable } from './page-table.ts'
import { type CellPlace, dealOf, pagingOf } from './rank-table.ts'

/** What must hold of a block table. */
export const PAGE_CHECKS = ['double', 'outside', 'missing', 'width', 'lengths', 'slots'] as const
export type PageCheckName = (typeof PAGE_CHECKS)[number]

export interface PageCheck {
  readonly name: PageCheckName
  /** What holds when it is fine: `no page used twice`. */
  readonly rule: string
  readonly state: 'holds' | 'broken' | 'unknown'
  /** What breaks it: cells, requests or rows. */
  readonly count: number
  /** What was found, or what is missing to tell. */
  readonly detail: string
  /** Where it is broken first. */
  readonly first: CellPlace | null
  /** What stands beside the rule whatever its state; empty for most. */
  readonly note: string
}

const RULES: Readonly<Record<PageCheckName, string>> = {
  double: 'no page used twice',
  outside: 'pages in the pool',
  missing: 'no −1 in the length',
  width: 'wide enough',
  lengths: 'lengths fit',
  slots: 'new tokens in place',
}

type Verdict = Omit<PageCheck, 'name' | 'rule' | 'note'> & Partial<Pick<PageCheck, 'note'>>

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
    missing: ofCells(pages, together(wrong.get('missing'), wrong.get('cut')), missingDetail),
    width: width(pages),
    lengths: lengths(pages),
    slots: slots(pages),
  }
  return PAGE_CHECKS.map((name) => ({ name, rule: RULES[name], note: '', ...verdicts[name] }))
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

/** Both kinds, from the first of them on. */
const together = (one: Found | undefined, other: Found | undefined): Found | undefined => {
  if (one === undefined || other === undefined) return one ?? other
  const isFirst =
    one.first.request < other.first.request ||
    (one.first.request === other.first.request && one.first.column < other.first.column)
  return { count: one.count + other.count, first: (isFirst ? one : other).first }
}

const missingDetail = (pages: PageTable, { request, column }: CellPlace): string =>
  `request ${request} has keys in column ${column}, ${
    pages.kindOf(request, column) === 'cut' ? 'which the table does not have' : 'where the table has no page'
  }`

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

const countText = (count: number, one: string): string => `${count} ${count === 1 ? one : `${one}s`}`

/**
 * A table may be wider than needed, and SGLang's is; it must not be narrower than the right lengths need on this rank, whatever
 * the kernel takes for them. What a run records has a row as wide as each request needs on any rank.
 */
const width = (pages: PageTable): Verdict => {
  const { globalLens, batch, width: columns, maxLen, rank } = pages.table
  const lacks = lacking(pages)
  if (lacks !== undefined || pages.table.page === null) return unknown(lacks ?? '')
  const whole = { ...pages.table.sharding, page: pages.table.page }
  let [needed, narrow] = [0, 0]
  let first: CellPlace | null = null
  for (let request = 0; request < batch; request++) {
    const global = globalLens?.[request]
    const paging = pagingOf(pages.table, request) ?? whole
    const all = global === undefined ? (pages.heldColumns(request) ?? 0) : tableWidth(global, paging)
    needed = Math.max(needed, all)
    const here = global === undefined || columns === null ? all : localPages(global, rank, paging)
    const has = pages.columnsOf(request)
    if (has >= here) continue
    narrow++
    first ??= { request, column: has }
  }
  const ofMost = maxLen === null ? '' : `, ${tableWidth(maxLen, whole)} for max_len`
  const has = columns ?? pages.widest
  const detail = `${countText(has, 'column')}, ${needed} needed${ofMost}`
  const note = `${has}, needs ${needed}`
  return { ...(narrow === 0 ? holds(detail) : broken(narrow, detail, first)), note }
}

const lengths = (pages: PageTable): Verdict => {
  const { globalLens, localLens, batch, rank, page } = pages.table
  if (globalLens === null) return unknown('needs seq_lens_global')
  if (localLens === null) return unknown('needs seq_lens_local')
  let count = 0
  let first: { request: number; local: number; right: number } | undefined
  for (let request = 0; request < batch; request++) {
    const local = localLens[request] ?? 0
    const right = localLength(globalLens[request] ?? 0, rank, dealOf(pages.table, request))
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
  if (pages.table.page === null || newTokens === null)
    return unknown('needs seq_lens_global and the page size')
  let [count, asked] = [0, 0]
  let first: { row: number; place: CellPlace; right: number } | undefined
  for (let row = 0; row < written.length; row++) {
    const token = newTokens.token[row] ?? -1
    if (token < 0) continue
    const request = newTokens.request[row] ?? 0
    const paging = pagingOf(pages.table, request)
    const right = paging === null ? null : rightSlot(pages, request, token, paging)
    if (right === null || paging === null) continue
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
