import type { DuckDBConnection } from '@duckdb/node-api'
import type { RecordedCells } from '../../app/pages/run-table.ts'
import type { StoreResult } from '../../app/protocol/store.ts'
import type { Part } from './bundle-files.ts'
import { readColumns } from './duck.ts'
import { relationOf } from './sources.ts'
import type { StepRange } from './step-blocks.ts'

/** Cells of block tables: as they were before the first of some steps, and every change in those. */
export interface CellBlock {
  readonly before: RecordedCells
  /** Sorted by request, column and step. */
  readonly changes: Omit<RecordedCells, 'taken'> & { readonly step: Int32Array }
}

const NO_CELLS = new Int32Array()

/** Cells of the given parts, of one request or of all, at the steps of a range. */
export const cellBlock = async (
  connection: DuckDBConnection,
  parts: readonly Part[],
  { first, last }: StepRange,
  request: number | null,
): Promise<CellBlock> => {
  const from = `FROM ${relationOf('pages', parts)} WHERE ${request === null ? '' : `request = ${request} AND `}`
  const before =
    first === 0
      ? null
      : await readColumns(
          connection,
          `SELECT request::INTEGER AS request, "column"::INTEGER AS place, arg_max(page, step)::INTEGER AS page,
             arg_max(valid, step)::INTEGER AS valid, min(step)::INTEGER AS taken
           ${from} step < ${first} GROUP BY request, "column" ORDER BY request, "column"`,
        )
  const changes = await readColumns(
    connection,
    `SELECT request::INTEGER AS request, "column"::INTEGER AS place, page::INTEGER AS page, valid::INTEGER AS valid,
       step::INTEGER AS step
     ${from} step BETWEEN ${first} AND ${last} ORDER BY request, "column", step`,
  )
  return {
    before: {
      request: before?.i32('request') ?? NO_CELLS,
      column: before?.i32('place') ?? NO_CELLS,
      page: before?.i32('page') ?? NO_CELLS,
      valid: before?.i32('valid') ?? NO_CELLS,
      taken: before?.i32('taken') ?? NO_CELLS,
    },
    changes: {
      request: changes.i32('request'),
      column: changes.i32('place'),
      page: changes.i32('page'),
      valid: changes.i32('valid'),
      step: changes.i32('step'),
    },
  }
}

/** The cells as they were last recorded up to a step of the block. */
export const cellsAt = ({ before, changes }: CellBlock, step: number): RecordedCells => {
  const most = before.request.length + changes.request.length
  const cells: RecordedCells = {
    request: new Int32Array(most),
    column: new Int32Array(most),
    page: new Int32Array(most),
    valid: new Int32Array(most),
    taken: new Int32Array(most),
  }
  let count = 0
  const isLast = (request: number, column: number): boolean =>
    count > 0 && cells.request[count - 1] === request && cells.column[count - 1] === column
  /** Puts a cell at the end, over the same one. */
  const put = (from: Omit<RecordedCells, 'taken'>, at: number, taken: number): void => {
    const [request = 0, column = 0] = [from.request[at], from.column[at]]
    if (!isLast(request, column)) {
      cells.request[count] = request
      cells.column[count] = column
      cells.taken[count] = taken
      count++
    }
    cells.page[count - 1] = from.page[at] ?? -1
    cells.valid[count - 1] = from.valid[at] ?? 0
  }
  let old = 0
  const isOldFirst = (at: number): boolean => {
    const by = (before.request[old] ?? 0) - (changes.request[at] ?? 0)
    return by < 0 || (by === 0 && (before.column[old] ?? 0) <= (changes.column[at] ?? 0))
  }
  for (let at = 0; at < changes.request.length; at++) {
    const changed = changes.step[at] ?? 0
    if (changed > step) continue
    for (; old < before.request.length && isOldFirst(at); old++) put(before, old, before.taken[old] ?? 0)
    put(changes, at, changed)
  }
  for (; old < before.request.length; old++) put(before, old, before.taken[old] ?? 0)
  return {
    request: cells.request.slice(0, count),
    column: cells.column.slice(0, count),
    page: cells.page.slice(0, count),
    valid: cells.valid.slice(0, count),
    taken: cells.taken.slice(0, count),
  }
}

/** Physical page of each column of a request whose cells are given, -1 where none was recorded. */
export const pagesByColumn = ({ column, page }: RecordedCells): StoreResult<'blockTable'> => {
  const pages = new Int32Array((column.at(-1) ?? -1) + 1).fill(-1)
  column.forEach((place, i) => {
    pages[place] = page[i] ?? -1
  })
  return { pages }
}
