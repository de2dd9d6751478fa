import { cleanLse, EMPTY_LSE } from '../../lse/base.ts'
import { type Case, isReal, isSparse, type RankTables, visibleTo } from '../case.ts'
import { keptHead, keptHeads, type Row, readRow } from '../rows.ts'
import { isEmpty, wasTold } from './empty-rows.ts'

/** A NaN or infinity; `head` is of the group. */
export interface NonFinite {
  readonly tensor: 'lse_kernel' | 'out_kernel' | 'lse' | 'out' | 'merged'
  readonly rank: number
  readonly row: number
  readonly head: number
  readonly value: number
}

/** In the order in which an engine makes them. */
const TENSORS: readonly NonFinite['tensor'][] = ['lse_kernel', 'out_kernel', 'lse', 'out', 'merged']

/**
 * Values that are no numbers in rows that have keys, at most one of each rank, row and tensor: of the lse of all rows, of merged of
 * `most` rows, and of the partials of the rows that are given.
 */
export class NonFiniteSite {
  readonly #case: Case
  readonly #found: NonFinite[] = []

  constructor(c: Case) {
    this.#case = c
  }

  /** Adds the partials of a row; those of kernels only where something came of them: what they leave without keys is neutralised. */
  add({ row, out, outKernel }: Row): void {
    const c = this.#case
    if (!isReal(c, row)) return
    for (const rank of c.ranks) {
      const own = out[rank.rank]
      if (own === undefined || !this.#hasKeys(rank, row)) continue
      this.#note('out', rank.rank, row, own, c.width)
      const kernel = outKernel[rank.rank]
      if (kernel !== undefined && own.some((value) => value !== 0))
        this.#note('out_kernel', rank.rank, row, kernel, c.width)
    }
  }

  /** Looks at what needs no close look. */
  async scan(most: number, aborted: () => void): Promise<void> {
    const c = this.#case
    const kept = keptHeads(c)
    let left = most
    for (let row = 0; row < c.rows; row++) {
      aborted()
      if (!isReal(c, row)) continue
      for (const rank of c.ranks) await this.#addLse(rank, row)
      if (kept === 0 || !this.#isMerged(row) || left-- <= 0) continue
      let found = false
      for (const { rank } of c.ranks) {
        const merged = await readRow(c, rank, 'merged', row)
        if (merged !== undefined && this.#note('merged', rank, row, merged, c.width, kept)) found = true
      }
      if (found) await this.#trace(row)
    }
  }

  /** The partials of a row whose merged values are no numbers. */
  async #trace(row: number): Promise<void> {
    const c = this.#case
    for (const rank of c.ranks) {
      if (!this.#hasKeys(rank, row)) continue
      for (const name of ['out_kernel', 'out'] as const) {
        const values = await readRow(c, rank.rank, name, row)
        if (values !== undefined) this.#note(name, rank.rank, row, values, c.width)
      }
    }
  }

  async #addLse(rank: RankTables, row: number): Promise<void> {
    const c = this.#case
    const own = rank.lse?.subarray(row * c.heads, (row + 1) * c.heads)
    const kernel = rank.lseKernel?.subarray(row * c.heads, (row + 1) * c.heads)
    if (own === undefined || (own.every(Number.isFinite) && kernel?.every(Number.isFinite) !== false)) return
    const isEmptySaid = isEmpty(c, rank, row)
    if (isEmptySaid ?? c.graph) return
    // Without lengths an out that is not 0 says that there are keys.
    if (isEmptySaid === undefined && (await this.#isZero(rank.rank, row))) return
    if (own.every((value) => cleanLse(value) === EMPTY_LSE)) {
      const isKernelRight = kernel?.every(Number.isFinite) === true
      // A rank that says nothing at all is a matter of rows without keys, if it may have chosen none.
      if (own.every((value) => value === EMPTY_LSE) && !isKernelRight) return
      if (!wasTold(rank) && !isKernelRight && (await this.#isZero(rank.rank, row))) return
    }
    this.#note('lse', rank.rank, row, own, 1)
    if (kernel !== undefined) this.#note('lse_kernel', rank.rank, row, kernel, 1)
  }

  async #isZero(rank: number, row: number): Promise<boolean> {
    return (await readRow(this.#case, rank, 'out', row))?.every((value) => value === 0) ?? true
  }

  /** As the lengths say; without them and a graph, which may pad, as a finite lse does. */
  #hasKeys(rank: RankTables, row: number): boolean {
    const { graph, heads } = this.#case
    const empty = isEmpty(this.#case, rank, row)
    if (empty !== undefined) return !empty
    return !graph && rank.lse?.subarray(row * heads, (row + 1) * heads).some(Number.isFinite) === true
  }

  /** Some rank has keys for the row, or nothing says that none has, and the row does not pad a graph. */
  #isMerged(row: number): boolean {
    const c = this.#case
    if (c.ranks.some((rank) => this.#hasKeys(rank, row))) return true
    const length = c.lengths?.[c.requestOf[row] ?? -1]
    if (length !== undefined) return !isSparse(c) && visibleTo(c, row, length) > 0
    return !c.graph && c.ranks.every((rank) => isEmpty(c, rank, row) === undefined)
  }

  /** Whether one of the values, `width` a head, is no number. */
  #note(
    tensor: NonFinite['tensor'],
    rank: number,
    row: number,
    values: Float64Array,
    width: number,
    kept = this.#case.heads,
  ): boolean {
    const at = values.findIndex((value) => !Number.isFinite(value))
    if (at < 0) return false
    const place = Math.floor(at / width)
    const head = tensor === 'merged' ? keptHead(this.#case, kept, rank, place) : place
    const isKnown = this.#found.some(
      (one) => one.tensor === tensor && one.rank === rank && one.row === row && one.head === head,
    )
    if (!isKnown) this.#found.push({ tensor, rank, row, head, value: values[at] ?? Number.NaN })
    return true
  }

  /** Where it began, of what nobody explains; `isExplained` is asked of each place. */
  unexplained(isExplained: (place: NonFinite) => boolean): string | undefined {
    const open = this.#found.filter((place) => !isExplained(place))
    const named = TENSORS.filter((tensor) => open.some((place) => place.tensor === tensor))
    const [first] = open
      .filter(({ tensor }) => tensor === named[0])
      .sort((a, b) => a.row - b.row || a.rank - b.rank)
    if (first === undefined) return undefined
    const rows = new Set(open.map(({ row }) => row)).size
    return (
      `NaN or infinity in ${rows} ${rows === 1 ? 'row that has' : 'rows that have'} keys (${named.join(', ')}): first in ` +
      `${first.tensor}, rank ${first.rank}, row ${first.row}, head ${first.head} (${first.value}), and no known fault explains it`
    )
  }
}
