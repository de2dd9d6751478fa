import { owner } from '../../../app/dcp/ownership.ts'
import { columnOf, tokenAt } from '../../../app/dcp/pages.ts'
import type { Paging } from '../../../app/dcp/types.ts'
import type { CellKind } from '../../../app/pages/page-table.ts'
import { formatInt } from '../../drawing/format.ts'
import type { InspectorRow } from '../../shell/Inspector.tsx'

/** A cell of the shown block table and all that is known of it. */
export interface Cell {
  readonly rank: number
  readonly request: number
  readonly column: number
  readonly kind: CellKind
  /** -1 none. */
  readonly page: number
  /** Keys of the rank in it. */
  readonly valid: number
  /** Step at which the page was taken, -1 unknown. */
  readonly taken: number
  /** Global length of the request, NaN unknown. */
  readonly globalLen: number
  /** Newest token of the request, -1 none; its slot on this rank by the table, and where it was written; NaN unknown. */
  readonly newest: number
  readonly newestSlot: number
  readonly writtenSlot: number
}

/** What a cell is, in words. */
export const KIND_WORDS: Readonly<Record<CellKind, string>> = {
  absent: 'no such column',
  unused: '−1, none needed',
  stale: 'stale, means nothing',
  listed: 'no length says whether it counts',
  reserved: 'no key of this rank yet',
  full: 'full',
  partial: 'partly filled',
  missing: 'keys, but no page (−1)',
  cut: 'keys, but the table ends before it',
  outside: 'outside the pool',
  double: 'used twice',
}

export const isWrong = (kind: CellKind): boolean =>
  kind === 'missing' || kind === 'cut' || kind === 'outside' || kind === 'double'

/** Kinds of which the page means something. */
export const isLive = (kind: CellKind): boolean =>
  kind === 'full' || kind === 'partial' || kind === 'reserved' || isWrong(kind)

/** First token of the rank in a column; null where it has none there. */
export const firstToken = (
  { rank, column, globalLen }: Pick<Cell, 'rank' | 'column' | 'globalLen'>,
  paging: Paging | null,
): number | null => {
  if (paging === null || Number.isNaN(globalLen)) return null
  const token = tokenAt(rank, column, 0, paging)
  return token < globalLen ? token : null
}

/** The token whose key lies in a slot of a cell; null of keys that the rank counts beyond the end of the request, but for what was written there. */
export const keyAt = (
  { rank, column, page, globalLen, newest, writtenSlot }: Cell,
  offset: number,
  paging: Paging,
): number | null => {
  const token = tokenAt(rank, column, offset, paging)
  if (!(token >= globalLen)) return token
  return page >= 0 && writtenSlot === page * paging.page + offset ? newest : null
}

const intRow = (label: string, value: number): InspectorRow => ({
  label,
  value: formatInt(value),
  copy: String(value),
})

const rangeRow = (label: string, first: number, last: number): InspectorRow => ({
  label,
  value: `${formatInt(first)} – ${formatInt(last)}`,
  copy: `${first}-${last}`,
})

/** Whether a column is the one of the newest token. */
export const holdsNewest = ({ newest, column }: Cell, paging: Paging): boolean =>
  newest >= 0 && columnOf(newest, paging) === column

/** Facts of a cell in the words of hover card and inspector. */
export const cellRows = (cell: Cell, paging: Paging | null): InspectorRow[] => {
  const { request, column, kind, page, valid, taken } = cell
  return [
    { label: 'request', value: formatInt(request), copy: String(request) },
    { ...intRow('virtual page', column), value: `column ${formatInt(column)}` },
    ...(paging === null ? [] : tokenRows(cell, paging)),
    page < 0 ? { label: 'physical page', value: '−1', copy: '-1' } : intRow('physical page', page),
    { label: 'state', value: KIND_WORDS[kind] },
    ...(paging === null || page < 0
      ? []
      : [
          { ...intRow('keys here', valid), value: `${formatInt(valid)} of ${formatInt(paging.page)}` },
          rangeRow('slots', page * paging.page, (page + 1) * paging.page - 1),
        ]),
    ...(taken < 0 ? [] : [intRow('taken at step', taken)]),
    ...(paging !== null && holdsNewest(cell, paging) ? newestRows(cell, paging) : []),
  ]
}

/** Of tokens that are dealt out in one go those of the virtual page, else those that the rank has of it. */
const tokenRows = ({ rank, column, valid, globalLen }: Cell, paging: Paging): InspectorRow[] => {
  if (paging.prompt !== undefined)
    return valid === 0
      ? []
      : [rangeRow('tokens here', tokenAt(rank, column, 0, paging), tokenAt(rank, column, valid - 1, paging))]
  const virtual = paging.page * paging.dcp
  const end = Number.isNaN(globalLen) ? Number.POSITIVE_INFINITY : globalLen
  const last = Math.min((column + 1) * virtual, end) - 1
  return last < column * virtual ? [] : [rangeRow('its tokens', column * virtual, last)]
}

/** The newest token and its slot on the rank that is shown. */
export const newestRows = (
  { newest, newestSlot, writtenSlot }: Pick<Cell, 'newest' | 'newestSlot' | 'writtenSlot'>,
  paging: Paging,
): InspectorRow[] => {
  if (newest < 0) return []
  const holder = owner(newest, paging)
  return [
    { ...intRow('newest token', newest), note: `rank ${holder}` },
    ...(Number.isNaN(newestSlot) ? [] : [slotRow('its slot here', newestSlot)]),
    ...(Number.isNaN(writtenSlot) ? [] : [slotRow('written to', writtenSlot)]),
  ]
}

const slotRow = (label: string, slot: number): InspectorRow => ({
  label,
  value: slotText(slot),
  copy: String(slot),
})

/** -1 is what a slot mapping says on ranks that do not hold the token. */
export const slotText = (slot: number): string =>
  Number.isNaN(slot) ? '–' : slot < 0 ? '−1' : formatInt(slot)
