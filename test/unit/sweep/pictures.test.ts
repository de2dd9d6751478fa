import { describe, expect, it } from 'vitest'
import { restOfLayer } from '../../../app/run/rest-of-layer.ts'
import { intervalOf } from '../../../app/statistics/sample.ts'
import { attentionWork } from '../../../app/sweep/cost.ts'
import { type Course, coursesOf } from '../../../app/sweep/crossings.ts'
import { frontOf } from '../../../app/sweep/front.ts'
import { publishedPairs } from '../../../app/sweep/overlay.ts'
import type { PointRow } from '../../../app/sweep/point-rows.ts'
import { poolsOf } from '../../../app/sweep/pool.ts'
import { ridgeOf, roofAt, roofOf, roofPoints } from '../../../app/sweep/roofline.ts'
import { sharesOf } from '../../../app/sweep/shares.ts'
import { arrangementsOf, curvesOf, facetOf, type Spot, spotsOf } from '../../../app/sweep/spots.ts'
import { pointsOf, RATES, row, single } from './sample.ts'

const DCP4 = { mode: 'dcp', dcp: 4, comm: 'a2a' }

/** Points of the facet of `row()`. */
const spotsFrom = (rows: readonly PointRow[]): Spot[] => spotsOf(rows, facetOf(row()))

/** One arrangement at a concurrency with these repeats. */
const at = (over: Partial<PointRow>, concurrency: number, rates: readonly number[]): PointRow[] =>
  rates.map((tokensPerSecond, repeat) =>
    row({
      batch: concurrency,
      ...over,
      key: `${over.mode ?? 'tp'}${over.dcp ?? 1}-n${concurrency}`,
      concurrency,
      repeat,
      tokensPerSecond,
    }),
  )

describe('latency against throughput', () => {
  it('has on its front what no other point beats in both', () => {
    const points = frontOf(
      spotsFrom([
        ...at({}, 1, [100]), // 10 ms
        ...at({}, 4, [200]), // 20 ms
        ...at(DCP4, 1, [80]), // 12.5 ms, fewer tokens: beaten by tp n 1
        ...at(DCP4, 4, [320]), // 12.5 ms, more tokens: beats tp n 4
      ]),
      8,
    )
    expect(
      points.map(({ spot, msPerToken, perGpu, beatenBy }) => [
        spot.key,
        Number(msPerToken.toFixed(9)),
        Number(perGpu.toFixed(9)),
        beatenBy?.key,
      ]),
    ).toEqual([
      ['tp1-n1', 10, 12.5, undefined],
      ['dcp4-n4', 12.5, 40, undefined],
      ['dcp4-n1', 12.5, 10, 'dcp4-n4'],
      ['tp1-n4', 20, 25, 'dcp4-n4'],
    ])
  })

  it('shows a point at capacity once, and neither of two equals beaten', () => {
    const capped = { batch: 4, capacityLimited: true }
    const points = frontOf(
      spotsFrom([
        ...at({}, 4, [200]),
        ...at(capped, 16, [200]),
        ...at(capped, 64, [200]),
        ...at(DCP4, 4, [200]),
      ]),
      8,
    )
    expect(points.map(({ spot, beatenBy }) => [spot.key, beatenBy])).toEqual([
      ['tp1-n4', null],
      ['dcp4-n4', null],
    ])
  })

  it('has what others published of both, at that context only', () => {
    expect(publishedPairs(4096).map(({ latency, rate }) => [latency.dcp, latency.value, rate.value])).toEqual(
      [
        [1, 43.84, 483.5],
        [8, 33.98, 467.5],
      ],
    )
    // There are latencies of this context, but no rates.
    expect(publishedPairs(120_000)).toEqual([])
  })

  it('is empty of nothing', () => {
    expect(frontOf([], 8)).toEqual([])
  })
})

describe('crossovers', () => {
  const coursesFrom = (rows: readonly PointRow[], noise: 'repeats' | number = 'repeats'): Course[] =>
    coursesOf(curvesOf(spotsFrom(rows), 'concurrency', 1024), 'concurrency', noise)

  it('lie where straight lines over the logarithm of the place cross', () => {
    const [course] = coursesFrom([
      ...at({}, 1, [100, 101]),
      ...at({}, 16, [100, 101]),
      ...at(DCP4, 1, [50, 50.5]),
      ...at(DCP4, 16, [200, 202]),
    ])
    expect(course).toMatchObject({ name: 'dcp4 a2a', begins: 'tp', from: 1, to: 16 })
    expect(course?.crossings).toHaveLength(1)
    const crossing = course?.crossings[0]
    // From half of the baseline to its double: a third of the way.
    expect(crossing?.at).toBeCloseTo(16 ** (1 / 3), 9)
    expect(crossing?.rate).toBeCloseTo(Math.sqrt(100 * 101), 9)
    expect(crossing).toMatchObject({ between: [1, 16], into: 'dcp', clear: true })
  })

  it('are significant only where both sides are, by the repeats or by the error of the model', () => {
    const rows = [...at({}, 1, [100]), ...at({}, 4, [100]), ...at(DCP4, 1, [90]), ...at(DCP4, 4, [150])]
    expect(coursesFrom(rows)[0]?.crossings[0]?.clear).toBe(false)
    expect(coursesFrom(rows, 1.05)[0]?.crossings[0]?.clear).toBe(true)
    expect(coursesFrom(rows, 1.2)[0]?.crossings[0]?.clear).toBe(false)
  })

  it('go both ways, pass over places with equal rates, and are none where nobody passes', () => {
    const [first] = coursesFrom([
      ...[1, 2, 4, 8].flatMap((n) => at({}, n, [100])),
      ...at(DCP4, 1, [200]),
      ...at(DCP4, 2, [100]),
      ...at(DCP4, 4, [50]),
      ...at(DCP4, 8, [200]),
    ])
    expect(first?.begins).toBe('dcp')
    expect(first?.crossings.map(({ between, into }) => [between, into])).toEqual([
      [[1, 4], 'tp'],
      [[4, 8], 'dcp'],
    ])
    const [equal] = coursesFrom([...at({}, 1, [100]), ...at(DCP4, 1, [100])])
    expect(equal).toMatchObject({ crossings: [], begins: undefined })
  })

  it('need a baseline', () => {
    expect(coursesFrom(at(DCP4, 1, [100]))).toEqual([])
  })
})

describe('parts of a step', () => {
  it('are a whole, the rest what the others leave', () => {
    const shares = sharesOf({ stepMs: 10, attnMs: 5, commMs: 2, waitMs: 1 })
    expect(shares?.ms).toEqual({ attention: 5, transfer: 2, waiting: 1, rest: 2 })
    expect(shares?.share).toEqual({ attention: 0.5, transfer: 0.2, waiting: 0.1, rest: 0.2 })
  })

  it('have no rest where medians of parts are more than that of the step, and are null of an unknown step', () => {
    expect(sharesOf({ stepMs: 3, attnMs: 3, commMs: 1, waitMs: 0 })?.share).toEqual({
      attention: 0.75,
      transfer: 0.25,
      waiting: 0,
      rest: 0,
    })
    expect(sharesOf({ stepMs: Number.NaN, attnMs: Number.NaN, commMs: 0, waitMs: 0 })).toBeNull()
  })
})

describe('the roofline', () => {
  it('is the fastest reading, also of weights, and the fastest multiplying', () => {
    const roof = roofOf(RATES)
    expect(roof?.bytesPerS).toBeCloseTo(4.5e12, -3)
    expect(roof?.flopsPerS).toBe(6e14)
    expect(roofOf({ ...RATES, attention: {} })).toBeNull()
    const ideal = { bytesPerS: 4, flopsPerS: 100 }
    expect(ridgeOf(ideal)).toBe(25)
    expect(roofAt(ideal, 10)).toBe(40)
    expect(roofAt(ideal, 50)).toBe(100)
  })

  it('has points of the work that a rank does in a step, and says what is above them', () => {
    const [point] = pointsOf(
      single({
        base: {
          model: { preset: 'deepseek-v3' },
          parallel: { tpSize: 8 },
          engine: { device: 'cuda', restOfLayer: 'model' },
        },
      }),
    )
    if (point === undefined) throw new Error('no point')
    const points = new Map([[point.key, point]])
    const spots = spotsFrom([
      row({ ...point, mode: 'dcp', comm: 'a2a', kvDtype: 'bf16', attnMs: 8, stepMsP50: 20 }),
    ])
    const roof = { bytesPerS: 4e12, flopsPerS: 6e14 }
    const [attention] = roofPoints(spots, points, { shared: false, roof }, 'attention')
    const work = attentionWork(point.run)
    const { layers } = point.run.model
    expect(attention?.bytes).toBe(work.bytes * layers)
    expect(attention?.flopsPerS).toBeCloseTo((work.flops * layers) / 8e-3, 0)
    expect(attention?.intensity).toBeCloseTo(work.flops / work.bytes, 9)
    // 128 heads read each latent vector, which is beyond the ridge of 150 operations a byte.
    expect(attention?.under).toBe('matrix')
    expect(attention?.leastMs).toBeCloseTo(((work.flops * layers) / 6e14) * 1e3, 9)
    const [shared] = roofPoints(spots, points, { shared: true, roof }, 'attention')
    expect(shared?.bytes).toBe(attention?.bytes)
    const [together] = roofPoints(spots, points, { shared: true, roof }, 'step')
    const [step] = roofPoints(spots, points, { shared: false, roof }, 'step')
    expect(step?.ms).toBe(20)
    const { bytes } = restOfLayer(point.run)
    expect(bytes).toBeGreaterThan(0)
    expect(step?.bytes).toBe((work.bytes + bytes) * layers)
    expect(together?.bytes).toBe((work.bytes + bytes) * layers * 8)
    expect(roofPoints(spots, new Map(), { shared: false, roof }, 'step')).toEqual([])
  })
})

describe('KV pools', () => {
  it('hold as many requests as the points of the sweep run at once', () => {
    const points = pointsOf(
      single({ mode: ['tp', 'dcp'], context: [65_536, 1_000_000], concurrency: [1, 4096] }),
    )
    const pools = poolsOf(
      arrangementsOf(spotsFrom(points.map((point) => row({ ...point, key: point.key })))),
      points,
      [65_536, 1_000_000, 8_000_000],
    )
    expect(pools.map(({ name }) => name)).toEqual(['tp', 'dcp8 a2a'])
    for (const pool of pools)
      for (const { context, requests } of pool.held)
        for (const point of points)
          if (
            point.context === context &&
            point.capacityLimited &&
            (pool.name === 'tp') === (point.mode === 'tp')
          )
            expect(requests).toBe(point.batch)
    const [tp, dcp] = pools
    expect(dcp?.tokens).toBeGreaterThan(7 * (tp?.tokens ?? 0))
    expect(tp?.held.at(-1)?.requests).toBe(0)
  })
})

describe('the interval of a rate', () => {
  it('is that of Student on logarithms', () => {
    const [low, high] = intervalOf([100, 110, 121]) ?? [0, 0]
    // Logarithms a step of ln 1.1 apart: half width t(2) * ln 1.1 / sqrt 3.
    const reach = (4.303 * Math.log(1.1)) / Math.sqrt(3)
    expect(low).toBeCloseTo(110 * Math.exp(-reach), 6)
    expect(high).toBeCloseTo(110 * Math.exp(reach), 6)
    expect(intervalOf([5])).toBeNull()
    expect(spotsFrom(at({}, 1, [100, 110]))[0]?.interval).not.toBeNull()
    expect(spotsFrom([row({ provenance: 'predicted', transport: 'local' })])[0]?.interval).toBeNull()
  })
})
