import type { DuckDBInstance } from '@duckdb/node-api'
import { checkPart, listParts } from './bundle-files.ts'
import { numberOf, plainRows, withConnection } from './duck.ts'
import { relationOf } from './sources.ts'

/** Count and time range of the spans of a bundle. Parts never change, so each is looked at once. */
export interface SpanTotals {
  readonly spanCount: number
  /** 0 without spans. */
  readonly startNs: number
  readonly endNs: number
}

export class PartTotals {
  readonly #bundle: string
  readonly #duck: DuckDBInstance
  readonly #seen = new Set<string>()
  #count = 0
  #start = Number.POSITIVE_INFINITY
  #end = Number.NEGATIVE_INFINITY
  #busy: Promise<void> = Promise.resolve()

  constructor(bundle: string, duck: DuckDBInstance) {
    this.#bundle = bundle
    this.#duck = duck
  }

  async now(): Promise<SpanTotals> {
    const next = this.#busy.then(() => this.#addNew())
    this.#busy = next.catch(() => {})
    await next
    return this.#count === 0
      ? { spanCount: 0, startNs: 0, endNs: 0 }
      : { spanCount: this.#count, startNs: this.#start, endNs: this.#end }
  }

  async #addNew(): Promise<void> {
    const fresh = listParts(this.#bundle, 'spans').filter((part) => !this.#seen.has(part.path))
    if (fresh.length === 0) return
    for (const part of fresh) checkPart(part.path)
    const [row] = await withConnection(this.#duck, (connection) =>
      plainRows(
        connection,
        `SELECT count(*) AS n, min(start_ns) AS first, max(start_ns + dur_ns) AS last
         FROM ${relationOf('spans', fresh)}`,
      ),
    )
    for (const part of fresh) this.#seen.add(part.path)
    this.#count += numberOf(row, 'n')
    this.#start = Math.min(this.#start, numberOf(row, 'first', this.#start))
    this.#end = Math.max(this.#end, numberOf(row, 'last', this.#end))
  }
}
