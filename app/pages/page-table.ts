import { MAX_PAGES } from '../dcp/checks.ts'
import { localLength } from '../dcp/ownership.ts'
import { tableWidth } from '../dcp/pages.ts'
import { type CellPlace, dealOf, pagingOf, type RankTable } from './rank-table.ts'

/**
 * What a cell of a block table is, from what matters least to what matters most: of several cells that are shown as one,
 * the last in this order is shown.
 */
export const CELL_KINDS = [
  /** The row has no such column. */
  'absent',
  /** No page, and none needed. */
  'unused',
  /** Beyond the columns of the request: left from earlier steps, means nothing. */
  'stale',
  /** A page, but no length says whether it means anything. */
  'listed',
  /** A page of the request in which this rank holds no key yet. */
  'reserved',
  /** All slots of the page hold keys of the request. */
  'full',
  /** Some do. */
  'partial',
  /** Keys, but no page. */
  'missing',
  /** Keys, but the table has no such column. */
  'cut',
  /** Keys, and a page that the pool does not have. */
  'outside',
  /** Keys, and a page that holds keys of another cell too. */
  'double',
] as const
export type CellKind = (typeof CELL_KINDS)[number]

export const kindCode = (kind: CellKind): number => CELL_KINDS.indexOf(kind)

/** Kinds that no right table has. */
export const WRONG_KINDS: readonly CellKind[] = ['missing', 'cut', 'outside', 'double']

/** A cell that has a page, in the order of pages. */
export interface PageUser extends CellPlace {
  readonly kind: CellKind
}

const UNKNOWN = -1

/** Answers questions about the block table of one rank: what its cells are, and which cells a page belongs to. */
export class PageTable {
  readonly table: RankTable
  /** Columns of each request with keys of this rank, and those that it has on any rank; -1 unknown. [B] */
  readonly #held: Int32Array
  readonly #owned: Int32Array
  /** Cells of pages in use, as page * cells + cell, rising. */
  readonly #users: Float64Array
  /** 1 for cells that share their page. */
  readonly #double: Uint8Array

  constructor(table: RankTable) {
    this.table = table
    this.#held = Int32Array.from({ length: table.requests }, (_, request) => this.#heldColumns(request))
    this.#owned = Int32Array.from({ length: table.requests }, (_, request) => this.#ownedColumns(request))
    this.#users = this.#usersByPage()
    this.#double = this.#sharedCells()
  }

  get cells(): number {
    return this.table.ids.length
  }

  /** Columns that the row of a request has. */
  columnsOf(request: number): number {
    const { begin } = this.table
    return (begin[request + 1] ?? 0) - (begin[request] ?? 0)
  }

  /** The most columns that any request has. */
  get widest(): number {
    let widest = 0
    for (let request = 0; request < this.table.requests; request++)
      widest = Math.max(widest, this.columnsOf(request), this.#held[request] ?? 0)
    return widest
  }

  /** Columns with keys of this rank; null where no length says it. */
  heldColumns(request: number): number | null {
    const held = this.#held[request] ?? UNKNOWN
    return held === UNKNOWN ? null : held
  }

  /** Tokens of the rank's part of a request, as the kernel got the length, else by its global length; null unknown. */
  localLength(request: number): number | null {
    const { localLens, globalLens, rank, batch } = this.table
    if (request >= batch) return 0
    const local = localLens?.[request]
    if (local !== undefined) return local
    const global = globalLens?.[request]
    return global === undefined ? null : localLength(global, rank, dealOf(this.table, request))
  }

  /** Keys in a column, 0 to the page size; 0 where no length is known. */
  validIn(request: number, column: number): number {
    const { page } = this.table
    const local = this.localLength(request)
    return page === null || local === null ? 0 : Math.min(Math.max(local - column * page, 0), page)
  }

  /** Physical page of a cell; -1 where it has none or there is no such cell. */
  pageAt(request: number, column: number): number {
    const cell = this.#cellOf(request, column)
    const id = cell === null ? UNKNOWN : (this.table.ids[cell] ?? UNKNOWN)
    return id < 0 ? -1 : id
  }

  /** Step at which a cell got its page; -1 unknown. */
  takenAt(request: number, column: number): number {
    const cell = this.#cellOf(request, column)
    return cell === null ? UNKNOWN : (this.table.taken?.[cell] ?? UNKNOWN)
  }

  kindOf(request: number, column: number): CellKind {
    const held = this.#held[request] ?? UNKNOWN
    const cell = this.#cellOf(request, column)
    if (cell === null) return column < held ? 'cut' : 'absent'
    const id = this.table.ids[cell] ?? UNKNOWN
    if (column < held) {
      if (id < 0) return 'missing'
      if (id >= this.#limit) return 'outside'
      if (this.#double[cell] === 1) return 'double'
      return this.validIn(request, column) === this.table.page ? 'full' : 'partial'
    }
    if (id < 0) return 'unused'
    if (held === UNKNOWN) return 'listed'
    return column < (this.#owned[request] ?? 0) && id < this.#limit ? 'reserved' : 'stale'
  }

  /** Every cell that is of a wrong kind, in order of requests, then columns. */
  *wrongCells(): Generator<PageUser> {
    for (let request = 0; request < this.table.batch; request++) {
      const held = this.#held[request] ?? 0
      for (let column = 0; column < held; column++) {
        const kind = this.kindOf(request, column)
        if (WRONG_KINDS.includes(kind)) yield { request, column, kind }
      }
    }
  }

  /** Pages of the pool, else one more than the largest page in use: what a map of it spans. */
  get extent(): number {
    const last = this.#users.at(-1)
    return this.table.poolPages ?? (last === undefined ? 0 : Math.floor(last / this.cells) + 1)
  }

  /** Calls back with each cell that has a page from `from` on and below `end`, by page. */
  eachUser(from: number, end: number, take: (page: number, request: number, column: number) => void): void {
    const { begin } = this.table
    const { cells } = this
    for (let i = this.#firstUser(from); i < this.#users.length; i++) {
      const key = this.#users[i] ?? 0
      const page = Math.floor(key / cells)
      if (page >= end) return
      const cell = key - page * cells
      const request = rowOf(begin, cell)
      take(page, request, cell - (begin[request] ?? 0))
    }
  }

  /** Cells that have this page and mean it. */
  usersOf(page: number): PageUser[] {
    const users: PageUser[] = []
    this.eachUser(page, page + 1, (_, request, column) => {
      users.push({ request, column, kind: this.kindOf(request, column) })
    })
    return users
  }

  /** Ids that are no page whatever the pool is, since no pool is so large. */
  get #limit(): number {
    return this.table.poolPages ?? MAX_PAGES
  }

  #cellOf(request: number, column: number): number | null {
    return column < this.columnsOf(request) ? (this.table.begin[request] ?? 0) + column : null
  }

  #heldColumns(request: number): number {
    const { page } = this.table
    const local = this.localLength(request)
    return page === null || local === null ? UNKNOWN : Math.ceil(local / page)
  }

  #ownedColumns(request: number): number {
    const held = this.#held[request] ?? UNKNOWN
    const global = this.table.globalLens?.[request]
    const paging = pagingOf(this.table, request)
    if (paging === null || global === undefined || request >= this.table.batch) return held
    return Math.max(held, tableWidth(global, paging))
  }

  #usersByPage(): Float64Array {
    const { requests, begin, ids } = this.table
    const { cells } = this
    const keys = new Float64Array(cells)
    let used = 0
    for (let request = 0; request < requests; request++) {
      const first = begin[request] ?? 0
      const owned = this.#owned[request] ?? 0
      const end = owned === UNKNOWN ? this.columnsOf(request) : Math.min(owned, this.columnsOf(request))
      for (let column = 0; column < end; column++) {
        const id = ids[first + column] ?? UNKNOWN
        if (id >= 0 && id < this.#limit) keys[used++] = id * cells + first + column
      }
    }
    return keys.slice(0, used).sort()
  }

  /** Cells with keys in a page that another cell with keys has too. */
  #sharedCells(): Uint8Array {
    const { cells } = this
    const shared = new Uint8Array(cells)
    let [lastPage, lastCell] = [-1, -1]
    this.eachUser(0, Number.POSITIVE_INFINITY, (page, request, column) => {
      if (column >= (this.#held[request] ?? 0)) return
      const cell = (this.table.begin[request] ?? 0) + column
      if (lastPage === page) {
        shared[lastCell] = 1
        shared[cell] = 1
      }
      lastPage = page
      lastCell = cell
    })
    return shared
  }

  /** Place of the first user of a page from `page` on. */
  #firstUser(page: number): number {
    const key = page * this.cells
    let [low, high] = [0, this.#users.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#users[middle] ?? 0) < key) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** The row that a cell is in: the last that begins at it or before and is not empty. */
const rowOf = (begin: Int32Array, cell: number): number => {
  let [low, high] = [0, begin.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((begin[middle] ?? 0) <= cell) low = middle
    else high = middle - 1
  }
  return low
}
