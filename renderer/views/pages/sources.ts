import type { Cell as Field, Table } from '../../../app/messages/csv.ts'
import { allRows, type Work } from '../../export/table-source.ts'
import { request } from '../../state/store-client.ts'
import { type Cell, firstToken, KIND_WORDS } from './facts.ts'
import { type Pages, pagingFor } from './use-pages.ts'
import { type CellsAnswer, cellIn, type RequestRow, requestRows } from './windows.ts'

/** Requests, and cells of one, that are asked for at once. */
const AT_ONCE = 4096

export const REQUEST_HEADER = [
  'request',
  'length_tokens',
  'local_length_tokens',
  'columns',
  'columns_with_keys',
  'newest_token',
  'newest_slot',
  'written_slot',
] as const

export const requestLine = (row: RequestRow): readonly Field[] => [
  row.request,
  row.globalLen,
  row.localLen,
  row.columns,
  row.held,
  row.newest,
  row.newestSlot,
  row.writtenSlot,
]

export const CELL_HEADER = ['column', 'first_token', 'page', 'keys_here', 'taken_at_step', 'state'] as const

export const cellLine = (cell: Cell, paging: ReturnType<typeof pagingFor>): readonly Field[] => [
  cell.column,
  firstToken(cell, paging) ?? Number.NaN,
  cell.page,
  cell.valid,
  cell.taken,
  KIND_WORDS[cell.kind],
]

/** The cells of the first request of an answer, each mark of which is one. */
export const cellsIn = (answer: CellsAnswer): Cell[] =>
  Array.from({ length: answer.data.marks }, (_, i) =>
    cellIn(answer, answer.params.requestFrom, answer.params.columnFrom + i),
  ).flatMap((cell) => (cell === null || cell.kind === 'absent' ? [] : [cell]))

/** Every request of the block table, to be saved. */
export const allRequests = async ({ summary, shown }: Pages, work: Work): Promise<Table> => ({
  header: REQUEST_HEADER,
  rows: await allRows(work, AT_ONCE, summary.requests, async (from, signal) => {
    const whole = { columnFrom: 0, marks: 1, perMark: 1 }
    const params = { source: shown.source, requestFrom: from, requests: AT_ONCE, ...whole }
    return requestRows({ params, data: await request('pageCells', params, { signal }) }).map(requestLine)
  }),
})

/** Every cell of a request, to be saved. */
export const allCells = async (pages: Pages, of: number, work: Work): Promise<Table> => {
  const paging = pagingFor(pages, of)
  const row = { source: pages.shown.source, requestFrom: of, requests: 1 }
  return {
    header: CELL_HEADER,
    rows: await allRows(work, AT_ONCE, pages.summary.widest, async (columnFrom, signal) => {
      const params = { ...row, columnFrom, marks: AT_ONCE, perMark: 1 }
      const answer = { params, data: await request('pageCells', params, { signal }) }
      return cellsIn(answer).map((cell) => cellLine(cell, paging))
    }),
  }
}
