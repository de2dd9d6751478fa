import { describe, expect, it, vi } from 'vitest'
import type { TimeRow } from '../../../app/compare/times.ts'
import type { OpenItem } from '../../../renderer/state/open.ts'
import {
  barOfStep,
  barShares,
  changed,
  comparisonText,
  configHeadline,
  differenceCell,
  firstPlace,
  numberHeadline,
  type Rows,
  rowCounts,
  sourceOf,
  stepBars,
  type Tensors,
  type Times,
  timeHeadline,
  usText,
  verdictCell,
} from '../../../renderer/views/compare/model.ts'

vi.mock('../../../renderer/state/store-client.ts', () => ({ request: vi.fn() }))
const { comparedWith } = await import('../../../renderer/state/compare.ts')
const { timeInspectorRows } = await import('../../../renderer/views/compare/use-inspector.ts')

const row = (measure: TimeRow['measure'], ns: number, more: Partial<TimeRow> = {}): TimeRow => ({
  measure,
  rank: null,
  aNs: 10_000,
  bNs: 10_000 + ns,
  difference: { ns, lowNs: ns - 5, highNs: ns + 5 },
  slower: 24,
  faster: 0,
  p: 0.0004,
  pieces: 24,
  pieceSteps: 1,
  verdict: ns > 0 ? 'slower' : 'faster',
  ...more,
})

const timesOf = (rows: readonly TimeRow[], differences: readonly number[] = [1, -2, 3]): Times => ({
  steps: differences.length,
  firstStep: 0,
  lastStep: differences.length - 1,
  rows: [...rows],
  ranks: [],
  perPart: 2,
  partSteps: Int32Array.from(differences, (_, i) => 2 * i),
  series: rows.map(({ measure }) => ({
    measure,
    a: new Float64Array(differences.length).fill(100),
    b: Float64Array.from(differences, (d) => 100 + d),
  })),
  sources: [{ measure: 'decode_attn', a: ['measured'], b: ['emulated'] }],
  repeatsOf: { a: 1, b: 1 },
  repeats: [],
})

const NO_TENSORS: Tensors = { groups: 0, unmatched: 0, sameRanks: true, tensors: [], notes: [] }

const check = { tolerance: 1e-2, checkedRows: 3, worst: 1e-3, failedSteps: 0, firstFailed: null }
const rowsOf = (first: Rows['first'], differing: Partial<Rows['differing']> = {}): Rows => ({
  unlike: null,
  rows: 288,
  differing: { keys: 0, empty: 0, nan: 0, lse: 0, out: 0, ...differing },
  tolerance: 1e-2,
  first,
  checks: { a: check, b: check },
})

const CELL = {
  step: 7,
  layer: 1,
  rank: 1,
  row: 2,
  request: 2,
  qIndex: 0,
  head: 3,
  error: 0.5,
  at: 4,
  a: 1,
  b: 1.5,
} as const

const tensorsOf = (step: number): Tensors => ({
  ...NO_TENSORS,
  groups: 1,
  tensors: [
    { tensor: 'out', cells: 10, diverging: 1, tolerance: 0.01, worst: 0.5, first: { ...CELL, step } },
    { tensor: 'merged', cells: 10, diverging: 0, tolerance: 0.01, worst: 0, first: null },
  ],
})

const ROW = { step: 7, layer: 0, rank: 0, request: 1, qIndex: 0, kind: 'lse', a: 3, b: 4 } as const

describe('what stands above all', () => {
  it('is whether whole steps changed, and the stage that changed most', () => {
    const rows = [
      row('step', 9000),
      row('kv_append', 50),
      row('decode_attn', 700),
      row('merge', 1, { verdict: 'even' }),
    ]
    expect(changed(timesOf(rows)).map(({ measure }) => measure)).toEqual(['decode_attn', 'kv_append', 'step'])
    expect(timeHeadline(timesOf(rows))).toEqual({
      tone: 'warn',
      text: 'whole step slower (×1.900); decode_attn slower (×1.070), and 1 more',
    })
    expect(timeHeadline(timesOf([row('step', 0, { verdict: 'even' }), row('decode_attn', 700)])).text).toBe(
      'decode_attn slower (×1.070)',
    )
    expect(timeHeadline(timesOf([row('merge', 1, { verdict: 'even' })])).text).toBe(
      'no time changed significantly',
    )
    expect(timeHeadline(timesOf([], []))).toEqual({ tone: 'plain', text: 'no steps in common' })
  })

  it('counts no change that repeats of both do not show', () => {
    const rows = [row('decode_attn', 700), row('merge', 500)]
    const repeats = [
      { measure: 'decode_attn' as const, a: 3, b: 3, ratio: 1.1, low: 0.9, high: 1.3 },
      { measure: 'merge' as const, a: 3, b: 3, ratio: 1.05, low: 1.01, high: 1.09 },
    ]
    const times: Times = { ...timesOf(rows), repeats, repeatsOf: { a: 3, b: 3 } }
    expect(changed(times).map(({ measure }) => measure)).toEqual(['merge'])
    expect(rows.map((one) => verdictCell(one, times))).toEqual([
      'B is slower, p < 0.001, within repeats',
      'B is slower, p < 0.001, repeats too',
    ])
    expect(timeInspectorRows(times, 'merge').at(-1)?.value).toBe(
      '×1.050 (1.010 to 1.090) over 3 and 3 runs: slower, beyond what differs from run to run',
    )
  })

  it('says that numbers diverge where rows or tensors do, and nothing of what was not compared', () => {
    expect(numberHeadline(rowsOf(null), NO_TENSORS).tone).toBe('ok')
    expect(numberHeadline(rowsOf(ROW), NO_TENSORS).tone).toBe('bad')
    expect(numberHeadline(null, tensorsOf(7)).tone).toBe('bad')
    expect(numberHeadline(null, NO_TENSORS)).toEqual({ tone: 'plain', text: 'no numbers in common' })
  })

  it('warns of unlike work or places, and does not of other ways', () => {
    const one = (kind: 'work' | 'way' | 'place') => [{ kind, path: 'x', a: '1', b: '2' }]
    expect(configHeadline([]).tone).toBe('ok')
    expect(configHeadline(one('way'))).toEqual({ tone: 'plain', text: '1 difference' })
    expect(configHeadline(one('work')).tone).toBe('warn')
    expect(configHeadline(one('place')).tone).toBe('warn')
  })
})

describe('the first divergence', () => {
  it('is the earlier of rows and tensors, and of the same step and layer the tensor, which tells more', () => {
    expect(firstPlace(rowsOf({ ...ROW, step: 3 }), tensorsOf(7))).toMatchObject({
      tensor: null,
      place: { step: 3, layer: 0, rank: 0, request: 1 },
    })
    expect(firstPlace(rowsOf({ ...ROW, layer: 1 }), tensorsOf(7))).toMatchObject({
      tensor: 'out',
      place: { step: 7, layer: 1, rank: 1, request: 2, qIndex: 0, head: 3 },
    })
    expect(firstPlace(rowsOf(ROW), tensorsOf(2))?.place.step).toBe(2)
    expect(firstPlace(rowsOf(null), NO_TENSORS)).toBeNull()
    expect(firstPlace(null, tensorsOf(7))?.text).toBe(
      'out at step 7, layer 1, row 2 (request 2, query 0), head 3, rank 1: 1 in A, 1.5 in B at place 4, error 5.00e-1 where rounding explains 1.0e-2',
    )
  })

  it('is counted by what differs', () => {
    expect(rowCounts(rowsOf(null))).toBe('288 rows of partials: none differs.')
    expect(rowCounts(rowsOf(ROW, { lse: 12, keys: 3 }))).toBe(
      '288 rows of partials: 3 differ in keys that it sees, 12 differ in lse.',
    )
  })
})

describe('the picture of the steps', () => {
  it('has a bar a part around zero, the largest to the edge', () => {
    const bars = stepBars(timesOf([row('merge', 1)], [5, -10, 0]), 'merge')
    expect(bars?.reachNs).toBe(10)
    expect(bars?.bars.map(({ height, step }) => [step, height])).toEqual([
      [0, 0.5],
      [2, -1],
      [4, 0],
    ])
  })

  it('cuts off a single disturbed step, and says so', () => {
    const differences = [...new Array<number>(30).fill(10), 5000]
    const bars = stepBars(timesOf([row('merge', 1)], differences), 'merge')
    expect(bars?.reachNs).toBe(30)
    expect(bars?.bars.at(-1)).toMatchObject({ ns: 5000, height: 1, isCut: true })
    expect(bars?.bars[0]?.isCut).toBe(false)
  })

  it('is none where only one side has the stage', () => {
    const times = timesOf([row('merge', 1)])
    times.series[0]?.a.fill(Number.NaN)
    expect(stepBars(times, 'merge')).toBeNull()
    expect(stepBars(times, 'decode_attn')).toBeNull()
  })

  it('finds the part of a step, and none behind the last', () => {
    const bars = stepBars(timesOf([row('merge', 1)], [1, 2, 3]), 'merge')
    if (bars === null) throw new Error('there are bars')
    expect([0, 1, 2, 5, 6, null].map((step) => barOfStep(bars, step, 2))).toEqual([0, 0, 1, 2, null, null])
  })
})

describe('the tables', () => {
  it('draw bars on one scale, and none for whole steps, which hold the others', () => {
    const rows = [row('step', 90_000), row('decode_attn', 10_000), row('merge', -5000)]
    expect(rows.map((one) => barShares(one, rows))).toEqual([null, { a: 0.5, b: 1 }, { a: 0.5, b: 0.25 }])
    const only = row('merge', 1, { aNs: null, bNs: 20_000, difference: null, p: null, verdict: 'b-only' })
    expect(barShares(only, [only])).toEqual({ a: 0, b: 1 })
    expect([usText(only.aNs), differenceCell(only), verdictCell(only, timesOf([only]))]).toEqual([
      '–',
      '–',
      'only in B',
    ])
  })

  it('say what was not measured on either side', () => {
    expect(sourceOf(timesOf([row('decode_attn', 1)]), 'decode_attn')).toBe('partly emulated')
    expect(timeInspectorRows(timesOf([row('decode_attn', 1)]), 'decode_attn')[1]).toMatchObject({
      label: 'A',
      source: 'partly emulated',
    })
  })

  it('are copied whole', () => {
    const text = comparisonText(
      { a: 'one', b: 'two' },
      [{ kind: 'way', path: 'parallel.comm', a: 'ag_rs', b: 'a2a' }],
      { times: timesOf([row('merge', 500)]), rows: rowsOf(ROW), tensors: NO_TENSORS },
    )
    expect(text.split('\n')).toEqual([
      'A\tone',
      'B\ttwo',
      'differs\tparallel.comm: ag_rs in A, a2a in B',
      'numbers\tnumbers diverge',
      'first\tlse at step 7, layer 0, request 1, query 0, rank 0: 3 in A, 4 in B',
      'rank\tstage\tA ns\tB ns\tdifference ns\tlow ns\thigh ns\tratio\tverdict\tp',
      'mean\tmerge\t10000\t10500\t500\t495\t505\t1.05\tB is slower\t0.0004',
    ])
  })
})

it('what is compared with what is shown was chosen and is open, else is most like it, else the first of its kind', () => {
  const item = (id: string): OpenItem => ({ kind: id.startsWith('dump') ? 'dump' : 'run', id })
  const items = ['a', 'b', 'c', 'dump-1', 'dump-2'].map(item)
  const of = (
    shown: string | null,
    other: string | null,
    open = items,
    runs: Parameters<typeof comparedWith>[3] = [],
  ): string | undefined =>
    comparedWith(shown === null ? null : item(shown), other === null ? null : item(other), open, runs)?.id
  expect(of('a', 'c')).toBe('c')
  expect(of('a', null)).toBe('b')
  expect(of('b', 'b')).toBe('a')
  expect(of('a', 'closed')).toBe('b')
  expect(of('a', 'dump-1')).toBe('dump-1')
  expect(of('dump-1', null)).toBe('dump-2')
  expect(of('a', null, [item('a'), item('dump-1')])).toBeUndefined()
  expect(of(null, 'a')).toBeUndefined()
  const titles = [
    { id: 'a', title: 'tiny, DCP 4, ag_rs, 4 requests of 2048 tokens' },
    { id: 'b', title: 'sweep of 4 heads x 80, DCP 2, contexts 64 to 1024, concurrency 8' },
    { id: 'c', title: 'tiny, DCP 4, a2a, 4 requests of 2048 tokens' },
  ]
  expect(of('a', null, items, titles)).toBe('c')
  expect(of('a', 'b', items, titles)).toBe('b')
})
