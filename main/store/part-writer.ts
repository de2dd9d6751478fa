import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { ColumnData, TableName, TraceChunk } from '../../app/trace/tables.ts'
import { makeFolder, partName, tableFolder, temporaryName } from './bundle-files.ts'
import { openDuck } from './duck.ts'
import { writePart } from './staging.ts'
import { enumStatements } from './table-sql.ts'

/** Parts written at once: one is encoded by DuckDB while the next is copied in. */
const LANES = 2

interface Pending {
  readonly table: TableName
  readonly rank: number
  readonly chunks: TraceChunk[]
}

/** Gathers chunks by table and rank and writes them as Parquet parts. */
export class PartWriter {
  readonly #bundle: string
  readonly #instance: DuckDBInstance
  readonly #lanes: DuckDBConnection[]
  readonly #partNumbers = new Map<string, number>()
  #pending = new Map<string, Pending>()
  #bytes = 0
  #flushing: Promise<void> = Promise.resolve()

  private constructor(bundle: string, instance: DuckDBInstance, lanes: DuckDBConnection[]) {
    this.#bundle = bundle
    this.#instance = instance
    this.#lanes = lanes
  }

  static async open(bundle: string): Promise<PartWriter> {
    const instance = await openDuck()
    const lanes = await Promise.all(Array.from({ length: LANES }, () => instance.connect()))
    for (const statement of enumStatements()) await lanes[0]?.run(statement)
    return new PartWriter(bundle, instance, lanes)
  }

  /** Bytes that are not yet in closed parts. */
  get bufferedBytes(): number {
    return this.#bytes
  }

  add(chunk: TraceChunk): void {
    if (chunk.rows === 0) return
    const key = `${chunk.table}/${chunk.rank}`
    const pending = this.#pending.get(key)
    if (pending === undefined)
      this.#pending.set(key, { table: chunk.table, rank: chunk.rank, chunks: [chunk] })
    else pending.chunks.push(chunk)
    this.#bytes += chunkBytes(chunk)
  }

  /** Writes what was added before the call; one flush at a time. Rejects with the first failure. */
  flush(): Promise<void> {
    const next = this.#flushing.then(() => this.#flushNow())
    this.#flushing = next.catch(() => {})
    return next
  }

  async #flushNow(): Promise<void> {
    const queue = [...this.#pending.values()]
    this.#pending = new Map()
    const drain = async (lane: DuckDBConnection, name: string): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift())
        try {
          await this.#write(lane, name, next)
        } catch (error) {
          queue.length = 0
          throw error
        }
    }
    const ends = await Promise.allSettled(this.#lanes.map((lane, i) => drain(lane, `staging_${i}`)))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  async #write(lane: DuckDBConnection, staging: string, { table, rank, chunks }: Pending): Promise<void> {
    const folder = tableFolder(this.#bundle, table, rank)
    const number = (this.#partNumbers.get(folder) ?? 0) + 1
    const temporary = join(folder, temporaryName(partName(number)))
    if (number === 1) makeFolder(this.#bundle, folder)
    try {
      await writePart(lane, staging, table, chunks, temporary)
      renameSync(temporary, join(folder, partName(number)))
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    }
    this.#partNumbers.set(folder, number)
    this.#bytes -= chunks.reduce((sum, chunk) => sum + chunkBytes(chunk), 0)
  }

  /** Drops what is not written. */
  discard(): void {
    this.#pending = new Map()
    this.#bytes = 0
  }

  async close(): Promise<void> {
    await this.#flushing
    for (const lane of this.#lanes) lane.closeSync()
    this.#instance.closeSync()
  }
}

export const chunkBytes = (chunk: TraceChunk): number =>
  Object.values(chunk.columns).reduce((sum, data) => sum + dataBytes(data), 0)

const dataBytes = (data: ColumnData): number =>
  'byteLength' in data ? data.byteLength : data.reduce((sum, text) => sum + 2 * text.length + 8, 0)
