import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quantile, ratioOf, student95 } from '../../../app/statistics/sample.ts'
import type { PointRow } from '../../../app/sweep/point-rows.ts'
import { METRICS, PUBLISHED } from '../../../app/sweep/published.ts'
import { type Group, summarise } from '../../../app/sweep/summary.ts'
import { row } from './sample.ts'

type Rates = readonly number[]

/** Repeats of one arrangement in one cell. */
const repeats = (over: Partial<PointRow>, rates: Rates): PointRow[] =>
  rates.map((tokensPerSecond, repeat) => {
    const { mode = 'tp', dcp = 1, comm = 'none', context = 1024, concurrency = 1 } = over
    const key = `${mode}${dcp}-${comm}-c${context}-n${concurrency}`
    return row({ ...over, key, repeat, tokensPerSecond, stepMsP50: 1000 / tokensPerSecond })
  })

const tp = (context: number, concurrency: number, rates: Rates): PointRow[] =>
  repeats({ context, concurrency }, rates)

const dcp = (context: number, concurrency: number, rates: Rates, size = 8, comm = 'a2a'): PointRow[] =>
  repeats({ mode: 'dcp', dcp: size, comm, context, concurrency, limit: 'matrix' }, rates)

const group = (rows: readonly PointRow[]): Group => {
  const [only, ...others] = summarise(rows).groups
  if (only === undefined || others.length > 0) throw new Error(`${others.length + 1} groups`)
  return only
}

const STEADY = [100, 101, 99]
const FASTER = [150, 151, 149]
const NOISY = [90, 160, 110]

describe('the summary of a sweep', () => {
  it('says from which concurrency and context DCP pays', () => {
    const rows = [1024, 4096].flatMap((context) =>
      [1, 4, 16].flatMap((concurrency) => [
        ...tp(context, concurrency, STEADY),
        ...dcp(context, concurrency, context * concurrency >= 4096 ? FASTER : [80, 81, 79]),
      ]),
    )
    const { byContext, byConcurrency, cells } = group(rows)
    expect(byContext).toEqual([
      { at: 1024, from: 4, pays: [4, 16], unclear: false },
      { at: 4096, from: 1, pays: [1, 4, 16], unclear: false },
    ])
    expect(byConcurrency).toEqual([
      { at: 1, from: 4096, pays: [4096], unclear: false },
      { at: 4, from: 1024, pays: [1024, 4096], unclear: false },
      { at: 16, from: 1024, pays: [1024, 4096], unclear: false },
    ])
    expect(cells[0]).toMatchObject({ verdict: 'tp', best: { dcp: 8, comm: 'a2a', repeats: 3 } })
    expect(cells[5]?.gain).toBeCloseTo(1.5, 2)
  })

  it('says not significant where the spread does not allow an answer, or there is none', () => {
    expect(group([...tp(1024, 1, STEADY), ...dcp(1024, 1, NOISY)]).cells[0]).toMatchObject({
      verdict: 'not significant',
    })
    const once = group([...tp(1024, 1, [100]), ...dcp(1024, 1, [900])])
    expect(once.cells[0]).toMatchObject({ verdict: 'not significant', interval: null })
    expect(once.byContext).toEqual([{ at: 1024, from: null, pays: [], unclear: true }])
    expect(once.best).toEqual([])
  })

  it('names the best size and transport, and whether it is clearly that', () => {
    const rows = [
      ...tp(1024, 1, STEADY),
      ...dcp(1024, 1, FASTER, 8, 'a2a'),
      ...dcp(1024, 1, [120, 121, 119], 4, 'a2a'),
      ...dcp(1024, 1, [110, 111, 109], 8, 'ag_rs'),
    ]
    const { cells, best } = group(rows)
    expect(cells[0]).toMatchObject({ bestIsClear: true, best: { dcp: 8, comm: 'a2a' } })
    expect(best).toEqual([{ mode: 'dcp', dcp: 8, comm: 'a2a', cells: 1 }])
    const close = group([...rows, ...dcp(1024, 1, [149, 150, 151], 2, 'a2a')])
    expect(close.cells[0]?.bestIsClear).toBe(false)
  })

  it('names what limits each regime', () => {
    const rows = [1, 4, 16].flatMap((n) =>
      dcp(1024, n, STEADY).map((one): PointRow => ({ ...one, limit: n < 4 ? 'launch' : 'matrix' })),
    )
    expect(group(rows).regimes).toEqual([
      {
        mode: 'dcp',
        dcp: 8,
        comm: 'a2a',
        limit: 'matrix',
        points: 2,
        contexts: [1024, 1024],
        concurrencies: [4, 16],
      },
      {
        mode: 'dcp',
        dcp: 8,
        comm: 'a2a',
        limit: 'launch',
        points: 1,
        contexts: [1024, 1024],
        concurrencies: [1, 1],
      },
    ])
  })

  const predicted = (
    rows: readonly PointRow[],
    factor: number,
    transport: PointRow['transport'],
  ): PointRow[] =>
    rows
      .filter(({ repeat }) => repeat === 0)
      .map(
        (one): PointRow => ({
          ...one,
          provenance: 'predicted',
          transport,
          repeat: -1,
          stepMsP50: one.stepMsP50 * factor,
          tokensPerSecond: one.tokensPerSecond / factor,
        }),
      )

  it('tells where DCP pays also when it does not in the largest', () => {
    const rows = [1, 4, 16].flatMap((concurrency) => [
      ...tp(1024, concurrency, concurrency === 16 ? FASTER : STEADY),
      ...dcp(1024, concurrency, concurrency === 16 ? STEADY : FASTER),
    ])
    expect(group(rows).byContext).toEqual([{ at: 1024, from: null, pays: [1, 4], unclear: false }])
  })

  it('reports the error of the cost model, and takes no predicted difference below it for one', () => {
    const rows = [...tp(1024, 1, STEADY), ...dcp(1024, 1, FASTER)]
    const exact = summarise([
      ...rows,
      ...predicted(tp(1024, 1, STEADY), 1, 'local'),
      ...predicted(dcp(1024, 1, FASTER), 0.5, 'local'),
    ])
    expect(exact.modelError?.points).toBe(2)
    expect(exact.modelError?.median).toBeCloseTo(0.75, 2)
    expect(exact.modelError?.p90).toBeCloseTo(1.9, 2)
    expect(exact.groups.map((one) => one.predicted)).toEqual([false])
    const gpus = (gain: number): Group | undefined =>
      summarise([
        ...rows,
        ...predicted(rows, 1.2, 'local'),
        ...predicted(tp(1024, 1, STEADY), 1, 'model'),
        ...predicted(dcp(1024, 1, STEADY), 1 / gain, 'model'),
      ]).groups.find((one) => one.predicted)
    expect(gpus(1.1)?.cells[0]).toMatchObject({ verdict: 'not significant', interval: null })
    expect(gpus(1.5)?.cells[0]).toMatchObject({ verdict: 'dcp', interval: null })
    expect(gpus(1.5)?.transport).toBe('model')
    const both = [...predicted(rows, 1, 'model'), ...rows]
    expect(summarise(both).groups.map((one) => one.predicted)).toEqual([false, true])
  })

  it('has nothing to say of an error without measurements', () => {
    expect(summarise(predicted(tp(1024, 1, STEADY), 1, 'local'))).toEqual({ groups: [], modelError: null })
    expect(summarise([])).toEqual({ groups: [], modelError: null })
  })

  it('keeps published and imported rows out', () => {
    const foreign = dcp(1024, 1, FASTER).map((one): PointRow => ({ ...one, provenance: 'published' }))
    expect(summarise([...tp(1024, 1, STEADY), ...foreign]).groups[0]?.cells).toEqual([])
  })

  const cell = fc.record({
    context: fc.constantFrom(1024, 4096),
    concurrency: fc.constantFrom(1, 4, 16),
    size: fc.constantFrom(1, 2, 8),
    rates: fc.array(fc.double({ min: 1, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 4 }),
  })
  const sweeps = fc
    .array(cell, { maxLength: 20 })
    .map((cells) =>
      cells.flatMap(({ context, concurrency, size, rates }) =>
        size === 1 ? tp(context, concurrency, rates) : dcp(context, concurrency, rates, size),
      ),
    )

  it('does not depend on the order of the rows', () => {
    fc.assert(
      fc.property(sweeps, fc.infiniteStream(fc.nat()), (rows, order) => {
        const shuffled = rows
          .map((one) => ({ one, place: order.next().value ?? 0 }))
          .sort((a, b) => a.place - b.place)
          .map(({ one }) => one)
        const cells = (from: readonly PointRow[]): string[] =>
          summarise(from).groups.flatMap((one) =>
            one.cells.map((c) => [c.context, c.concurrency, c.verdict, c.gain.toPrecision(9)].join()),
          )
        expect(cells(shuffled)).toEqual(cells(rows))
      }),
    )
  })

  it('only says that DCP pays where every larger cell says so', () => {
    fc.assert(
      fc.property(sweeps, (rows) => {
        for (const { cells, byContext, byConcurrency } of summarise(rows).groups) {
          for (const { at, from } of byContext)
            for (const one of cells.filter(({ context }) => context === at))
              if (from !== null && one.concurrency >= from) expect(one.verdict).toBe('dcp')
          for (const { at, from } of byConcurrency)
            for (const one of cells.filter(({ concurrency }) => concurrency === at))
              if (from !== null && one.context >= from) expect(one.verdict).toBe('dcp')
          for (const { gain, interval, verdict } of cells) {
            if (interval === null) expect(verdict).toBe('not significant')
            else expect(interval[0] <= gain && gain <= interval[1]).toBe(true)
          }
        }
      }),
    )
  })
})

describe('statistics', () => {
  it('interpolates quantiles as SQL does', () => {
    expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5)
    expect(quantile([1, 2, 3, 4], 0.95)).toBeCloseTo(3.85, 12)
    expect(quantile([7], 0.9)).toBe(7)
    expect(quantile([], 0.5)).toBeNaN()
  })

  it('has the points of the t distribution', () => {
    expect([1, 2.9, 4, 30, 1000].map(student95)).toEqual([12.706, 4.303, 2.776, 2.042, 2.042])
  })

  it('gives Welch intervals that hold the ratio and turn around with it', () => {
    const values = fc.array(fc.double({ min: 0.1, max: 1e4, noNaN: true }), { minLength: 2, maxLength: 6 })
    fc.assert(
      fc.property(values, values, (a, b) => {
        const [there, back] = [ratioOf(a, b), ratioOf(b, a)]
        expect(there.ratio * back.ratio).toBeCloseTo(1, 9)
        const [low, high] = there.interval ?? [1, 0]
        expect(low).toBeLessThanOrEqual(there.ratio * (1 + 1e-12))
        expect(high).toBeGreaterThanOrEqual(there.ratio * (1 - 1e-12))
        expect((back.interval?.[1] ?? 0) * low).toBeCloseTo(1, 6)
      }),
    )
  })
})

describe('published points', () => {
  it('have a source, a figure and the mark of what they are', () => {
    expect(PUBLISHED.length).toBeGreaterThan(50)
    for (const point of PUBLISHED) {
      expect(point.provenance).toBe('published')
      expect(point.source).toMatch(/^https:\/\/github\.com\/[\w.-]+\/[\w.-]+\/issues\/\d+$/)
      expect(METRICS).toContain(point.metric)
      expect(point.value).toBeGreaterThan(0)
      expect(Number.isFinite(point.value)).toBe(true)
    }
  })
})
