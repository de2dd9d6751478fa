import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tableFolder } from '../../../main/store/bundle-files.ts'
import { cellsAt } from '../../../main/store/cell-block.ts'
import type { PartWriter } from '../../../main/store/part-writer.ts'
import { RunBundle } from '../../../main/store/run-bundle.ts'
import { blockOf } from '../../../main/store/step-blocks.ts'
import { freshParts } from './fresh-parts.ts'
import { pageChunk, rowChunk, type Scratch, sampleManifest } from './sample.ts'

let scratch: Scratch
let writer: PartWriter
let bundle: RunBundle
freshParts(({ scratch: folder, duck, writer: parts }) => {
  scratch = folder
  writer = parts
  bundle = new RunBundle('run', folder.path, duck, () => sampleManifest())
})

describe('the steps of a block', () => {
  const ALL = { first: 0, last: Number.POSITIVE_INFINITY }

  it('are as many as their rows allow', () => {
    expect(blockOf(0, ALL, 16)).toEqual({ first: 0, last: 1023 })
    expect(blockOf(1024, ALL, 16)).toEqual({ first: 1024, last: 2047 })
    expect(blockOf(7, ALL, 20_000)).toEqual({ first: 7, last: 7 })
    expect(blockOf(50_000, ALL, 0.25)).toEqual({ first: 0, last: 65_535 })
  })

  it('lie in the given ones, hold the one that is asked for, and are the same for each of them', () => {
    const ends = fc.record({ first: fc.nat(100), more: fc.nat(100), at: fc.nat(100) })
    fc.assert(
      fc.property(ends, fc.integer({ min: 100, max: 20_000 }), ({ first, more, at }, rowsPerStep) => {
        const within = { first, last: first + more }
        const block = blockOf(first + (at % (more + 1)), within, rowsPerStep)
        expect(block.first).toBeGreaterThanOrEqual(within.first)
        expect(block.last).toBeLessThanOrEqual(within.last)
        expect(block.first).toBeLessThanOrEqual(first + (at % (more + 1)))
        expect(block.last).toBeGreaterThanOrEqual(first + (at % (more + 1)))
        for (let step = block.first; step <= block.last; step++)
          expect(blockOf(step, within, rowsPerStep)).toEqual(block)
      }),
    )
  })
})

describe('rows of a step', () => {
  const ranksAt = async (step: number): Promise<number[]> => [
    ...(await bundle.methods.rows({ step, layer: 0 })).rank,
  ]

  it('are its own only, in columns that hold no others', async () => {
    for (const step of [0, 1, 2]) for (const rank of [0, 1]) writer.add(rowChunk(rank, step, 0, step + 1))
    writer.add(rowChunk(0, 1, 1, 5))
    await writer.flush()
    expect(await ranksAt(0)).toEqual([0, 1])
    expect(await ranksAt(2)).toEqual([0, 0, 0, 1, 1, 1])
    const { request, visibleKeys } = await bundle.methods.rows({ step: 1, layer: 0 })
    expect([...request]).toEqual([0, 1, 0, 1])
    expect([...visibleKeys]).toEqual([0, 50, 0, 50])
    expect(request.buffer.byteLength).toBe(4 * 4)
    expect(await ranksAt(3)).toEqual([])
  })

  it('are there as soon as their part is, also where their neighbours were read before', async () => {
    writer.add(rowChunk(0, 0, 0, 1))
    await writer.flush()
    expect(await ranksAt(1)).toEqual([])
    writer.add(rowChunk(0, 1, 0, 1))
    await writer.flush()
    expect(await ranksAt(1)).toEqual([0])
    writer.add(rowChunk(1, 1, 0, 1))
    await writer.flush()
    expect(await ranksAt(1)).toEqual([0, 1])
  })

  it('are read although a part of the step beside them is damaged', async () => {
    for (const step of [0, 1, 2]) {
      writer.add(rowChunk(0, step, 0, 1))
      await writer.flush()
    }
    await ranksAt(5000)
    writeFileSync(join(tableFolder(scratch.path, 'rows', 0), 'part-000001.parquet'), 'no part')
    expect(await ranksAt(1)).toEqual([0])
    expect(await ranksAt(2)).toEqual([0])
    await expect(ranksAt(0)).rejects.toThrow()
  })

  it('are those of the step, however one came to it', async () => {
    for (const step of [0, 1, 2, 3, 70, 71]) writer.add(rowChunk(step % 2, step, 0, step + 1))
    await writer.flush()
    for (const step of [70, 71, 0, 1, 3, 2, 70, 69, 71, 72, 3])
      expect(await ranksAt(step), `step ${step}`).toEqual(
        [0, 1, 2, 3, 70, 71].includes(step) ? new Array(step + 1).fill(step % 2) : [],
      )
  })

  it('are not read for one who does not wait any more', async () => {
    writer.add(rowChunk(0, 0, 0, 1))
    await writer.flush()
    const gone = AbortSignal.abort(new Error('gone'))
    await expect(bundle.methods.rows({ step: 0, layer: 0 }, gone)).rejects.toThrow('gone')
    expect(await ranksAt(0)).toEqual([0])
  })
})

describe('block tables at a step', () => {
  const pagesAt = async (step: number, request = 0): Promise<number[]> => [
    ...(await bundle.methods.blockTable({ step, request })).pages,
  ]

  it('are what was recorded up to it, over the borders of blocks', async () => {
    for (const [step, column, page] of [
      [0, 0, 7],
      [0, 2, 9],
      [70, 1, 3],
      [71, 0, 4],
      [200, 4, 5],
    ] as const) {
      writer.add(pageChunk(0, [{ step, request: 0, column, page }]))
      writer.add(pageChunk(1, [{ step, request: 0, column, page }]))
      writer.add(pageChunk(0, [{ step, request: 1, column, page: 100 + page }]))
      await writer.flush()
    }
    expect(await pagesAt(0)).toEqual([7, -1, 9])
    expect(await pagesAt(69)).toEqual([7, -1, 9])
    expect(await pagesAt(70)).toEqual([7, 3, 9])
    expect(await pagesAt(71)).toEqual([4, 3, 9])
    expect(await pagesAt(70)).toEqual([7, 3, 9])
    expect(await pagesAt(9999)).toEqual([4, 3, 9, -1, 5])
    expect(await pagesAt(71, 1)).toEqual([104, 103, 109])
    expect(await pagesAt(71, 2)).toEqual([])
  })

  it('are read although a part of later steps is damaged', async () => {
    for (const step of [0, 1]) {
      writer.add(pageChunk(0, [{ step, request: 0, column: step, page: 7 + step }]))
      await writer.flush()
    }
    expect(await pagesAt(1)).toEqual([7, 8])
    writer.add(pageChunk(0, [{ step: 2, request: 0, column: 2, page: 9 }]))
    await writer.flush()
    await bundle.methods.blockTable({ step: 9, request: 5 })
    writeFileSync(join(tableFolder(scratch.path, 'pages', 0), 'part-000003.parquet'), 'no part')
    expect(await pagesAt(1)).toEqual([7, 8])
    await expect(pagesAt(2)).rejects.toThrow()
  })
})

it('cells at a step are those of going through every record in order', () => {
  const record = fc.record({
    step: fc.integer({ min: 0, max: 9 }),
    request: fc.integer({ min: 0, max: 2 }),
    column: fc.integer({ min: 0, max: 3 }),
    page: fc.integer({ min: 0, max: 99 }),
    valid: fc.integer({ min: 1, max: 16 }),
  })
  type Recorded = {
    step: number
    request: number
    column: number
    page: number
    valid: number
    taken: number
  }
  const byCell = (a: Recorded, b: Recorded): number => a.request - b.request || a.column - b.column
  /** The last record of each cell up to a step, with the first step of it. */
  const upTo = (records: readonly Omit<Recorded, 'taken'>[], step: number): Recorded[] => {
    const cells = new Map<string, Recorded>()
    for (const one of records.filter((each) => each.step <= step).sort((a, b) => a.step - b.step)) {
      const key = `${one.request} ${one.column}`
      cells.set(key, { ...one, taken: cells.get(key)?.taken ?? one.step })
    }
    return [...cells.values()].sort(byCell)
  }
  const columns = (cells: readonly Recorded[]) => ({
    request: Int32Array.from(cells, (c) => c.request),
    column: Int32Array.from(cells, (c) => c.column),
    page: Int32Array.from(cells, (c) => c.page),
    valid: Int32Array.from(cells, (c) => c.valid),
    taken: Int32Array.from(cells, (c) => c.taken),
  })
  fc.assert(
    fc.property(
      fc.uniqueArray(record, { selector: (r) => `${r.step} ${r.request} ${r.column}`, maxLength: 40 }),
      fc.integer({ min: 0, max: 9 }),
      fc.integer({ min: 0, max: 9 }),
      (records, first, ahead) => {
        const changed = records
          .filter((r) => r.step >= first)
          .map((r) => ({ ...r, taken: 0 }))
          .sort((a, b) => byCell(a, b) || a.step - b.step)
        const { taken: _, ...changes } = columns(changed)
        const block = {
          before: columns(upTo(records, first - 1)),
          changes: { ...changes, step: Int32Array.from(changed, (c) => c.step) },
        }
        const step = Math.min(9, first + ahead)
        expect(cellsAt(block, step)).toEqual(columns(upTo(records, step)))
      },
    ),
  )
})
