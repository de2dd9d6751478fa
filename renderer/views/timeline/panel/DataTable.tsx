import { type ReactNode, useMemo, useState } from 'react'
import type { Cell } from '../../../../app/messages/csv.ts'
import { useRowLimit } from '../../../controls/use-row-limit.ts'
import { useTableSource } from '../../../export/table-source.ts'
import { type Order, sortedRows, tableOf } from './sort.ts'

/** One column of a table; `value` is what it is sorted by, copied and saved. */
export interface DataColumn<Row> {
  readonly id: string
  readonly title: string
  readonly hint?: string
  readonly value: (row: Row) => Cell
  /** What is shown, where that is not the value. */
  readonly show?: (row: Row) => ReactNode
  /** Of words and not of numbers. */
  readonly words?: boolean
}

interface Props<Row> {
  /** What it is of; also what it is called when it is saved. */
  readonly label: string
  readonly columns: readonly DataColumn<Row>[]
  readonly rows: readonly Row[]
  /** Rows that are shown at most; all are saved. */
  readonly most?: number
  readonly keyOf: (row: Row) => string
  /** Said where there are no rows. */
  readonly nothing: string
  readonly isPicked?: (row: Row) => boolean
  /** Goes to what a row is about; its first cell is a button then. */
  readonly onPick?: (row: Row) => void
  /** What picking a row does. */
  readonly pickHint?: string
  readonly testId: string
}

const ariaSort = (order: Order | null, id: string): 'ascending' | 'descending' | 'none' =>
  order?.column !== id ? 'none' : order.falling ? 'descending' : 'ascending'

/** Height of a row, and of what stands above the first at least. */
const ROW_PX = 22
const ABOVE_PX = 140

/** A table whose heads sort it: the largest first, then the least first, then as it came. */
export const DataTable = <Row,>(props: Props<Row>) => {
  const { label, columns, rows, most, keyOf, nothing, isPicked, onPick, pickHint, testId } = props
  const [order, setOrder] = useState<Order | null>(null)
  const shown = useMemo(() => sortedRows(rows, columns, order), [rows, columns, order])
  const limit = useRowLimit(ROW_PX, ABOVE_PX)
  const table = useTableSource(label, () => tableOf(shown, columns))
  const turn = (id: string): void =>
    setOrder((now) =>
      now?.column !== id
        ? { column: id, falling: true }
        : now.falling
          ? { column: id, falling: false }
          : null,
    )
  return (
    <div className="data-table">
      <table ref={table} aria-label={label} data-testid={testId}>
        <thead>
          <tr>
            {columns.map(({ id, title, hint, words }) => (
              <th
                key={id}
                scope="col"
                aria-sort={ariaSort(order, id)}
                className={words === true ? 'data-words' : undefined}
              >
                <button
                  type="button"
                  className="data-head"
                  title={hint === undefined ? 'Sort' : `${hint}. Sort`}
                  onClick={() => turn(id)}
                >
                  {title}
                  <span aria-hidden="true" className="data-order">
                    {order?.column === id ? (order.falling ? '↓' : '↑') : ''}
                  </span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.slice(0, Math.min(limit, most ?? limit)).map((row) => {
            const picked = isPicked?.(row) === true
            return (
              <tr
                key={keyOf(row)}
                className={picked ? 'data-picked' : undefined}
                onClick={onPick === undefined ? undefined : () => onPick(row)}
              >
                {columns.map(({ id, value, show, words }, i) => {
                  const content = show?.(row) ?? String(value(row) ?? '–')
                  const className = words === true ? 'data-words' : 'num'
                  if (i > 0)
                    return (
                      <td key={id} className={className}>
                        {content}
                      </td>
                    )
                  return (
                    <th key={id} scope="row" className={className}>
                      {onPick === undefined ? (
                        content
                      ) : (
                        <button
                          type="button"
                          className="data-pick"
                          aria-pressed={picked}
                          title={pickHint}
                          onClick={(event) => {
                            event.stopPropagation()
                            onPick(row)
                          }}
                        >
                          {content}
                        </button>
                      )}
                    </th>
                  )
                })}
              </tr>
            )
          })}
        </tbody>
      </table>
      {rows.length === 0 ? <p className="data-nothing">{nothing}</p> : null}
    </div>
  )
}
