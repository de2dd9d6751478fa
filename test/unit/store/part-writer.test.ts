import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listParts } from '../../../main/store/bundle-files.ts'
import { PartWriter } from '../../../main/store/part-writer.ts'
import { evenSpans, rowChunk, scratchFolder, spanChunk, stepChunk } from './sample.ts'

let scratch: ReturnType<typeof scratchFolder>
let parts: PartWriter
beforeEach(async () => {
  scratch = scratchFolder()
  parts = await PartWriter.open(scratch.path)
})
afterEach(async () => {
  await parts.close()
  scratch.remove()
})

const query = async (sql: string): Promise<unknown[]> => {
  const duck = await DuckDBInstance.create(':memory:')
  const connection = await duck.connect()
  return (await connection.runAndReadAll(sql)).getRowsJson()
}

const RANKS = Array.from({ length: 64 }, (_, rank) => rank)

describe('parts', () => {
  it('of 64 ranks, small and large, hold the rows of their rank in order of time', async () => {
    const size = (rank: number): number => (rank % 16 === 0 ? 40_000 : 700 + rank)
    for (const rank of RANKS) {
      const spans = evenSpans(size(rank))
      // Every fourth rank's chunks come in the wrong order.
      const halves = [spans.slice(0, 300), spans.slice(300)]
      for (const half of rank % 4 === 0 ? halves.reverse() : halves) parts.add(spanChunk(rank, half))
      parts.add(rowChunk(rank, 0, 0, 3))
    }
    parts.add(stepChunk(0, 10, () => 0))
    await parts.flush()
    expect(parts.bufferedBytes).toBe(0)
    expect(listParts(scratch.path, 'spans').map((p) => p.rank)).toEqual(RANKS)
    expect(listParts(scratch.path, 'rows')).toHaveLength(64)
    expect(readdirSync(scratch.path).sort()).toEqual(['rows', 'spans', 'steps'])
    const rows = await query(
      `SELECT rank, count(*)::INTEGER, sum(bytes)::INTEGER, bool_and(coalesce(start_ns > before, true)) FROM (
         SELECT rank, bytes, start_ns, lag(start_ns) OVER (PARTITION BY rank ORDER BY file_row_number) AS before
         FROM read_parquet('${scratch.path}/spans/*/*.parquet', file_row_number = true, hive_partitioning = true)
       ) GROUP BY rank ORDER BY rank::INTEGER`,
    )
    expect(rows).toEqual(RANKS.map((rank) => [String(rank), size(rank), size(rank) * 100, true]))
  }, 30_000)

  it('are numbered in the order of flushes', async () => {
    for (let flush = 0; flush < 3; flush++) {
      for (const rank of [0, 1]) parts.add(spanChunk(rank, [{ start: flush, dur: 1 }]))
      await parts.flush()
    }
    const files = listParts(scratch.path, 'spans').filter((p) => p.rank === 1)
    expect(files.map((p) => p.path.slice(-11))).toEqual(['001.parquet', '002.parquet', '003.parquet'])
    expect(await query(`SELECT start_ns FROM '${files[2]?.path}'`)).toEqual([['2']])
  })

  it('are not written for nothing', async () => {
    parts.add(spanChunk(0, []))
    await parts.flush()
    expect(readdirSync(scratch.path)).toEqual([])
  })

  it('that could not be written are not forgotten by a later flush', async () => {
    parts.add(spanChunk(0, evenSpans(10)))
    rmSync(scratch.path, { recursive: true })
    const first = parts.flush()
    await expect(first).rejects.toThrow(/ENOENT/)
    mkdirSync(scratch.path)
    parts.add(spanChunk(0, evenSpans(10)))
    await expect(parts.flush()).rejects.toThrow(/ENOENT/)
  })

  it('never make a removed bundle anew', async () => {
    const add = (): void => {
      for (const rank of [0, 1]) parts.add(spanChunk(rank, evenSpans(10)))
    }
    add()
    await parts.flush()
    rmSync(scratch.path, { recursive: true })
    add()
    await expect(parts.flush()).rejects.toThrow(/ENOENT/)
    expect(() => readdirSync(scratch.path)).toThrow(/ENOENT/)
    mkdirSync(join(scratch.path))
  })
})
