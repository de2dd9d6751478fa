import { kindOfCode } from '../../../app/pages/windows.ts'
import type { StoreParams, StoreResult } from '../../../app/protocol/store.ts'
import type { Answer } from '../../state/use-answer.ts'
import type { Cell } from './facts.ts'
import type { Geometry, Sizes } from './geometry.ts'
import type { Pages, Summary } from './use-pages.ts'

export type CellsAnswer = Answer<'pageCells'>
export type PoolAnswer = Answer<'poolMarks'>

/** Rows of a pool map that is as far as a mark can stand for. */
export const sizesOf = ({ requests, widest, extent }: Summary): Sizes => ({
  requests,
  columns: Math.max(1, widest),
  pages: extent,
})

/** What of the block table is in view. */
export const cellsWanted = ({ shown }: Pages, g: Geometry): StoreParams<'pageCells'> => ({
  source: shown.source,
  requestFrom: g.scroll.requestFrom,
  requests: g.rows,
  columnFrom: g.scroll.markFrom * g.tableZoom.perMark,
  marks: g.marks,
  perMark: g.tableZoom.perMark,
})

/** What of the pool is in view. */
export const poolWanted = ({ shown }: Pages, g: Geometry): StoreParams<'poolMarks'> => ({
  source: shown.source,
  from: g.scroll.lineFrom * g.perLine * g.poolZoom.perMark,
  marks: g.perLine * g.lines,
  perMark: g.poolZoom.perMark,
})

/** A cell of an answer; null where it is not in it or stands for several. */
export const cellIn = ({ params, data }: CellsAnswer, request: number, column: number): Cell | null => {
  const row = request - params.requestFrom
  const mark = Math.floor((column - params.columnFrom) / params.perMark)
  if (row < 0 || row >= data.requests || mark < 0 || mark >= data.marks) return null
  const at = row * data.marks + mark
  return {
    rank: params.source.rank,
    request,
    column,
    kind: kindOfCode(data.kind[at] ?? 0),
    page: data.page[at] ?? -1,
    valid: data.valid[at] ?? 0,
    taken: data.taken[at] ?? -1,
    globalLen: data.globalLen[row] ?? Number.NaN,
    newest: data.newest[row] ?? -1,
    newestSlot: data.newestSlot[row] ?? Number.NaN,
    writtenSlot: data.writtenSlot[row] ?? Number.NaN,
  }
}

/** Lengths and newest token of a request of an answer. */
export interface RequestRow {
  readonly request: number
  readonly globalLen: number
  readonly localLen: number
  readonly columns: number
  /** -1 unknown. */
  readonly held: number
  readonly newest: number
  readonly newestSlot: number
  readonly writtenSlot: number
}

export const requestRows = ({ params, data }: CellsAnswer): RequestRow[] =>
  Array.from({ length: data.requests }, (_, row) => ({
    request: params.requestFrom + row,
    globalLen: data.globalLen[row] ?? Number.NaN,
    localLen: data.localLen[row] ?? Number.NaN,
    columns: data.columns[row] ?? 0,
    held: data.held[row] ?? -1,
    newest: data.newest[row] ?? -1,
    newestSlot: data.newestSlot[row] ?? Number.NaN,
    writtenSlot: data.writtenSlot[row] ?? Number.NaN,
  }))

/** A mark of the pool; null where the answer does not have it. */
export interface PoolMark {
  readonly request: number
  readonly used: number
  readonly valid: number
  readonly kind: ReturnType<typeof kindOfCode>
  readonly taken: number
}

export const poolMarkIn = ({ params, data }: PoolAnswer, page: number): PoolMark | null => {
  const mark = Math.floor((page - params.from) / params.perMark)
  if (mark < 0 || mark >= data.request.length) return null
  return {
    request: data.request[mark] ?? -1,
    used: data.used[mark] ?? 0,
    valid: data.valid[mark] ?? 0,
    kind: kindOfCode(data.kind[mark] ?? 0),
    taken: data.taken[mark] ?? -1,
  }
}

export type Users = StoreResult<'pageUsers'>
