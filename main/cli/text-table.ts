import { type Cell, isNumberText } from '../../app/messages/csv.ts'

/** Widest cell that others are padded to: one long text must not make every row as long. */
const MAX_PADDED = 200

/** Rows as aligned text: numbers to the right, two spaces between columns, no trailing space. */
export const textTable = (header: readonly string[], rows: readonly (readonly Cell[])[]): string => {
  const texts = rows.map((row) => row.map(cellText))
  const right = header.map((_, i) => rows.length > 0 && rows.every((row) => isNumeric(row[i])))
  const widths = header.map((name, i) =>
    Math.min(
      MAX_PADDED,
      texts.reduce((width, row) => Math.max(width, (row[i] ?? '').length), name.length),
    ),
  )
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (right[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd()
  return [header.map(printable), ...texts].map(line).join('\n')
}

const isNumeric = (cell: Cell | undefined): boolean =>
  cell === null || typeof cell === 'number' || typeof cell === 'bigint' || isNumberText(cell)

const cellText = (cell: Cell): string => (cell === null ? '' : printable(String(cell)))

/** Text from a file must not steer the terminal: control characters, also those of direction, are shown, not sent. */
export const printable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (c) => (c === '\n' ? '\\n' : c === '\t' ? '\\t' : escaped(c)))

const escaped = (c: string): string => {
  const code = c.charCodeAt(0).toString(16)
  return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`
}
