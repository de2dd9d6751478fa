import type { Cell, Table } from '../../../../app/messages/csv.ts'

/** By which column a table is sorted; `falling`: the largest first. */
export interface Order {
  readonly column: string
  readonly falling: boolean
}

interface Sortable<Row> {
  readonly id: string
  readonly value: (row: Row) => Cell
}

const compare = (a: Cell, b: Cell): number => {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return String(a).localeCompare(String(b), 'en', { numeric: true })
}

/** The rows in an order, equal ones as they came; rows without a value come last either way. */
export const sortedRows = <Row>(
  rows: readonly Row[],
  columns: readonly Sortable<Row>[],
  order: Order | null,
): readonly Row[] => {
  const column = columns.find(({ id }) => id === order?.column)
  if (column === undefined || order === null) return rows
  return rows
    .map((row) => ({ row, value: column.value(row) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null)
      return order.falling ? compare(b.value, a.value) : compare(a.value, b.value)
    })
    .map(({ row }) => row)
}

/** The rows as a table that leaves the window. */
export const tableOf = <Row>(rows: readonly Row[], columns: readonly Sortable<Row>[]): Table => ({
  header: columns.map(({ id }) => id),
  rows: rows.map((row) => columns.map(({ value }) => value(row))),
})
