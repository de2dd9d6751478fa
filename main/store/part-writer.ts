import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { ColumnData, TableName, TraceChunk } from '../../app/trace/tables.ts'
import { lastPart, makeFolder, partName, tableFolder, temporaryName } from './bundle-files.ts'
import { openDuck } from './duck.ts'
import { MAX_PARTITION_ROWS, writePart, writePartitions } from './staging.ts'
import { enumStatements } from './table-sql.ts'

/** Rows of a rank up to which it shares a COPY with other ranks. */
const SMALL_ROWS = 20_000
/** Parts written at once: one is encoded by DuckDB while the next is copied in. */
const LANES = 2

interface Pending {
  readonly table: TableName
  readonly rank: number
  readonly chunks: TraceChunk[]
  rows: number
}

/** What one COPY writes: one rank, or several small ones of a table. */
type Job = readonly Pending[]

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
      this.#pending.set(key, { table: chunk.table, rank: chunk.rank, chunks: [chunk], rows: chunk.rows })
    else {
      pending.chunks.push(chunk)
      pending.rows += chunk.rows
    }
    this.#bytes += chunkBytes(chunk)
  }

  /**
   * Writes what was added before the call; one flush at a time. After a failure, which loses rows, every flush
   * rejects with it: nobody may take the parts for whole.
   */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#flushNow())
    return this.#flushing
  }

  /** Resolves when no flush is under way: until then a table may have steps that another has not. */
  async flushed(): Promise<void> {
    await this.#flushing.catch(() => {
      // Whoever flushed was told.
    })
  }

  async #flushNow(): Promise<void> {
    const queue = jobsOf([...this.#pending.values()])
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

  async #write(lane: DuckDBConnection, staging: string, job: Job): Promise<void> {
    const [first, ...others] = job
    if (first === undefined) return
    if (others.length === 0) await this.#writeOne(lane, staging, first)
    else await this.#writeTogether(lane, staging, first.table, job)
    for (const { chunks } of job) this.#bytes -= chunks.reduce((sum, chunk) => sum + chunkBytes(chunk), 0)
  }

  async #writeOne(lane: DuckDBConnection, staging: string, group: Pending): Promise<void> {
    const folder = this.#folderOf(group)
    const temporary = join(folder, temporaryName(staging))
    try {
      await writePart(lane, staging, group.table, group, temporary)
      renameSync(temporary, this.#nextPart(folder))
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    }
  }

  async #writeTogether(lane: DuckDBConnection, staging: string, table: TableName, job: Job): Promise<void> {
    const temporary = join(this.#bundle, temporaryName(staging))
    // Made here, since DuckDB would also make a bundle anew that somebody removed.
    mkdirSync(temporary)
    try {
      await writePartitions(lane, staging, table, job, temporary)
      for (const group of job) {
        const written = join(temporary, `rank=${group.rank}`)
        for (const name of readdirSync(written).sort())
          renameSync(join(written, name), this.#nextPart(this.#folderOf(group)))
      }
    } finally {
      rmSync(temporary, { recursive: true, force: true })
    }
  }

  #folderOf({ table, rank }: Pending): string {
    const folder = tableFolder(this.#bundle, table, rank)
    if (!this.#partNumbers.has(folder)) makeFolder(this.#bundle, folder)
    return folder
  }

  #nextPart(folder: string): string {
    const number = (this.#partNumbers.get(folder) ?? lastPart(folder)) + 1
    this.#partNumbers.set(folder, number)
    return join(folder, partName(number))
  }

  /** Drops what is not written. */
  discard(): void {
    this.#pending = new Map()
    this.#bytes = 0
  }

  async close(): Promise<void> {
    await this.flushed()
    for (const lane of this.#lanes) lane.closeSync()
    this.#instance.closeSync()
  }
}

/** Small ranks of a table together, as long as they fit; everything else alone. */
const jobsOf = (all: readonly Pending[]): Job[] => {
  const jobs: Job[] = []
  const open = new Map<TableName, { job: Pending[]; rows: number }>()
  for (const pending of all) {
    if (pending.rank < 0 || pending.rows > SMALL_ROWS) {
      jobs.push([pending])
      continue
    }
    const last = open.get(pending.table)
    if (last !== undefined && last.rows + pending.rows <= MAX_PARTITION_ROWS) {
      last.job.push(pending)
      last.rows += pending.rows
    } else {
      const next = { job: [pending], rows: pending.rows }
      open.set(pending.table, next)
      jobs.push(next.job)
    }
  }
  return jobs
}

const chunkBytes = (chunk: TraceChunk): number =>
  Object.values(chunk.columns).reduce((sum, data) => sum + dataBytes(data), 0)

const dataBytes = (data: ColumnData): number =>
  'byteLength' in data ? data.byteLength : data.reduce((sum, text) => sum + 2 * text.length + 8, 0)
