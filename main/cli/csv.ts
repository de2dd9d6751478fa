import { type Cell, isNumberText } from './text-table.ts'

/** RFC 4180: CRLF after every record, quotes where needed. Text that a spreadsheet would run as a formula gets a leading apostrophe. */
export const csv = (header: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [header, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('')

const field = (cell: Cell): string => {
  if (cell === null) return ''
  if (typeof cell !== 'string' || isNumberText(cell)) return String(cell)
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
