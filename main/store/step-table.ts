import type { DuckDBInstance } from '@duckdb/node-api'
import type { StoreParams, StoreResult } from '../../app/protocol/store.ts'
import { listParts, type Part } from './bundle-files.ts'
import { type ColumnSet, readColumns, withConnection } from './duck.ts'
import { relationOf } from './sources.ts'

/** Rows of parts that were read together, in order of step. */
interface Piece {
  readonly columns: ColumnSet
  readonly step: Int32Array
  /** Place of its first row among all. */
  readonly from: number
}

/** The table `steps` of a bundle in memory, about 70 bytes a step. Parts never change, so each is read once. */
export class StepTable {
  readonly #bundle: string
  readonly #duck: DuckDBInstance
  readonly #read = new Set<string>()
  #pieces: Piece[] = []
  #busy: Promise<void> = Promise.resolve()

  constructor(bundle: string, duck: DuckDBInstance) {
    this.#bundle = bundle
    this.#duck = duck
  }

  /** Traced steps up to the parts that are closed now. */
  async count(): Promise<number> {
    await this.#grow()
    return this.#length
  }

  /** See `steps` in app/protocol/store.ts. */
  async thinned({ from, max }: Omit<StoreParams<'steps'>, 'run'>): Promise<StoreResult<'steps'>> {
    await this.#grow()
    const first = this.#placeOf(from)
    const rows = this.#length - first
    // Of the rows those that are the first of one of `max` equal parts.
    const places = Array.from({ length: Math.min(rows, max) }, (_, part) =>
      rows <= max ? first + part : first + Math.ceil((part * rows) / max),
    )
    return this.#picked(places)
  }

  get #length(): number {
    const last = this.#pieces.at(-1)
    return last === undefined ? 0 : last.from + last.step.length
  }

  async #grow(): Promise<void> {
    const next = this.#busy.then(() => this.#readNew())
    this.#busy = next.catch(() => {})
    await next
  }

  async #readNew(): Promise<void> {
    const parts = listParts(this.#bundle, 'steps')
    const fresh = parts.filter(({ path }) => !this.#read.has(path))
    if (fresh.length === 0) return
    const piece = await this.#load(fresh, this.#length)
    const before = this.#pieces.at(-1)?.step.at(-1) ?? -1
    if ((piece.step[0] ?? before + 1) > before) this.#pieces.push(piece)
    // Not written in order: all of it anew, which is.
    else this.#pieces = [await this.#load(parts, 0)]
    for (const { path } of fresh) this.#read.add(path)
  }

  async #load(parts: readonly Part[], from: number): Promise<Piece> {
    const columns = await withConnection(this.#duck, (connection) =>
      readColumns(
        connection,
        `SELECT step::INTEGER AS step, start_ns::DOUBLE AS start_ns, wall_ns::DOUBLE AS wall_ns,
           device_ns::DOUBLE AS device_ns,
           coalesce(untraced_ns, 'nan'::DOUBLE)::DOUBLE AS untraced_ns,
           coalesce(tokens_per_s, 0)::DOUBLE AS tokens_per_s,
           coalesce(max_rel_err, 'nan'::DOUBLE)::DOUBLE AS max_rel_err, checked_rows::INTEGER AS checked_rows,
           coalesce(draft_proposed, -1)::INTEGER AS draft_proposed,
           coalesce(draft_accepted, -1)::INTEGER AS draft_accepted,
           graph_replayed::UTINYINT AS graph_replayed, coalesce(kernel_trace, false)::UTINYINT AS kernel_trace,
           enum_code(provenance::provenance)::UTINYINT AS source
         FROM ${relationOf('steps', parts)} ORDER BY step`,
      ),
    )
    return { columns, step: columns.i32('step'), from }
  }

  /** Place of the first row of a step from `step` on. */
  #placeOf(step: number): number {
    const piece = this.#pieces.find((one) => (one.step.at(-1) ?? -1) >= step)
    return piece === undefined ? this.#length : piece.from + piece.step.findIndex((one) => one >= step)
  }

  #picked(places: readonly number[]): StoreResult<'steps'> {
    const fill = <A extends Int32Array | Float64Array | Uint8Array>(
      to: A,
      of: (columns: ColumnSet) => A,
    ): A => {
      let next = 0
      for (const { columns, from, step } of this.#pieces) {
        if ((places[next] ?? Number.POSITIVE_INFINITY) >= from + step.length) continue
        const column = of(columns)
        for (let at = places[next]; at !== undefined && at < from + step.length; at = places[++next])
          to[next] = column[at - from] ?? 0
      }
      return to
    }
    const n = places.length
    const i32 = (name: string) => fill(new Int32Array(n), (columns) => columns.i32(name))
    const f64 = (name: string) => fill(new Float64Array(n), (columns) => columns.f64(name))
    const u8 = (name: string) => fill(new Uint8Array(n), (columns) => columns.u8(name))
    return {
      step: i32('step'),
      startNs: f64('start_ns'),
      wallNs: f64('wall_ns'),
      deviceNs: f64('device_ns'),
      untracedNs: f64('untraced_ns'),
      tokensPerSecond: f64('tokens_per_s'),
      maxRelErr: f64('max_rel_err'),
      checkedRows: i32('checked_rows'),
      draftProposed: i32('draft_proposed'),
      draftAccepted: i32('draft_accepted'),
      graphReplayed: u8('graph_replayed'),
      kernelTrace: u8('kernel_trace'),
      provenance: u8('source'),
    }
  }
}
