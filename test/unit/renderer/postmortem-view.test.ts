import { describe, expect, test } from 'vitest'
import type { DumpFile } from '../../../app/protocol/store.ts'
import { valueRange } from '../../../renderer/drawing/draw-series.ts'
import { formatValue } from '../../../renderer/drawing/format.ts'
import { chosenGroup } from '../../../renderer/state/dump-group.ts'
import { barAt, linearBars, octaveBars } from '../../../renderer/views/postmortem/histogram.ts'
import {
  cellAt,
  coarseText,
  mapValue,
  ordinal,
  panelBoxes,
  pictureOf,
  type TensorMap,
} from '../../../renderer/views/postmortem/map-layout.ts'
import { mapScale, placeOn } from '../../../renderer/views/postmortem/map-scale.ts'
import {
  cellOf,
  cellText,
  chosenMeasure,
  chosenTensor,
  type DumpGroup,
  isElsewhere,
  measuresOf,
  movedCell,
  neighbour,
  pickOf,
  rankParts,
  tensorNames,
  tensorRows,
} from '../../../renderer/views/postmortem/model.ts'
import { partAt } from '../../../renderer/views/postmortem/PartTabs.tsx'
import { valuesText } from '../../../renderer/views/postmortem/Values.tsx'

test('arrows, Home and End lead from one part of a dump to another, without going round', () => {
  expect(['ArrowRight', 'ArrowLeft', 'Home', 'End'].map((code) => partAt('tensors', code))).toEqual([
    'contents',
    'findings',
    'findings',
    'contents',
  ])
  expect([partAt('findings', 'ArrowLeft'), partAt('contents', 'ArrowRight')]).toEqual([
    'findings',
    'contents',
  ])
  expect(partAt('findings', 'KeyM')).toBeUndefined()
})

const file = (rank: number | 'reference', dtype = 'BF16', kept = 2): DumpFile => ({
  rank,
  file: `${rank}.safetensors`,
  bytes: 1,
  metadata: [],
  tensors: [
    { name: 'extra', dtype: 'F32', shape: [1] },
    { name: 'lse', dtype, shape: [4, 4] },
    { name: 'out', dtype, shape: [4, 4, 8] },
    { name: 'merged', dtype, shape: [4, kept, 8] },
    { name: 'block_table', dtype: 'I32', shape: [2, 5] },
  ],
  moreTensors: 0,
  firstKeptHead: rank === 'reference' ? 0 : rank * kept,
})

const GROUP: DumpGroup = {
  dcpSize: 2,
  files: [file(0), file(1), { ...file('reference', 'F64', 4), firstKeptHead: 0 }],
  missing: new Int32Array(),
  questions: [],
  rows: 4,
  heads: 4,
  request: Int32Array.of(0, 0, 1, 1),
  qIndex: Int32Array.of(0, 1, 0, 1),
  globalLens: Float64Array.of(9, 20),
  interleave: 1,
  pageSize: 4,
}

const part = (tensor: string, at: number) => {
  const found = rankParts(GROUP.files, tensor)[at]
  if (found === undefined) throw new Error(`no ${tensor}`)
  return found
}

const NONE = { request: null, qIndex: null, head: null }
const ORIGIN = { row: 0, column: 0 }

describe('the shown step and layer', () => {
  const groups = [
    { step: 2, layer: 0 },
    { step: 2, layer: 3 },
    { step: 9, layer: 1 },
  ]
  test('is the selected one, or the nearest, or the newest', () => {
    expect(chosenGroup(groups, 2, 3)).toBe(groups[1])
    expect(chosenGroup(groups, 2, null)).toBe(groups[0])
    expect(chosenGroup(groups, null, null)).toBe(groups[2])
    expect(chosenGroup(groups, 4, 0)).toBe(groups[0])
    expect(chosenGroup([], 1, 1)).toBeNull()
  })
  test('says when it is not the selected one', () => {
    expect(isElsewhere({ step: 2, layer: 3 }, { step: 2, layer: null })).toBe(false)
    expect(isElsewhere({ step: 2, layer: 3 }, { step: 2, layer: 0 })).toBe(true)
    expect(isElsewhere({ step: 2, layer: 3 }, { step: null, layer: null })).toBe(false)
  })
})

describe('the tensors of a group', () => {
  const rows = tensorRows(GROUP.files)
  test('stand in the order of the format, a line a shape, the reference with those of its shape', () => {
    expect(rows.map(({ name, ranks }) => [name, ranks])).toEqual([
      ['out', [0, 1, 'reference']],
      ['lse', [0, 1, 'reference']],
      ['merged', [0, 1]],
      ['merged', ['reference']],
      ['block_table', [0, 1, 'reference']],
      ['extra', [0, 1, 'reference']],
    ])
    expect(tensorNames(rows)).toEqual(['out', 'lse', 'merged', 'block_table'])
  })
  test('are chosen by name, else what tells most', () => {
    expect(chosenTensor(['lse', 'merged'], 'lse')).toBe('lse')
    expect(chosenTensor(['q', 'merged', 'lse'], 'out')).toBe('merged')
    expect(chosenTensor(['topk'], null)).toBe('topk')
    expect(chosenTensor([], 'out')).toBeNull()
  })
  test('have the measures of their cells', () => {
    expect(measuresOf(part('out', 0))).toEqual(['absmax', 'norm', 'nan'])
    expect(measuresOf(part('lse', 0))).toEqual(['value', 'nan'])
    expect(measuresOf(part('block_table', 0))).toEqual(['value'])
    expect(chosenMeasure(part('lse', 0), 'norm')).toBe('value')
    expect(chosenMeasure(part('out', 0), 'norm')).toBe('norm')
  })
})

describe('the picked cell', () => {
  test('is that of the selected request, query and head, on the rank that keeps the head', () => {
    const at = { request: 1, qIndex: 1, head: 3 }
    expect(cellOf(part('out', 0), 'out', GROUP, at, ORIGIN)).toEqual({ row: 3, column: 3 })
    expect(cellOf(part('merged', 0), 'merged', GROUP, at, ORIGIN)).toBeNull()
    expect(cellOf(part('merged', 1), 'merged', GROUP, at, ORIGIN)).toEqual({ row: 3, column: 1 })
    expect(cellOf(part('merged', 2), 'merged', GROUP, at, ORIGIN)).toEqual({ row: 3, column: 3 })
    expect(cellOf(part('out', 0), 'out', GROUP, NONE, ORIGIN)).toEqual(ORIGIN)
  })
  test('of a table is the selected request and a column of its own', () => {
    const table = part('block_table', 0)
    expect(
      cellOf(table, 'block_table', GROUP, { ...NONE, request: 1, head: 3 }, { row: 0, column: 4 }),
    ).toEqual({
      row: 1,
      column: 4,
    })
  })
  test('selects what it is of', () => {
    expect(pickOf(part('merged', 1), 'merged', GROUP, { row: 2, column: 1 }).selection).toEqual({
      rank: 1,
      request: 1,
      qIndex: 0,
      head: 3,
    })
    expect(pickOf(part('block_table', 0), 'block_table', GROUP, { row: 1, column: 3 })).toEqual({
      selection: { rank: 0, request: 1 },
      place: { row: 1, column: 3 },
    })
    expect(pickOf(part('out', 2), 'out', GROUP, ORIGIN).selection).not.toHaveProperty('rank')
  })
  test('is named by what its row and column are', () => {
    expect(cellText(part('merged', 1), 'merged', GROUP, { row: 3, column: 0 })).toBe(
      'row 3 (request 1, query 1), head 2',
    )
    expect(cellText(part('block_table', 1), 'block_table', GROUP, { row: 1, column: 4 })).toBe(
      'request 1, column 4',
    )
  })
  test('moves within the tensor', () => {
    const { grid } = part('out', 0)
    expect(movedCell(grid, ORIGIN, { row: -1, column: 1 })).toEqual({ row: 0, column: 1 })
    expect(movedCell(grid, { row: 3, column: 3 }, { row: 1, column: 1 })).toEqual({ row: 3, column: 3 })
    expect(neighbour(['a', 'b'], 'a', 1)).toBe('b')
    expect(neighbour(['a', 'b'], 'b', 1)).toBe('b')
    expect(neighbour(['a', 'b'], null, -1)).toBe('a')
    expect(neighbour([], 'a', 1)).toBeUndefined()
  })
})

describe('the scale of maps', () => {
  test('is one for all ranks; sizes far apart go by powers of ten', () => {
    expect(mapScale([[1, 2], [4]], 'absmax')).toMatchObject({ from: 0, to: 4, log: false })
    expect(mapScale([[0, 0.02], [4]], 'norm')).toMatchObject({ from: 0.01, to: 10, log: true })
    expect(mapScale([[-3, 5]], 'value')).toMatchObject({ from: -3, to: 5, log: false })
    expect(mapScale([[0, 0]], 'nan')).toMatchObject({ from: 0, to: 1 })
    expect(mapScale([[Number.NaN, Number.NEGATIVE_INFINITY]], 'value')).toMatchObject({
      nan: true,
      infinite: true,
    })
    expect(mapScale([], 'value')).toMatchObject({ from: 0, to: 1 })
  })
  test('has a place for every number, and none for what is no number', () => {
    const log = mapScale([[0.01, 10]], 'absmax')
    expect(placeOn(log, 0)).toBe(0)
    expect(placeOn(log, 10)).toBeCloseTo(1)
    expect(placeOn(log, Math.sqrt(0.1))).toBeCloseTo(0.5)
    expect(placeOn(log, Number.NaN)).toBeNull()
    expect(placeOn(mapScale([[-3, 5]], 'value'), 1)).toBe(0.5)
  })
  test('numbers have as many digits as tell', () => {
    expect([3, -0.5, 1e-7, Number.NaN, Number.NEGATIVE_INFINITY].map(formatValue)).toEqual([
      '3',
      '−0.5000',
      '1.00e−7',
      'NaN',
      '−∞',
    ])
  })
})

const map = (rows: number, columns: number, cells: number[], more: Partial<TensorMap> = {}): TensorMap => ({
  grid: { rows, columns, width: 1, rowName: 'row', columnName: 'head' },
  rowStep: 1,
  rowsPerCell: 1,
  columnsPerCell: 1,
  mapRows: rows,
  mapColumns: columns,
  cells: Float32Array.from(cells),
  counts: { values: 0, nan: 0, plusInf: 0, minusInf: 0, zero: 0, least: 0, most: 0, mean: 0, rms: 0 },
  ...more,
})

describe('maps side by side', () => {
  test('lie within the canvas and do not overlap, however many ranks there are', () => {
    for (const count of [1, 2, 4, 7, 16, 65])
      for (const cells of [
        { rows: 4, columns: 128 },
        { rows: 64, columns: 16 },
        { rows: 8, columns: 1 },
      ]) {
        const boxes = panelBoxes(count, cells, 640, 220)
        expect(boxes).toHaveLength(count)
        for (const [i, a] of boxes.entries()) {
          expect(a.left + a.width).toBeLessThanOrEqual(640)
          if (count <= 16) expect(a.top + a.height).toBeLessThanOrEqual(220)
          for (const b of boxes.slice(i + 1))
            expect(
              a.left + a.width <= b.left ||
                b.left + b.width <= a.left ||
                a.top + a.height <= b.top ||
                b.top + b.height <= a.top,
            ).toBe(true)
        }
      }
    expect(panelBoxes(3, { rows: 1, columns: 1 }, 0, 100)).toEqual([])
  })
  test('show the worst of the cells that one pixel stands for', () => {
    const cells = Array<number>(100 * 4).fill(1)
    cells[57 * 4 + 2] = Number.NaN
    cells[3 * 4] = -9
    const picture = pictureOf(map(100, 4, cells), { width: 50, height: 10 })
    expect([picture.across, picture.down]).toEqual([4, 10])
    expect(picture.cells[0]).toBe(-9)
    expect(picture.cells[5 * 4 + 2]).toBeNaN()
    expect(picture.cells[9 * 4]).toBe(1)
  })
  test('find the cell under the pointer', () => {
    const box = { left: 10, top: 20, width: 40, height: 20 }
    const coarse = map(8, 4, Array(8).fill(0), {
      mapRows: 4,
      mapColumns: 2,
      rowsPerCell: 2,
      columnsPerCell: 2,
    })
    expect(cellAt(coarse, box, 31, 36)).toEqual({ row: 6, column: 2 })
    expect(cellAt(coarse, box, 9, 36)).toBeNull()
    coarse.cells[3 * 2 + 1] = 5
    expect(mapValue(coarse, { row: 7, column: 3 })).toBe(5)
  })
  test('say what they leave out', () => {
    expect([1, 2, 3, 4, 11, 12, 22, 103, 113].map(ordinal).join(' ')).toBe(
      '1st 2nd 3rd 4th 11th 12th 22nd 103rd 113th',
    )
    expect(coarseText(map(2, 2, [0, 0, 0, 0]))).toBeNull()
    expect(coarseText(map(2, 2, [], { rowStep: 4, rowsPerCell: 4 }))).toBe('every 4th row is read')
    expect(coarseText(map(2, 2, [], { rowStep: 4, rowsPerCell: 8, columnsPerCell: 2 }))).toBe(
      'every 4th row is read; a cell is the worst of 8 by 2',
    )
  })
})

describe('a histogram', () => {
  const counts = { values: 6, nan: 0, plusInf: 0, minusInf: 0, zero: 0, least: -4, most: 4, mean: 0, rms: 1 }
  const data = {
    counts,
    rowStep: 1,
    linear: Float64Array.of(1, 0, 2, 1),
    leastExponent: 0,
    negative: Float64Array.of(0, 0, 1),
    positive: Float64Array.of(2, 0, 1),
  }
  test('has bars of equal steps from the least to the largest value', () => {
    expect(linearBars(data).map(({ from, to }) => [from, to])).toEqual([
      [-4, -2],
      [-2, 0],
      [0, 2],
      [2, 4],
    ])
    const whole = { ...data, counts: { ...counts, least: 3, most: 5 }, linear: Float64Array.of(1, 0, 2) }
    expect(linearBars(whole)[2]).toEqual({ from: 5, to: 6, count: 2 })
  })
  test('has bars of powers of two on both sides of 0, or on the only side that has values', () => {
    expect(octaveBars(data).map(({ from, to, count }) => [from, to, count])).toEqual([
      [-8, -4, 1],
      [-4, -2, 0],
      [-2, -1, 0],
      [1, 2, 2],
      [2, 4, 0],
      [4, 8, 1],
    ])
    expect(octaveBars({ ...data, negative: new Float64Array(3) })).toHaveLength(3)
  })
  test('finds the bar under the pointer', () => {
    const bars = linearBars(data)
    expect(barAt(bars, 99, 100)).toBe(bars[3])
    expect(barAt(bars, 100, 100)).toBeNull()
  })
})

test('values are copied exactly, a rank a column', () => {
  const values = Float64Array.of(1, 0.1, Number.NaN, Number.NEGATIVE_INFINITY)
  expect(valuesText({ ranks: [0, 'reference'], each: 'value', total: 2, count: 2, values })).toBe(
    'value\trank 0\treference\n0\t1\tNaN\n1\t0.1\t-Infinity',
  )
})

test('the range of values has 0 where it is near, and is never empty', () => {
  expect(valueRange([2, 10]).min).toBeLessThanOrEqual(0)
  expect(valueRange([9, 10]).min).toBeGreaterThan(8)
  expect(valueRange([5, 5]).max).toBeGreaterThan(5)
  expect(valueRange([Number.NaN])).toEqual({ min: -1, max: 1 })
})
