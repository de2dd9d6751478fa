export type Cell = string | number | bigint | boolean | null

/** A table as it leaves the product. */
export interface Table {
  readonly header: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}

/** Lines with tabs, which spreadsheets and editors take from the clipboard. */
export const tabText = ({ header, rows }: Table): string =>
  [header, ...rows].map((row) => row.map((cell) => cell ?? '').join('\t')).join('\n')

/** Text that is a number: integers beyond 2^53, NaN and infinities travel as text. */
export const isNumberText = (cell: unknown): boolean =>
  typeof cell === 'string' && /^(-?\d+(\.\d+)?([eE][+-]?\d+)?|NaN|-?Infinity)$/.test(cell)

/** RFC 4180: CRLF after every record, quotes where needed. Text that a spreadsheet would run as a formula gets a leading apostrophe. */
export const csv = (header: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [header, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('')

const field = (cell: Cell): string => {
  if (cell === null) return ''
  if (typeof cell !== 'string' || isNumberText(cell)) return String(cell)
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
