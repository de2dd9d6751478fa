import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { publishedGains, publishedRates } from '../../../app/sweep/overlay.ts'
import type { PointRow } from '../../../app/sweep/point-rows.ts'
import { PUBLISHED } from '../../../app/sweep/published.ts'
import {
  arrangementName,
  arrangementsOf,
  cellKey,
  curvesOf,
  facetOf,
  facetsOf,
  spotsOf,
} from '../../../app/sweep/spots.ts'
import { summarise } from '../../../app/sweep/summary.ts'
import { pointsOf, row, single } from './sample.ts'

const dcp = (over: Partial<PointRow> = {}): PointRow =>
  row({ key: 'dcp4-a2a-bf16-q1-c1024-n1', mode: 'dcp', dcp: 4, comm: 'a2a', ...over })

const predicted = (over: Partial<PointRow> = {}): PointRow =>
  row({ provenance: 'predicted', repeat: -1, stepMsP95: Number.NaN, layersMeasured: -1, ...over })

const facet = facetOf(row())

describe('the points of a sweep', () => {
  it('join the repeats: their geometric mean, slowest and fastest, and medians', () => {
    const rows = [
      row({ repeat: 2, tokensPerSecond: 400, stepMsP50: 3, attnMs: 1 }),
      row({ repeat: 0, tokensPerSecond: 100, stepMsP50: 1, attnMs: 2 }),
      row({ repeat: 1, tokensPerSecond: 200, stepMsP50: 2, attnMs: 9 }),
    ]
    const [spot, ...others] = spotsOf(rows, facet)
    expect(others).toEqual([])
    expect(spot).toMatchObject({ kind: 'measured', least: 100, most: 400, stepMs: 2, attnMs: 2 })
    expect(spot?.tokensPerSecond).toBeCloseTo(200, 9)
    expect(spot?.rows.map(({ repeat }) => repeat)).toEqual([0, 1, 2])
  })

  it('never mix what was measured, predicted for this device, and predicted for GPUs', () => {
    const spots = spotsOf(
      [
        row({ provenance: 'scaled' }),
        predicted({ tokensPerSecond: 7 }),
        predicted({ transport: 'model', tokensPerSecond: 9 }),
      ],
      facet,
    )
    expect(spots.map(({ kind, tokensPerSecond }) => [kind, tokensPerSecond])).toEqual([
      ['measured', expect.closeTo(100, 9)],
      ['local', expect.closeTo(7, 9)],
      ['gpus', expect.closeTo(9, 9)],
    ])
    expect(spots[0]?.provenances).toEqual(['scaled'])
  })

  it('are none of what others published, and of one facet only', () => {
    const rows = [row({ provenance: 'published' }), row({ provenance: 'imported' }), row({ kvDtype: 'fp8' })]
    expect(spotsOf(rows, facet)).toEqual([])
    expect(facetsOf([...rows, row(), row({ qLen: 2 })]).map(({ kvDtype, qLen }) => [kvDtype, qLen])).toEqual([
      ['bf16', 1],
      ['fp8', 1],
      ['bf16', 2],
    ])
  })

  it('have the rates that the summary compares', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 5 }),
        fc.array(fc.double({ min: 1, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 5 }),
        (tp, a2a) => {
          const rows = [
            ...tp.map((tokensPerSecond, repeat) => row({ tokensPerSecond, repeat })),
            ...a2a.map((tokensPerSecond, repeat) => dcp({ tokensPerSecond, repeat })),
          ]
          const [cell] = summarise(rows).groups[0]?.cells ?? []
          const spots = spotsOf(rows, facet)
          const rateOf = (name: string) =>
            spots.find((spot) => arrangementName(spot) === name)?.tokensPerSecond
          expect(rateOf('tp')).toBe(cell?.tp.tokensPerSecond)
          expect(rateOf('dcp4 a2a')).toBe(cell?.best.tokensPerSecond)
        },
      ),
    )
  })
})

describe('curves', () => {
  const at = (context: number, concurrency: number, over: Partial<PointRow> = {}): PointRow =>
    dcp({ key: `dcp4-a2a-bf16-q1-c${context}-n${concurrency}`, context, concurrency, ...over })
  const rows = [at(4096, 16), at(1024, 4), at(4096, 1), at(4096, 4), at(4096, 4, { repeat: 1 })]

  it('hold one axis and rise along the other', () => {
    const spots = spotsOf(rows, facet)
    const [over, ...others] = curvesOf(spots, 'concurrency', 4096)
    expect(others).toEqual([])
    expect(over?.spots.map(({ concurrency }) => concurrency)).toEqual([1, 4, 16])
    expect(curvesOf(spots, 'context', 4)[0]?.spots.map(({ context }) => context)).toEqual([1024, 4096])
    expect(curvesOf(spots, 'context', 5)).toEqual([])
  })

  it('are one an arrangement and kind, the baseline first', () => {
    const spots = spotsOf(
      [
        dcp({ dcp: 8 }),
        dcp({ comm: 'ag_rs' }),
        dcp(),
        predicted({ mode: 'dcp', dcp: 4, comm: 'a2a', key: 'p' }),
        row(),
      ].map((one, i) => ({ ...one, key: `${i}` })),
      facet,
    )
    expect(arrangementsOf(spots).map(arrangementName)).toEqual(['tp', 'dcp4 a2a', 'dcp4 ag_rs', 'dcp8 a2a'])
    expect(
      curvesOf(spots, 'concurrency', 1024).map((curve) => `${curve.kind} ${arrangementName(curve)}`),
    ).toEqual([
      'measured tp',
      'measured dcp4 a2a',
      'local dcp4 a2a',
      'measured dcp4 ag_rs',
      'measured dcp8 a2a',
    ])
  })
})

it('the keys of one cell end alike, whatever the arrangement, and those of other cells do not', () => {
  const keys = pointsOf(
    single({ mode: ['tp', 'dcp'], dcp: [2, 8], context: [1024, 11_024], concurrency: [4, 64] }),
  ).map(({ key }) => key)
  const end = cellKey(facet, 1024, 4)
  expect(keys.filter((key) => key.endsWith(end))).toEqual([
    'tp-bf16-q1-c1024-n4',
    'dcp2-a2a-bf16-q1-c1024-n4',
    'dcp8-a2a-bf16-q1-c1024-n4',
  ])
})

describe('published figures', () => {
  it('are laid over curves where the source names that place, within the axis', () => {
    const rates = publishedRates('concurrency', 4096, 1, 32)
    expect(rates.map(({ context, concurrency, value }) => [context, concurrency, value])).toEqual([
      [4096, 24, 483.5],
      [4096, 24, 467.5],
    ])
    expect(publishedRates('concurrency', 4096, 1, 16)).toEqual([])
    expect(publishedRates('concurrency', 5000, 1, 32)).toEqual([])
    expect(rates.every((point) => PUBLISHED.includes(point) && point.source.startsWith('https://'))).toBe(
      true,
    )
  })

  it('are laid over a cell as gains of exactly its context and concurrency', () => {
    expect(publishedGains(32 * 1024, 64).map(({ value }) => value)).toEqual([1.57])
    expect(publishedGains(32 * 1024, 63)).toEqual([])
  })
})
