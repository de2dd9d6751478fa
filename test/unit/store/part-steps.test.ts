import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, it } from 'vitest'
import { tableFolder } from '../../../main/store/bundle-files.ts'
import { withConnection } from '../../../main/store/duck.ts'
import { PartSteps } from '../../../main/store/part-steps.ts'
import type { PartWriter } from '../../../main/store/part-writer.ts'
import { StepTable } from '../../../main/store/step-table.ts'
import { freshParts } from './fresh-parts.ts'
import { rowChunk, type Scratch, stepChunk } from './sample.ts'

let scratch: Scratch
let duck: DuckDBInstance
let writer: PartWriter
freshParts((fresh) => {
  ;({ scratch, duck, writer } = fresh)
})

describe('the parts of a step', () => {
  it('are those of each rank that have its rows, also of parts that come later', async () => {
    const parts = new PartSteps(scratch.path, duck)
    const found = async (first: number, last: number): Promise<string[]> =>
      (await parts.between('rows', first, last)).map(({ path, rank }) => `${rank} ${basename(path)}`)
    expect(await found(0, 9)).toEqual([])
    for (const step of [0, 1, 2]) {
      for (const rank of [0, 1]) writer.add(rowChunk(rank, step, 0, 2))
      await writer.flush()
    }
    expect(await found(1, 1)).toEqual(['0 part-000002.parquet', '1 part-000002.parquet'])
    expect(await found(0, 1)).toHaveLength(4)
    writer.add(rowChunk(0, 3, 0, 2))
    await writer.flush()
    expect(await found(3, 3)).toEqual(['0 part-000004.parquet'])
    expect(await found(4, 4)).toEqual([])
  })

  it('are told with the steps about it whose rows lie in the same', async () => {
    const parts = new PartSteps(scratch.path, duck)
    const held = async (step: number): Promise<[number, number, number]> => {
      const { parts: found, steps } = await parts.holding('rows', step)
      return [found.length, steps.first, steps.last]
    }
    expect(await held(3)).toEqual([0, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY])
    // Rank 0 has steps 0 to 3 and 4 to 5, rank 1 has 0 to 2 and 3 to 5.
    for (const [rank, steps] of [
      [0, [0, 1, 2, 3]],
      [0, [4, 5]],
      [1, [0, 1, 2]],
      [1, [3, 4, 5]],
    ] as const) {
      for (const step of steps) writer.add(rowChunk(rank, step, 0, 2))
      await writer.flush()
    }
    expect(await held(0)).toEqual([2, 0, 2])
    expect(await held(2)).toEqual([2, 0, 2])
    expect(await held(3)).toEqual([2, 3, 3])
    expect(await held(4)).toEqual([2, 4, 5])
    expect(await held(9)).toEqual([0, 6, Number.POSITIVE_INFINITY])
  })

  it('are not opened again to find others', async () => {
    const parts = new PartSteps(scratch.path, duck)
    writer.add(rowChunk(0, 0, 0, 2))
    await writer.flush()
    const [known] = await parts.between('rows', 0, 0)
    writer.add(rowChunk(0, 1, 0, 2))
    await writer.flush()
    // Damaged now: who opened it would fail.
    await withConnection(duck, (connection) =>
      connection.run(`COPY (SELECT 'no step' AS text) TO '${known?.path ?? ''}' (FORMAT csv)`),
    )
    expect(await parts.between('rows', 1, 1)).toHaveLength(1)
  })
})

describe('the steps of a bundle', () => {
  const steps = async (table: StepTable, from: number, max: number): Promise<number[]> => [
    ...(await table.thinned({ from, max })).step,
  ]

  it('are thinned evenly over all parts, each of which is read once', async () => {
    const table = new StepTable(scratch.path, duck)
    expect(await table.count()).toBe(0)
    expect(await steps(table, 0, 5)).toEqual([])
    for (const from of [0, 7]) {
      writer.add(stepChunk(from, 7, (step) => step / 100))
      await writer.flush()
      expect(await table.count()).toBe(from + 7)
    }
    rmSync(join(tableFolder(scratch.path, 'steps', -1), 'part-000001.parquet'))
    writer.add(stepChunk(14, 6, (step) => step / 100))
    await writer.flush()
    expect(await table.count()).toBe(20)
    expect(await steps(table, 0, 5)).toEqual([0, 4, 8, 12, 16])
    expect(await steps(table, 5, 4)).toEqual([5, 9, 13, 17])
    expect(await steps(table, 18, 100)).toEqual([18, 19])
    expect(await steps(table, 20, 100)).toEqual([])
    const { step, maxRelErr, startNs } = await table.thinned({ from: 12, max: 3 })
    expect([...step]).toEqual([12, 15, 18])
    expect([...maxRelErr]).toEqual([0.12, 0.15, 0.18])
    expect([...startNs]).toEqual([12e6, 15e6, 18e6])
  })

  it('are in order also where a later part has earlier ones', async () => {
    const table = new StepTable(scratch.path, duck)
    for (const from of [4, 0]) {
      writer.add(stepChunk(from, 4, () => 0))
      await writer.flush()
      await table.count()
    }
    expect(await steps(table, 0, 100)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })
})
