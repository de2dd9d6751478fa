import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { heatGrid, heatHit, heatOf, heatRange, worstRow } from '../../../renderer/drawing/heat.ts'
import {
  arrowMove,
  chosenCapture,
  chosenRow,
  willCapture,
  within,
} from '../../../renderer/views/merge/choice.ts'
import { type Chip, chipsOf, offShown } from '../../../renderer/views/merge/draw-lse.ts'
import { axisTicks, lseAxis, tickDigits } from '../../../renderer/views/merge/lse-axis.ts'
import {
  type CaptureShape,
  inBase,
  type MergeInput,
  mergeModel,
  shareOf,
} from '../../../renderer/views/merge/model.ts'
import { stepMerge, stepsOf } from '../../../renderer/views/merge/use-steps.ts'
import { entryAt, gapsOf, rangeOf, signedErrors } from '../../../renderer/views/merge/vector-plot.ts'
import { segmentsOf } from '../../../renderer/views/merge/weight-bar.ts'
import { whatIfs } from '../../../renderer/views/merge/what-if.ts'

const capture = (visibleKeys: number[], width = 2): CaptureShape => ({
  rows: 1,
  heads: 1,
  ranks: visibleKeys.length,
  width,
  lseBase: 'e',
  request: Int32Array.of(0),
  qIndex: Int32Array.of(0),
  visibleKeys: Int32Array.from(visibleKeys),
  hasReference: true,
  relErr: Float32Array.of(0),
})

const input = (lse: number[], out: number[], merged: number[], reference: number[] | null): MergeInput => ({
  lse: Float32Array.from(lse),
  out: Float32Array.from(out),
  lseKernel: Float32Array.from(lse),
  outKernel: Float32Array.from(out),
  merged: Float32Array.from(merged),
  mergedRank: 0,
  reference: reference === null ? null : Float64Array.from(reference),
  referenceLse: null,
})

const INF = Number.POSITIVE_INFINITY

describe('what mistakes make of the same partials', () => {
  const right = () => input([Math.log(2), Math.log(8)], [0, 1, 10, 1], [8, 1], [8, 1])

  it('says which of them the engine made, where it made one', () => {
    const wrong = { ...right(), merged: Float32Array.of(7.23303, 1) }
    const shape = capture([2, 8])
    const found = whatIfs(wrong, shape, mergeModel(wrong, shape, 0))
    expect(found.filter(({ isEngine }) => isEngine).map(({ text }) => text)).toEqual([
      'all lse taken for base 2',
    ])
    expect(found.find(({ text }) => text === 'rank 0 dropped')?.error.relative).toBeCloseTo(
      2 / Math.hypot(8, 1),
      6,
    )
    expect(whatIfs(right(), shape, mergeModel(right(), shape, 0)).some(({ isEngine }) => isEngine)).toBe(
      false,
    )
  })

  it('are none where there is one rank', () => {
    const alone = input([1], [3, 4], [3, 4], null)
    expect(whatIfs(alone, capture([5]), mergeModel(alone, capture([5]), 0))).toEqual([])
  })
})

describe('a merge over steps', () => {
  it('is read at captured steps of the layer, thinned where they are many', () => {
    const captures = Array.from({ length: 200 }, (_, i) => ({ step: 199 - i, layer: i % 2 }))
    const steps = stepsOf(captures, 0)
    expect(steps.length).toBe(50)
    expect(steps).toEqual(steps.toSorted((a, b) => a - b))
    expect(stepsOf(captures, 7)).toEqual([])
  })

  it('has weights, lse and error of each', () => {
    const made = stepMerge(4, input([Math.log(2), Math.log(8)], [0, 1, 10, 1], [8, 1], [8, 1]), 'e')
    expect(made.step).toBe(4)
    expect([...made.weights].map((w) => Number(w.toFixed(6)))).toEqual([0.2, 0.8])
    expect(made.lse).toBeCloseTo(Math.log(10), 6)
    expect(made.error?.relative).toBe(0)
  })
})

describe('the model of a merge', () => {
  it('has every lse in the base that is asked for, and the same weights', () => {
    const model = mergeModel(
      { ...input([Math.log(2), -INF], [0, 1, 0, 0], [0, 1], [0, 1]), referenceLse: Math.log(2) },
      capture([2, 0]),
      0,
    )
    const other = inBase(model, 'e', '2')
    expect(other.ranks.map(({ lse }) => lse)[0]).toBeCloseTo(1, 6)
    expect(other.ranks[1]?.lse).toBe(-INF)
    expect([other.lse, other.referenceLse].map((lse) => Number(lse?.toFixed(6)))).toEqual([1, 1])
    expect(other.ranks.map(({ weight }) => weight)).toEqual(model.ranks.map(({ weight }) => weight))
    expect(inBase(model, 'e', 'e')).toBe(model)
  })

  it('weighs ranks by their lse and agrees with an engine that merged right', () => {
    const model = mergeModel(
      input([Math.log(2), Math.log(8)], [0, 1, 10, 1], [8, 1], [8, 1]),
      capture([2, 3]),
      0,
    )
    expect(model.ranks.map((r) => Number(r.weight.toFixed(6)))).toEqual([0.2, 0.8])
    expect(model.weightSum).toBeCloseTo(1, 12)
    expect(model.againstRecomputed.relative).toBeLessThan(1e-6)
    expect(model.againstReference?.relative).toBe(0)
    expect(model.ranks.map((r) => r.trouble)).toEqual([null, null])
  })

  it('tells a wrong merge from wrong partials', () => {
    const model = mergeModel(input([0, 0], [2, 2, 4, 4], [9, 9], [3, 3]), capture([1, 1]), 0)
    expect(model.againstRecomputed.relative).toBeCloseTo(2, 6)
    expect(model.againstReference?.relative).toBeCloseTo(2, 6)
  })

  it('has no error against a reference that does not exist', () => {
    expect(mergeModel(input([0], [1, 1], [1, 1], null), capture([1]), 0).againstReference).toBeNull()
  })

  it('names what is odd: keys without lse, lse without keys, NaN with weight', () => {
    const model = mergeModel(
      input([0, -INF, INF, Number.NaN, 1], [Number.NaN, 0, 0, 0, 0, 0, 0, 0, 1, 1], [1, 1], null),
      capture([1, 0, 4, 4, 0]),
      0,
    )
    expect(model.ranks.map((r) => r.state)).toEqual(['finite', 'empty', 'plusInf', 'nan', 'finite'])
    expect(model.ranks.map((r) => r.trouble)).toEqual([
      'NaN goes into the result',
      null,
      'keys, but no lse',
      'lse is NaN: its keys are lost',
      'an lse without keys',
    ])
  })

  it('finds no fault in a rank without keys that is neutral, however its lse says so', () => {
    const troubles = (out: number) =>
      mergeModel(
        input([0, -INF, INF, Number.NaN], [1, 1, 0, 0, 0, 0, out, out], [1, 1], null),
        capture([1, 0, 0, 0]),
        0,
      ).ranks.map((r) => r.trouble)
    expect(troubles(0)).toEqual([null, null, null, null])
    expect(troubles(Number.NaN)).toEqual([null, null, null, 'out is not 0 without keys'])
  })

  it('judges no rank by keys that the bundle does not tell', () => {
    const model = mergeModel(input([0, -INF], [1, 1, 0, 0], [1, 1], null), capture([-1, -1]), 0)
    expect(model.ranks.map((r) => [r.visibleKeys, r.trouble])).toEqual([
      [null, null],
      [null, null],
    ])
  })

  it('tells the error of the partials from the error of the merge', () => {
    const model = mergeModel(input([0], [2, 2], [2, 2], [1, 1]), capture([1]), 0)
    expect(model.againstRecomputed.relative).toBe(0)
    expect(model.partialsAgainstReference?.relative).toBe(1)
  })

  it('splits the merged vector into shares that sum to it', () => {
    const row = input([0, Math.log(3)], [4, 8, 8, 16], [7, 14], null)
    const model = mergeModel(row, capture([1, 1]), 0)
    const shares = model.ranks.map((r) => shareOf(row, 2, r.rank, r.weight))
    expect((shares[0]?.[0] ?? 0) + (shares[1]?.[0] ?? 0)).toBeCloseTo(7, 5)
    expect([...shareOf(input([0], [Number.NaN, 1], [0, 0], null), 2, 0, 0)]).toEqual([0, 0])
  })
})

describe('the chosen capture', () => {
  const captures = [
    { step: 4, layer: 0 },
    { step: 9, layer: 2 },
    { step: 9, layer: 0 },
  ]

  it.each([
    [null, null, { step: 9, layer: 0 }],
    [9, 2, { step: 9, layer: 2 }],
    [4, null, { step: 4, layer: 0 }],
    [null, 2, { step: 9, layer: 2 }],
  ])('for step %j and layer %j is %j', (step, layer, key) => {
    expect(chosenCapture(captures, step, layer, 31)).toEqual({ kind: 'captured', key })
  })

  it('is missing for a step without tensors, with the nearest that has some', () => {
    expect(chosenCapture(captures, 8, null, 31)).toEqual({
      kind: 'missing',
      wanted: { step: 8, layer: 0 },
      nearest: { step: 9, layer: 0 },
    })
    expect(chosenCapture([], null, null, 31)).toEqual({
      kind: 'missing',
      wanted: { step: 31, layer: 0 },
      nearest: null,
    })
  })

  it.each([
    [{ steps: 'last' }, { step: 31, layer: 0 }, true],
    [{ steps: 'last' }, { step: 30, layer: 0 }, false],
    [{ steps: [3], layers: [0, 1] }, { step: 3, layer: 1 }, true],
    [{ steps: [3] }, { step: 3, layer: 1 }, false],
    [{ steps: 'none' }, { step: 3, layer: 0 }, false],
  ])('with capture %j of %j comes: %j', (given, key, comes) => {
    const parsed = parseRunConfig({ workload: { steps: 32 }, capture: given })
    if (!parsed.ok) throw new Error('refused')
    expect(willCapture(parsed.config, key)).toBe(comes)
  })

  it('moves by arrow keys through rows and heads', () => {
    expect(['ArrowUp', 'ArrowRight', 'KeyA'].map(arrowMove)).toEqual([
      { rows: -1, heads: 0 },
      { rows: 0, heads: 1 },
      null,
    ])
  })

  it('has a row for the selected request and query token', () => {
    const names = { request: [0, 0, 1, 1], qIndex: [0, 1, 0, 1] }
    expect(chosenRow(names, 1, 1)).toBe(3)
    expect(chosenRow(names, 1, null)).toBe(2)
    expect(chosenRow(names, null, null)).toBe(0)
    expect(chosenRow(names, 7, 0)).toBe(0)
    expect([within(-1, 4), within(9, 4), within(0, 0)]).toEqual([0, 3, 0])
  })
})

describe('the lse axis', () => {
  const modelOf = (lse: number[]) =>
    mergeModel(input(lse, [...lse, ...lse].fill(1), [1, 1], null), capture(lse.map(() => 1)), 0)
  const parts = (lse: number[]) => modelOf(lse).ranks
  const room = { label: 20, gap: 2, lanes: 7 }
  const many = fc.array(fc.oneof(fc.double({ min: -50, max: 50, noNaN: true }), fc.constant(-INF)), {
    minLength: 1,
    maxLength: 64,
  })

  it('puts every finite rank on it, none over another, and the rest beside it', () => {
    fc.assert(
      fc.property(many, (lse) => {
        const axis = lseAxis(parts(lse), [null], 600, room)
        expect(axis.marks.length + axis.off.length).toBe(lse.length)
        for (const mark of axis.marks) {
          expect(mark.x).toBeGreaterThanOrEqual(0)
          expect(mark.x).toBeLessThanOrEqual(600)
        }
        const half = (m: { labelled: boolean }) => (m.labelled ? room.label : axis.slim) / 2
        for (let lane = 0; lane < axis.lanes; lane++) {
          const inLane = axis.marks.filter((m) => m.lane === lane)
          for (const [i, mark] of inLane.entries()) {
            const last = inLane[i - 1]
            if (last !== undefined)
              expect(mark.x - half(mark)).toBeGreaterThanOrEqual(last.x + half(last) - 1e-9)
          }
        }
      }),
    )
  })

  const labelled = (lse: number[], width: number) =>
    lseAxis(parts(lse), [null], width, room)
      .marks.filter((m) => m.labelled)
      .map((m) => m.rank)
      .toSorted((a, b) => a - b)

  it('numbers every rank where there is room, and of a crowd those of every few ranks and those apart', () => {
    const even = (n: number) => Array.from({ length: n }, (_, i) => i)
    expect(labelled(even(32), 1000)).toEqual(even(32))
    const some = labelled([...even(63).map((i) => i / 50), 9], 1000)
    expect(some).toEqual(expect.arrayContaining([0, 16, 32, 48, 63]))
    expect(some.length).toBeLessThan(40)
  })

  const overlap = (a: Chip, b: Chip) =>
    Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > 1e-6 &&
    Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 1e-6

  it('never writes a number over a number, and always that of the selected rank', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.double({ min: 3, max: 4, noNaN: true }), fc.constantFrom(3, 9, 9.1)), {
          minLength: 1,
          maxLength: 64,
        }),
        fc.nat(63),
        fc.constantFrom([504, 176], [300, 140], [1300, 240]),
        (lse, rank, [width = 0, height = 0]) => {
          const chips = chipsOf(modelOf(lse), width, height, rank)
          expect(chips.length).toBe(lse.length)
          const named = chips.filter((c) => c.labelled)
          if (rank < lse.length) expect(named.at(-1)?.rank).toBe(rank)
          for (const [i, a] of named.entries())
            for (const b of named.slice(i + 1)) expect(overlap(a, b), `${a.rank} and ${b.rank}`).toBe(false)
          for (const { y, height: h } of named) expect(y >= 0 && h >= 10).toBe(true)
        },
      ),
    )
  })

  it('leaves marks where they are when the selection moves', () => {
    const model = modelOf(Array.from({ length: 64 }, (_, i) => Math.sin(i) / 9))
    const middle = (rank: number | null) =>
      chipsOf(model, 504, 176, rank)
        .map((c) => [c.rank, Number((c.x + c.width / 2).toFixed(6)), Number((c.y + c.height).toFixed(6))])
        .toSorted(([a = 0], [b = 0]) => a - b)
    expect(middle(5)).toEqual(middle(null))
  })

  it('shows the selected rank beside the axis also where not all have room', () => {
    const off = parts(Array.from({ length: 12 }, () => -INF))
    const shown = (rank: number | null) => offShown(off, 4, rank).map((r) => r.rank)
    expect([shown(null), shown(2), shown(9)]).toEqual([
      [0, 1, 2, 3],
      [0, 1, 2, 3],
      [0, 1, 2, 9],
    ])
  })

  it('has round ticks with enough digits to tell them apart', () => {
    expect(axisTicks(0.3, 2.1, 4)).toEqual([0.5, 1, 1.5, 2])
    expect([tickDigits([0.5, 1]), tickDigits([10, 20]), tickDigits([0.25, 0.3])]).toEqual([1, 0, 2])
  })

  it('is there even when every rank is empty', () => {
    expect(lseAxis(parts([-INF, -INF]), [-INF], 600, room)).toMatchObject({
      min: -1,
      max: 1,
      marks: [],
      lanes: 1,
    })
  })
})

describe('the bar of weights', () => {
  it('is filled by the ranks that have weight', () => {
    const model = mergeModel(
      input([Math.log(2), -INF, Math.log(8)], [0, 0, 0, 0, 0, 0], [0, 0], null),
      capture([1, 0, 1]),
      0,
    )
    const segments = segmentsOf(model.ranks)
    expect(segments.map((s) => s.rank)).toEqual([0, 2])
    const last = segments.at(-1)
    expect((last?.from ?? 0) + (last?.size ?? 0)).toBeCloseTo(1, 12)
  })
})

describe('the vector plot', () => {
  it('ranges over what is finite', () => {
    expect(rangeOf([[1, Number.NaN, 3], [INF]])).toEqual({ min: 0.9, max: 3.1 })
    expect(rangeOf([[Number.NaN]])).toEqual({ min: -1, max: 1 })
    const flat = rangeOf([[0, 0]])
    expect(flat.max).toBeGreaterThan(flat.min)
  })

  it('marks where values are missing', () => {
    expect(gapsOf([Number.NaN, 1, INF, Number.NaN])).toEqual([
      { first: 0, end: 1 },
      { first: 2, end: 4 },
    ])
    expect(gapsOf([1, 2])).toEqual([])
  })

  it('signs the error and scales it by the largest finite one', () => {
    const { errors, limit } = signedErrors([1, 2, Number.NaN], [1.5, 1, 0])
    expect([...errors]).toEqual([-0.5, 1, Number.NaN])
    expect(limit).toBe(1)
  })

  it('finds the entry under the pointer', () => {
    expect([
      entryAt(0, 512, 512),
      entryAt(511.9, 512, 512),
      entryAt(-1, 512, 512),
      entryAt(512, 512, 512),
    ]).toEqual([0, 511, null, null])
  })
})

describe('the error map', () => {
  it('is logarithmic over the decades that the errors span, and NaN is not on the ramp', () => {
    expect(heatRange([2e-4, Number.NaN, 0, 3e-3])).toEqual({ from: -4, to: -2 })
    expect(heatRange([3e-3, 4e-3])).toEqual({ from: -3, to: -2 })
    expect(heatRange([0, Number.NaN])).toEqual({ from: -8, to: 0 })
    const range = { from: -8, to: 0 }
    expect([0, 1e-8, 1e-4, 1, INF].map((e) => heatOf(e, range))).toEqual([0, 0, 0.5, 1, 1])
    expect(heatOf(Number.NaN, range)).toBeNull()
  })

  it('shows the worst row where several share a cell, and picks it', () => {
    const errors = Float32Array.from([0.1, 0.5, 0.2, Number.NaN])
    const grid = heatGrid(4, 1, 40, 6)
    expect(grid).toMatchObject({ rowsPerCell: 2, cellRows: 2 })
    expect([worstRow(errors, grid, 0, 0), worstRow(errors, grid, 1, 0)]).toEqual([1, 3])
    expect(heatHit(errors, grid, 20, 1)).toEqual({ row: 1, head: 0 })
    expect(heatHit(errors, grid, 41, 1)).toBeNull()
    expect(heatHit(errors, grid, 20, 100)).toBeNull()
  })
})
