import type { CellPlace } from '../../../app/pages/rank-table.ts'

interface Bounds {
  readonly requests: number
  /** Of the widest request. */
  readonly columns: number
  /** Column of the newest token of the selected request, else the last of all. */
  readonly newest: number
}

/** The cell after a key; null for other keys. The first key without a selected cell picks the first. */
export const moved = (
  code: string,
  { request, place }: { readonly request: number; readonly place: CellPlace | null },
  { requests, columns, newest }: Bounds,
): CellPlace | null => {
  const column = place?.column ?? 0
  const within = (x: number, count: number): number => Math.min(Math.max(0, x), Math.max(0, count - 1))
  const first = place === null
  switch (code) {
    case 'ArrowUp':
      return { request: within(request - (first ? 0 : 1), requests), column }
    case 'ArrowDown':
      return { request: within(request + (first ? 0 : 1), requests), column }
    case 'ArrowLeft':
      return { request, column: within(column - (first ? 0 : 1), columns) }
    case 'ArrowRight':
      return { request, column: within(column + (first ? 0 : 1), columns) }
    case 'Home':
      return { request, column: 0 }
    case 'End':
      return { request, column: newest }
    default:
      return null
  }
}

/** A page that a person asked for; null where the text is none. */
export const pageFromText = (text: string, extent: number): number | null => {
  const digits = text.replace(/[\s_.,\u2009]/g, '')
  if (!/^\d{1,15}$/.test(digits)) return null
  const page = Number(digits)
  return page < extent ? page : null
}
