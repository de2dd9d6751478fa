import { type RefCallback, useCallback, useRef } from 'react'
import type { Table } from '../../app/messages/csv.ts'

/** What reading a long table goes with. */
export interface Work {
  /** Nobody waits for the table any more. */
  readonly signal: AbortSignal
  readonly onRows: (done: number, total: number) => void
}

export interface TableSource {
  readonly name: string
  /** All rows that the table stands for, exact, with units in the header. */
  readonly read: (work: Work) => Table | Promise<Table>
}

const SOURCES = new WeakMap<HTMLTableElement, () => TableSource>()

/** What a table of the page is when it is saved; undefined where what it shows is all of it. */
export const sourceOf = (table: HTMLTableElement): TableSource | undefined => SOURCES.get(table)?.()

/** For a table whose numbers are rounded, or that shows a part of its rows: what is saved in its place. */
export const useTableSource = (name: string, read: TableSource['read']): RefCallback<HTMLTableElement> => {
  const latest = useRef<TableSource>({ name, read })
  latest.current = { name, read }
  return useCallback((table) => {
    if (table !== null) SOURCES.set(table, () => latest.current)
  }, [])
}

/**
 * All rows of a question that gives at most `size` at once: `ask` for those from a place on, until `total` are there or no more
 * come. Stops between questions when nobody waits any more.
 */
export const allRows = async <Row>(
  { signal, onRows }: Work,
  size: number,
  total: number,
  ask: (from: number, signal: AbortSignal) => Promise<readonly Row[]>,
): Promise<Row[]> => {
  const rows: Row[] = []
  while (rows.length < total) {
    const part = await ask(rows.length, signal)
    signal.throwIfAborted()
    rows.push(...part)
    onRows(rows.length, total)
    if (part.length < size) break
  }
  return rows
}
