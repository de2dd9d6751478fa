import { CELL_KINDS, kindCode, type PageTable } from './page-table.ts'

/** A part of a block table: `requests` rows, and columns of which `perMark` are shown as one. */
export interface TableWindow {
  readonly requestFrom: number
  readonly requests: number
  readonly columnFrom: number
  readonly marks: number
  readonly perMark: number
}

/** Marks row by row, [requests * marks]. Of several columns the one that matters most is told, and the sum of its keys. */
export interface TableMarks {
  /** Places in CELL_KINDS. */
  readonly kind: Uint8Array<ArrayBuffer>
  /** -1 none. */
  readonly page: Float64Array<ArrayBuffer>
  readonly valid: Float64Array<ArrayBuffer>
  /** Step at which the page was taken, -1 unknown. */
  readonly taken: Int32Array<ArrayBuffer>
}

/** Work is that of the cells within the window. */
export const tableMarks = (
  pages: PageTable,
  { requestFrom, requests, columnFrom, marks, perMark }: TableWindow,
): TableMarks => {
  const count = requests * marks
  const kind = new Uint8Array(count)
  const page = new Float64Array(count).fill(-1)
  const valid = new Float64Array(count)
  const taken = new Int32Array(count).fill(-1)
  for (let row = 0; row < requests; row++) {
    const request = requestFrom + row
    const end = Math.max(pages.columnsOf(request), pages.heldColumns(request) ?? 0)
    for (let mark = 0; mark < marks; mark++) {
      const first = columnFrom + mark * perMark
      if (first >= end) break
      const at = row * marks + mark
      for (let column = first; column < Math.min(end, first + perMark); column++) {
        const code = kindCode(pages.kindOf(request, column))
        valid[at] = (valid[at] ?? 0) + pages.validIn(request, column)
        if (code < (kind[at] ?? 0)) continue
        if (code > (kind[at] ?? 0) || column === first) page[at] = pages.pageAt(request, column)
        kind[at] = code
        taken[at] = Math.max(taken[at] ?? -1, pages.takenAt(request, column))
      }
    }
  }
  return { kind, page, valid, taken }
}

/** A part of the pool: pages from `from` on, `perMark` of them shown as one. */
export interface PoolWindow {
  readonly from: number
  readonly marks: number
  readonly perMark: number
}

/** A page of no request, and pages of several requests shown as one. */
export const NO_REQUEST = -1
export const SEVERAL = -2

/** [marks] */
export interface PoolMarks {
  /** Owner, NO_REQUEST or SEVERAL. */
  readonly request: Int32Array<ArrayBuffer>
  /** Pages in use. */
  readonly used: Int32Array<ArrayBuffer>
  /** Keys that they hold of this rank. */
  readonly valid: Float64Array<ArrayBuffer>
  /** The kind that matters most, a place in CELL_KINDS; 0 free. */
  readonly kind: Uint8Array<ArrayBuffer>
  /** Latest step at which one was taken, -1 unknown. */
  readonly taken: Int32Array<ArrayBuffer>
}

/** Work is that of the pages in use within the window. */
export const poolMarks = (pages: PageTable, { from, marks, perMark }: PoolWindow): PoolMarks => {
  const request = new Int32Array(marks).fill(NO_REQUEST)
  const used = new Int32Array(marks)
  const valid = new Float64Array(marks)
  const kind = new Uint8Array(marks)
  const taken = new Int32Array(marks).fill(-1)
  let last = -1
  pages.eachUser(from, from + marks * perMark, (page, owner, column) => {
    const mark = Math.floor((page - from) / perMark)
    const known = request[mark] ?? NO_REQUEST
    request[mark] = known === NO_REQUEST || known === owner ? owner : SEVERAL
    if (page !== last) used[mark] = (used[mark] ?? 0) + 1
    last = page
    valid[mark] = (valid[mark] ?? 0) + pages.validIn(owner, column)
    kind[mark] = Math.max(kind[mark] ?? 0, kindCode(pages.kindOf(owner, column)))
    taken[mark] = Math.max(taken[mark] ?? -1, pages.takenAt(owner, column))
  })
  return { request, used, valid, kind, taken }
}

/** The kind of a code, `absent` for one that is none. */
export const kindOfCode = (code: number): (typeof CELL_KINDS)[number] => CELL_KINDS[code] ?? 'absent'
