import type { Table } from '../../app/messages/csv.ts'

/** A number as `drawing/format.ts` writes it, as programs read it; other text as it is. */
export const plainText = (text: string): string => {
  const trimmed = text.replace(/\s+/g, ' ').trim()
  const number = text
    .trim()
    .replace(/\u2009/g, '')
    .replace(/\u2212/g, '-')
  return /^-?\d+(\.\d+)?(e-?\d+)?$/.test(number) ? number : trimmed === '–' ? '' : trimmed
}

const cellText = (cell: HTMLTableCellElement): string =>
  plainText(cell.dataset.value ?? cell.textContent ?? cell.getAttribute('aria-label') ?? '')

/** Cells of a line; what one cell of several columns stands for is in the first of them. */
const lineOf = (row: HTMLTableRowElement): string[] =>
  Array.from(row.cells).flatMap((cell) => [cellText(cell), ...Array<string>(cell.colSpan - 1).fill('')])

/** What a table of the page shows; lines that are no more than a heading or room stay away. */
export const domTable = (table: HTMLTableElement): Table => {
  const lines = Array.from(table.rows)
  const head = table.tHead?.rows[0]
  const rows = lines.filter((row) => row !== head && row.cells.length > 0).map(lineOf)
  const width = Math.max(0, ...rows.map((row) => row.length))
  const named = head === undefined ? [] : lineOf(head)
  return { header: Array.from({ length: Math.max(width, named.length) }, (_, i) => named[i] ?? ''), rows }
}
