import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DS_MLA_BYTES, DS_MLA_VALUES } from '../../../app/dump/ds-mla.ts'
import { gridOf, gridValues, type TensorGrid } from '../../../app/dump/grid.ts'
import { TensorReader } from '../../../app/dump/reader.ts'
import { rowNames } from '../../../app/dump/rows.ts'
import {
  MAP_CELLS,
  type Measure,
  rowStepOf,
  SAMPLE_VALUES,
  tensorHistogram,
  tensorMap,
  vectorPlace,
  type Work,
} from '../../../app/dump/survey.ts'
import { dumpSource, type Given, ints, type Tensors } from './dump-file.ts'

const IDLE: Work = { aborted: () => {}, progress: () => {} }

const open = (tensors: Tensors) => TensorReader.open(dumpSource('a', tensors))

const gridIn = (reader: TensorReader, name: string): TensorGrid => {
  const grid = gridOf(reader.tensor(name))
  if (grid === undefined) throw new Error(`${name} is not of the format`)
  return grid
}

const mapOf = async (name: string, given: Given, measure: Measure) => {
  const reader = await open({ [name]: given })
  return tensorMap(reader, name, gridIn(reader, name), measure, false, IDLE)
}

describe('the cells of a tensor', () => {
  it('are rows and heads of partials, requests and columns of tables, pages and slots of caches', () => {
    const grid = (name: string, shape: number[], dtype = 'F32') => gridOf({ name, dtype, shape })
    expect(grid('out', [3, 4, 8])).toEqual({
      rows: 3,
      columns: 4,
      width: 8,
      rowName: 'row',
      columnName: 'head',
    })
    expect(grid('merged', [3, 2, 8])).toMatchObject({ columns: 2, columnName: 'head' })
    expect(grid('block_table', [2, 9], 'I32')).toMatchObject({
      rowName: 'request',
      columnName: 'column',
      width: 1,
    })
    expect(grid('slot_mapping', [5], 'I32')).toMatchObject({ rows: 5, columns: 1, rowName: 'row' })
    expect(grid('kv', [7, 64, DS_MLA_BYTES], 'U8')).toMatchObject({
      width: DS_MLA_VALUES,
      columnName: 'slot',
    })
    expect(grid('kv_k', [7, 16, 2, 64])).toMatchObject({ columns: 16, width: 128 })
    expect(grid('something_else', [3])).toBeUndefined()
  })

  it('of a cache have the values that its codes and scale stand for, wherever one begins to read', async () => {
    const bytes = Array.from({ length: 2 * 2 * DS_MLA_BYTES }, (_, i) => (i * 37) % 97)
    const reader = await open({
      kv: { shape: [2, 2, DS_MLA_BYTES], dtype: 'U8', values: bytes },
      kv_k: { shape: [1, 2, 1, 2], dtype: 'F8_E4M3', values: [0x38, 0x40, 0x44, 0xb8] },
      kv_scale: { shape: [1], values: [2] },
    })
    const all = await reader.tokens('kv', 0, 4)
    expect(await gridValues(reader, 'kv', 700, 900)).toEqual(all.subarray(700, 1600))
    expect([...(await gridValues(reader, 'kv_k', 1, 3))]).toEqual([4, 6, -2])
  })
})

describe('a map', () => {
  const values = [1, -2, 3, -4, 0, 0, Number.NaN, 1, 5, Number.POSITIVE_INFINITY, 6, 8]
  const out: Given = { shape: [2, 3, 2], values }

  it('has largest size, norm, or the count of what is no number, of every cell', async () => {
    expect([...(await mapOf('out', out, 'absmax')).cells]).toEqual([
      2,
      4,
      0,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      8,
    ])
    expect([...(await mapOf('out', out, 'norm')).cells]).toEqual(
      [Math.sqrt(5), 5, 0, Number.NaN, Number.POSITIVE_INFINITY, 10].map(Math.fround),
    )
    expect([...(await mapOf('out', out, 'nan')).cells]).toEqual([0, 0, 0, 1, 1, 0])
  })

  it('counts what it has read', async () => {
    expect((await mapOf('out', out, 'absmax')).counts).toMatchObject({
      values: 12,
      nan: 1,
      plusInf: 1,
      minusInf: 0,
      zero: 2,
      least: -4,
      most: 8,
    })
  })

  it('has the values of tensors of one value a cell, infinite ones too', async () => {
    const lse: Given = { shape: [2, 2], values: [1.5, Number.NEGATIVE_INFINITY, -3, 0] }
    expect([...(await mapOf('lse', lse, 'value')).cells]).toEqual([1.5, Number.NEGATIVE_INFINITY, -3, 0])
    expect([...(await mapOf('seq_lens_local', ints([7, 9]), 'value')).cells]).toEqual([7, 9])
  })

  it('of very many cells is coarse, and hides neither NaN nor the largest', async () => {
    const [rows, columns] = [1000, 300]
    const cells = Array<number>(rows * columns).fill(1)
    cells[777 * columns + 123] = Number.NaN
    cells[12 * columns + 7] = -50
    const map = await mapOf('lse', { shape: [rows, columns], values: cells }, 'value')
    expect(map.mapRows * map.mapColumns).toBeLessThanOrEqual(MAP_CELLS)
    const at = (row: number, column: number) =>
      map.cells[Math.floor(row / map.rowsPerCell) * map.mapColumns + Math.floor(column / map.columnsPerCell)]
    expect(map.rowsPerCell).toBeGreaterThan(1)
    expect(at(777, 123)).toBeNaN()
    expect(at(12, 7)).toBe(-50)
    expect(at(500, 7)).toBe(1)
  })

  it('of a large tensor is of a sample of rows unless all is asked for', () => {
    const grid = { rows: 4096, columns: 128, width: 512, rowName: 'row', columnName: 'head' }
    const step = rowStepOf(grid, false)
    expect(step).toBe((4096 * 128 * 512) / SAMPLE_VALUES)
    expect(rowStepOf(grid, true)).toBe(1)
    expect(rowStepOf({ ...grid, rows: 2 }, false)).toBe(1)
  })

  it('stops when nobody wants it, and says how far it is', async () => {
    const reader = await open({ out: { shape: [600, 2, 512] } })
    const told: [number, number][] = []
    const work: Work = {
      aborted: () => {
        if (told.length === 2) throw new Error('not wanted')
      },
      progress: (done, total) => told.push([done, total]),
    }
    await expect(tensorMap(reader, 'out', gridIn(reader, 'out'), 'norm', true, work)).rejects.toThrow(
      'not wanted',
    )
    expect(told[0]?.[1]).toBe(600 * 2 * 512)
    expect(told[1]?.[0]).toBeGreaterThan(told[0]?.[0] ?? Number.NaN)
  })

  it('is the same however the tensor is cut into pieces', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(
          fc.integer({ min: 1, max: 6 }),
          fc.integer({ min: 1, max: 5 }),
          fc.integer({ min: 2, max: 7 }),
        ),
        async ([rows, columns, width]) => {
          const all = Array.from({ length: rows * columns * width }, (_, i) => ((i * 7919) % 23) - 11)
          const map = await mapOf('out', { shape: [rows, columns, width], values: all }, 'absmax')
          const want = Array.from({ length: rows * columns }, (_, i) =>
            Math.max(...all.slice(i * width, (i + 1) * width).map(Math.abs)),
          )
          expect([...map.cells]).toEqual(want)
        },
      ),
      { numRuns: 30 },
    )
  })
})

describe('a histogram', () => {
  const histogram = async (given: Given, name = 'lse') => {
    const reader = await open({ [name]: given })
    return tensorHistogram(reader, name, gridIn(reader, name), false, IDLE)
  }
  const sum = (counts: Float64Array): number => counts.reduce((all, count) => all + count, 0)

  it('counts every finite value but 0 once in each form', async () => {
    const values = [0, 1, 1.5, 2, -4, 7.5, Number.NaN, Number.NEGATIVE_INFINITY]
    const { counts, linear, negative, positive, leastExponent } = await histogram({ shape: [2, 4], values })
    expect(counts).toMatchObject({ values: 8, nan: 1, minusInf: 1, zero: 1, least: -4, most: 7.5 })
    expect(sum(linear)).toBe(5)
    expect(linear[0]).toBe(1)
    expect(linear.at(-1)).toBe(1)
    expect(leastExponent).toBe(0)
    expect([...positive]).toEqual([2, 1, 1])
    expect([...negative]).toEqual([0, 0, 1])
  })

  it('of few integers has a bar for each', async () => {
    const { linear, counts } = await histogram(ints([3, 5, 5, 9]), 'seq_lens_local')
    expect([counts.least, counts.most]).toEqual([3, 9])
    expect([...linear]).toEqual([1, 0, 2, 0, 0, 0, 1])
  })

  it('of one value, or of none that is finite, is no fault', async () => {
    expect([...(await histogram({ shape: [2, 1], values: [2, 2] })).linear]).toEqual([2])
    const none = await histogram({ shape: [1, 1], values: [Number.NEGATIVE_INFINITY] })
    expect([none.linear.length, none.positive.length, none.counts.least]).toEqual([0, 0, Number.NaN])
  })
})

it('the values of a cell are its own, or those of its row, or all', () => {
  const grid = { rows: 3, columns: 4, width: 8, rowName: 'row', columnName: 'head' }
  expect(vectorPlace(grid, 2, 1)).toEqual({ start: 72, total: 8, each: 'value' })
  expect(vectorPlace({ ...grid, width: 1 }, 2, 1)).toEqual({ start: 8, total: 4, each: 'head' })
  expect(vectorPlace({ ...grid, width: 1, columns: 1 }, 2, 0)).toEqual({ start: 0, total: 3, each: 'row' })
})

describe('rows are named', () => {
  it('by equal query lengths', () => {
    const { request, qIndex } = rowNames(5, 2, undefined)
    expect([...request]).toEqual([0, 0, 1, 1, 2])
    expect([...qIndex]).toEqual([0, 1, 0, 1, 0])
  })

  it('by the first row of each request, padding behind the last', () => {
    const { request, qIndex } = rowNames(7, 1, [0, 2, 2, 5])
    expect([...request]).toEqual([0, 0, 2, 2, 2, 3, 4])
    expect([...qIndex]).toEqual([0, 1, 0, 1, 2, 0, 0])
  })
})
