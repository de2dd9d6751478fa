import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { STAGES } from '../../../app/trace/stages.ts'
import { areaFacts } from '../../../renderer/views/timeline/facts.ts'
import { itemAtPoint } from '../../../renderer/views/timeline/items.ts'
import { groupTop, lanesOf, laneTop, scrollToLane } from '../../../renderer/views/timeline/lanes.ts'
import { layerStarts } from '../../../renderer/views/timeline/layer-starts.ts'
import { FIRST_LOOK, type Look, toggledMark, toggledStage } from '../../../renderer/views/timeline/look.ts'
import { measuresOf, measureText, snapped } from '../../../renderer/views/timeline/measure.ts'
import { sortedRows, tableOf } from '../../../renderer/views/timeline/panel/sort.ts'
import { ranksText, scopeOf } from '../../../renderer/views/timeline/scope.ts'
import { itemOfSpan } from '../../../renderer/views/timeline/span-search.ts'
import type { SpanTile } from '../../../renderer/views/timeline/tiles.ts'
import { jumpedLook, shownRange, undoneLook, zoomedLook } from '../../../renderer/views/timeline/use-range.ts'
import { NO_ITEMS } from './no-items.ts'
import { statOf } from './span-stat.ts'

const WHOLE = { startNs: 0, endNs: 1e9 }

const changed = (look: Look, change: Partial<Look>): Look => ({ ...look, ...change })

describe('the look at a run', () => {
  it('shows all at first, however long the run gets', () => {
    expect(shownRange(FIRST_LOOK, WHOLE, true)).toEqual(WHOLE)
    expect(shownRange(FIRST_LOOK, { startNs: 0, endNs: 5e9 }, true)).toEqual({ startNs: 0, endNs: 5e9 })
  })

  it('keeps the end of a live run in view while it is followed, and nothing moves otherwise', () => {
    const look = changed(FIRST_LOOK, { range: { startNs: 0, endNs: 1e8 } })
    expect(shownRange(look, WHOLE, true)).toEqual({ startNs: 9e8, endNs: 1e9 })
    expect(shownRange(changed(look, { follow: false }), WHOLE, true)).toEqual({ startNs: 0, endNs: 1e8 })
    expect(shownRange(look, WHOLE, false)).toEqual({ startNs: 0, endNs: 1e8 })
  })

  it('undoes zooms one by one, and those that follow closely together', () => {
    const [a, b, c] = [1, 2, 3].map((n) => ({ startNs: n * 1e6, endNs: n * 2e6 }))
    if (a === undefined || b === undefined || c === undefined) throw new Error('three ranges')
    let look = changed(FIRST_LOOK, zoomedLook(FIRST_LOOK, a, 0))
    look = changed(look, zoomedLook(look, b, 100))
    look = changed(look, zoomedLook(look, c, 2000))
    look = changed(look, undoneLook(look))
    expect(look.range).toEqual(b)
    look = changed(look, undoneLook(look))
    expect(look.range).toBeNull()
    expect(undoneLook(look)).toEqual({})
  })

  it('undoes a jump alone, however soon after a zoom it came', () => {
    const [near, far] = [1e6, 2e6].map((endNs) => ({ startNs: 0, endNs }))
    if (near === undefined || far === undefined) throw new Error('two ranges')
    let look = changed(FIRST_LOOK, zoomedLook(FIRST_LOOK, near, 0))
    look = changed(look, jumpedLook(look, null))
    look = changed(look, zoomedLook(look, far, 50))
    look = changed(look, undoneLook(look))
    expect(look.range).toBeNull()
    look = changed(look, undoneLook(look))
    expect(look.range).toEqual(near)
  })

  it('dims a stage and shows it again', () => {
    const dimmed = toggledStage(new Set(), 'merge')
    expect([...dimmed]).toEqual(['merge'])
    expect(toggledStage(dimmed, 'merge').size).toBe(0)
  })

  it('keeps marks in the order of time and takes the near one away', () => {
    const marks = [500, 100, 300].reduce<readonly number[]>((m, ns) => toggledMark(m, ns, 10), [])
    expect(marks).toEqual([100, 300, 500])
    expect(toggledMark(marks, 305, 10)).toEqual([100, 500])
  })
})

describe('the lanes', () => {
  it('scroll only as far as a lane needs to be wholly seen', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 120, max: 900 }),
        fc.integer({ min: 1, max: 64 }),
        fc.integer({ min: 0, max: 2000 }),
        fc.integer({ min: 0, max: 63 }),
        (height, ranks, scroll, picked) => {
          const rank = picked % ranks
          const before = lanesOf(height, ranks, scroll)
          const lanes = lanesOf(height, ranks, scrollToLane(rank, before, height))
          const top = laneTop(rank, lanes)
          expect(top).toBeGreaterThanOrEqual(lanes.rulerHeight)
          expect(top + lanes.laneHeight).toBeLessThanOrEqual(height)
          const seen =
            laneTop(rank, before) >= before.rulerHeight + before.laneGap &&
            laneTop(rank, before) + before.laneHeight <= height
          if (seen) expect(lanes.scroll).toBe(before.scroll)
        },
      ),
    )
  })
})

/** Items of rank 0 as [start, dur, layer, count]. */
const tileOf = (items: readonly (readonly [number, number, number, number])[]): SpanTile => ({
  startNs: 0,
  endNs: 1000,
  rank: new Int32Array(items.length),
  start: Float64Array.from(items, (i) => i[0]),
  dur: Float64Array.from(items, (i) => i[1]),
  busy: Float64Array.from(items, (i) => i[1]),
  wait: new Float64Array(items.length),
  stage: new Uint8Array(items.length),
  step: new Int32Array(items.length),
  layer: Int32Array.from(items, (i) => i[2]),
  count: Int32Array.from(items, (i) => i[3]),
  sources: new Uint8Array(items.length).fill(1),
  outer: NO_ITEMS,
  kernels: { ...NO_ITEMS, name: new Int32Array() },
  kernelNames: [],
})

describe('the ruler of layers', () => {
  const range = { startNs: 0, endNs: 1000 }
  it('has each layer once, up to the next one', () => {
    const tile = tileOf([
      [0, 10, 0, 1],
      [20, 10, 0, 1],
      [40, 10, 1, 1],
      [60, 10, 1, 1],
    ])
    expect(layerStarts([{ tile, range }], range)).toEqual([
      { layer: 0, startNs: 0, endNs: 40 },
      { layer: 1, startNs: 40, endNs: 70 },
    ])
  })

  it('takes a span that two tiles hold once', () => {
    const tile = tileOf([[400, 200, 2, 1]])
    const halves = [
      { tile, range: { startNs: 0, endNs: 500 } },
      { tile, range: { startNs: 500, endNs: 1000 } },
    ]
    expect(layerStarts(halves, range)).toEqual([{ layer: 2, startNs: 400, endNs: 600 }])
  })

  it('says nothing of merged items and of what belongs to the whole step', () => {
    const tile = tileOf([
      [0, 100, 3, 12],
      [100, 10, -1, 1],
    ])
    expect(layerStarts([{ tile, range }], range)).toEqual([])
  })
})

describe('looking for spans', () => {
  it('gives no item for a stage that it does not know', () => {
    const span = {
      step: 1,
      layer: 0,
      stage: 200,
      startNs: 0,
      durNs: 1,
      bytes: 0,
      flops: 0,
      collectiveSeq: null,
      enterNs: null,
      lastEnterNs: null,
      provenance: 'measured',
    }
    expect(itemOfSpan(0, span)).toBeNull()
    expect(itemOfSpan(0, { ...span, stage: 3, enterNs: 0, lastEnterNs: 1 })).toMatchObject({ waitNs: 1 })
  })
})

describe('a graph replay, which contains other spans', () => {
  const stage = STAGES.indexOf('graph_replay')
  const items = tileOf([
    [0, 400, 0, 1],
    [500, 400, 0, 1],
  ])
  const replay = tileOf([[0, 1000, -1, 1]])
  const pieces = [
    {
      tile: { ...items, outer: { ...replay, stage: Uint8Array.of(stage) } },
      range: { startNs: 0, endNs: 1000 },
    },
  ]
  const lanes = lanesOf(400, 2, 0, false, { replays: true })
  const at = (x: number, y: number) => itemAtPoint(x, y, 1000, { startNs: 0, endNs: 1000 }, lanes, pieces)

  it('is met on the row above the stages that it contains, and nowhere else', () => {
    const [group, stages] = [groupTop(0, lanes) + 5, laneTop(0, lanes) + 5]
    expect(at(450, group)).toMatchObject({ stage: 'graph_replay', durNs: 1000 })
    expect(at(100, group)?.stage).toBe('graph_replay')
    expect(at(100, stages)).toMatchObject({ stage: 'metadata', durNs: 400 })
    expect(at(450, stages)).toBeNull()
  })

  it('adds nothing to the total of an area', () => {
    const facts = areaFacts(
      [statOf('graph_replay', 1, 1000, 0, 'emulated'), statOf('decode_attn', 1, 800, 0, 'measured')],
      1000,
      1,
    )
    expect(facts.find((f) => f.label === 'in spans')).toMatchObject({ copy: '800' })
    expect(facts.find((f) => f.label === 'in spans')?.source).toBeUndefined()
    expect(facts.find((f) => f.label === 'graph_replay')).toMatchObject({ copy: '1000', source: 'emulated' })
  })
})

describe('the totals of an area', () => {
  it('name the waiting and its share of the ranks', () => {
    const facts = areaFacts(
      [statOf('decode_attn', 12, 6000, 0, 'measured'), statOf('lse_all_gather', 12, 2000, 1500, 'measured')],
      5000,
      2,
    )
    expect(facts.find((f) => f.label === 'waiting')).toMatchObject({ copy: '1500' })
    expect(facts.find((f) => f.label === 'in spans')?.note).toBe('80.0\u2009%')
  })
})

describe('a measure', () => {
  it('lies between marks that follow each other', () => {
    expect(measuresOf([])).toEqual([])
    expect(measuresOf([5])).toEqual([])
    expect(measuresOf([5, 9, 20])).toEqual([
      { fromNs: 5, toNs: 9 },
      { fromNs: 9, toNs: 20 },
    ])
    expect(measureText({ fromNs: 1, toNs: 1001.4 }, 'emulated')).toBe('1000 ns (emulated)')
  })

  it('keeps to the nearest edge that is near, and else to where it was set', () => {
    expect(snapped(103, [100, 105, 400], 5)).toBe(105)
    expect(snapped(103, [90], 5)).toBe(103)
    expect(snapped(103, [], 5)).toBe(103)
  })
})

describe('what statistics are of', () => {
  const [step, whole] = [
    { startNs: 10, endNs: 20 },
    { startNs: 0, endNs: 100 },
  ]
  it('is the area, else the selected step, else the run', () => {
    const area = { range: { startNs: 1, endNs: 2 }, ranks: [3] }
    expect(scopeOf(area, step, whole, 4)).toEqual({ ...area, of: 'area' })
    expect(scopeOf(null, step, whole, 2)).toEqual({ range: step, ranks: [0, 1], of: 'step' })
    expect(scopeOf(null, null, whole, 2)).toEqual({ range: whole, ranks: [0, 1], of: 'run' })
  })

  it('names its ranks shortly', () => {
    expect(ranksText([2])).toBe('2')
    expect(ranksText([1, 0])).toBe('0, 1')
    expect(ranksText([0, 1, 2, 3])).toBe('0\u2009–\u20093')
    expect(ranksText([0, 2, 4, 6, 8, 10, 12])).toBe('0, 2, 4, 6, 8, 10 …')
  })
})

describe('a table', () => {
  const columns = [
    { id: 'name', value: (row: { name: string; n: number | null }) => row.name },
    { id: 'n', value: (row: { name: string; n: number | null }) => row.n },
  ]
  const rows = [
    { name: 'b10', n: 2 },
    { name: 'b9', n: null },
    { name: 'a', n: 7 },
  ]
  const names = (column: string, falling: boolean) =>
    sortedRows(rows, columns, { column, falling }).map(({ name }) => name)
  it('is sorted by numbers as numbers and by words with theirs, empty ones last', () => {
    expect(names('n', true)).toEqual(['a', 'b10', 'b9'])
    expect(names('n', false)).toEqual(['b10', 'a', 'b9'])
    expect(names('name', false)).toEqual(['a', 'b9', 'b10'])
    expect(sortedRows(rows, columns, null)).toEqual(rows)
    expect(tableOf(rows, columns).rows[1]).toEqual(['b9', null])
  })
})
