import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { acceptedPerStep } from '../../../app/run/engine-config.ts'
import { configRules } from '../../../app/run/parse.ts'
import { rankWeightBytes } from '../../../app/run/rest-of-layer.ts'
import type { SweepConfigInput } from '../../../app/sweep/config.ts'
import { expand } from '../../../app/sweep/expand.ts'
import { Done, measurementsOf } from '../../../app/sweep/plan.ts'
import { H200, onePoint, pointsOf, row, single, sweepOf } from './sample.ts'

const some = <T>(...values: T[]) =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: values.length })

/** Sweeps of all lists, whose combinations are not all possible. */
const sweeps: fc.Arbitrary<SweepConfigInput> = fc.record({
  base: fc.constantFrom(
    { model: { preset: 'deepseek-v3' as const }, parallel: { tpSize: 8 } },
    { model: { preset: 'deepseek-v2-lite' as const }, parallel: { tpSize: 4, interleave: 16 } },
    { model: { preset: 'tiny' as const }, parallel: { tpSize: 2 } },
  ),
  mode: some('tp' as const, 'dcp' as const),
  dcp: some(1, 2, 3, 4, 8, 16),
  comm: some('ag_rs' as const, 'a2a' as const),
  kvDtype: some('bf16' as const, 'fp8' as const, 'fp32' as const),
  qLen: some(1, 2),
  context: some(1, 1000, 1024, 16_384, 262_144),
  concurrency: some(1, 3, 4, 64, 4096),
})

describe('the points of a sweep', () => {
  it('are every combination, once, or left out with a reason', () => {
    fc.assert(
      fc.property(sweeps, (input) => {
        const config = sweepOf(input)
        const { points, leftOut } = expand(config, H200)
        const keys = [...points, ...leftOut].map(({ key }) => key)
        expect(new Set(keys).size).toBe(keys.length)
        const ranks =
          Number(config.mode.includes('tp')) +
          (config.mode.includes('dcp') ? config.dcp.length * config.comm.length : 0)
        const batches =
          config.kvDtype.length * config.qLen.length * config.context.length * config.concurrency.length
        expect(keys.length).toBe(ranks * batches)
        for (const { reason } of leftOut) expect(reason).toMatch(/\S/)
        for (const { run } of points) expect(configRules(run)).toEqual([])
      }),
    )
  })

  it('never hold more than the pool, and no fewer than fit', () => {
    fc.assert(
      fc.property(sweeps, (input) => {
        for (const point of expand(sweepOf(input), H200).points) {
          const { run, batch, concurrency, context, qLen, capacityTokens, capacityLimited } = point
          const length = context + (run.workload.steps - 1) * acceptedPerStep(run) + qLen
          expect(batch * length).toBeLessThanOrEqual(capacityTokens)
          expect(capacityLimited).toBe(batch < concurrency)
          if (capacityLimited) expect((batch + 1) * length).toBeGreaterThan(capacityTokens)
          expect(run.workload.requests).toEqual([{ contextLen: context, count: batch }])
        }
      }),
    )
  })

  it('have a GPU for each rank where ranks are processes, or are left out', () => {
    const engine = { device: 'cuda', ranks: 'processes' } as const
    const base = { model: { preset: 'deepseek-v3' }, parallel: { tpSize: 8 }, engine } as const
    const sweep = sweepOf(single({ base, mode: ['tp', 'dcp'], dcp: [2, 8] }))
    const { points, leftOut } = expand(sweep, { ...H200, gpus: 4 })
    expect(points.map(({ mode, dcp, run }) => [mode, dcp, run.engine.ranks])).toEqual([
      ['tp', 1, 'processes'],
      ['dcp', 2, 'processes'],
    ])
    expect(leftOut.map(({ reason }) => reason)).toEqual(['8 ranks need a GPU each, and there are 4'])
    expect(expand(sweep, { ...H200, gpus: 8 }).leftOut).toEqual([])
  })

  it('have keys that do not depend on what else is in the lists', () => {
    const [point] = pointsOf(single())
    const wider = pointsOf(single({ context: [1024, 65_536], concurrency: [1, 4, 8], dcp: [2, 8] }))
    expect(wider.map(({ key }) => key)).toContain(point?.key)
    expect(point?.key).toBe('dcp8-a2a-bf16-q1-c65536-n4')
  })

  it('come with powers of 4 first, each batch with its baseline', () => {
    const points = pointsOf(
      single({ mode: ['tp', 'dcp'], dcp: [2, 8], context: [2048, 1024], concurrency: [2, 1] }),
    )
    expect(points.map(({ key }) => key.replace(/-bf16-q1/, ''))).toEqual([
      'tp-c1024-n1',
      'dcp2-a2a-c1024-n1',
      'dcp8-a2a-c1024-n1',
      ...['c2048-n1', 'c1024-n2', 'c2048-n2'].flatMap((batch) => [
        `tp-${batch}`,
        `dcp2-a2a-${batch}`,
        `dcp8-a2a-${batch}`,
      ]),
    ])
  })

  it('leave out a dcp size of 1 beside the baseline, and measure it without', () => {
    const { points, leftOut } = expand(sweepOf(single({ mode: ['tp', 'dcp'], dcp: [1] })), H200)
    expect(points.map(({ mode }) => mode)).toEqual(['tp'])
    expect(leftOut).toEqual([{ key: 'dcp1-a2a-bf16-q1-c65536-n4', reason: 'dcp 1 is the tp baseline' }])
    expect(pointsOf(single({ dcp: [1] }))).toHaveLength(1)
  })

  it('are left out with the rule of the run that they break', () => {
    const { leftOut } = expand(sweepOf(single({ dcp: [3], kvDtype: ['fp32'] })), H200)
    expect(leftOut[0]?.reason).toBe(
      'parallel.dcpSize: must divide tpSize (8), got 3; cache.kvDtype: fp32 is not supported on a GPU; use bf16',
    )
  })

  it('compute as many layers as keep the cache out of L2, and all where that is little', () => {
    expect(onePoint(single({ context: [1024], concurrency: [1] })).run.model.measuredLayers).toBe(61)
    expect(onePoint(single({ context: [65_536], concurrency: [4] })).run.model.measuredLayers).toBe(1)
    const base = { ...single().base, model: { preset: 'deepseek-v3' as const, measuredLayers: 7 } }
    expect(onePoint(single({ base })).run.model.measuredLayers).toBe(7)
  })
})

describe('capacity', () => {
  it('is the memory that weights leave, in tokens of all layers, times the dcp size', () => {
    const memory = { bytes: 100e9, utilisation: 0.8, weightBytes: 10e9 }
    const tokens = (dcp: number): number =>
      onePoint(single({ dcp: [dcp], context: [16], concurrency: [1], memory })).capacityTokens
    const one = Math.floor((100e9 * 0.8 - 10e9) / (1152 * 61))
    expect([1, 2, 4, 8].map(tokens)).toEqual([one, 2 * one, 4 * one, 8 * one])
  })

  it('takes the memory of the device and the weights of the model where none are given', () => {
    const { run, capacityTokens } = onePoint(single())
    const weights = rankWeightBytes(run) ?? Number.NaN
    expect(capacityTokens).toBe(Math.floor((150e9 * 0.9 - weights) / (1152 * 61)) * 8)
  })

  it('above it the point is the one at capacity, which is measured once', () => {
    const memory = { bytes: 10e9, utilisation: 1, weightBytes: 0 }
    const points = pointsOf(single({ dcp: [1], context: [16_384], concurrency: [4, 16, 64], memory }))
    const most = Math.floor(Math.floor(10e9 / (1152 * 61)) / (16_384 + 8))
    expect(points.map(({ batch, capacityLimited }) => [batch, capacityLimited])).toEqual([
      [4, false],
      [most, true],
      [most, true],
    ])
    expect(measurementsOf(points).map(({ points }) => points.length)).toEqual([1, 2])
  })

  it('of no room is said in words', () => {
    const reason = (memory: SweepConfigInput['memory']): string | undefined =>
      expand(sweepOf(single({ memory })), H200).leftOut[0]?.reason
    expect(reason({ bytes: 10e9 })).toMatch(/^the weights of a rank \(\d+\.\d GiB\) leave no room/)
    expect(reason({ bytes: 5e8, utilisation: 1, weightBytes: 0 })).toMatch(/^the KV pool holds \d+ tokens/)
    expect(reason({ bytes: 1, weightBytes: 0 })).toBe('the KV pool holds 0 tokens, less than one request')
  })
})

describe('weights of a whole model', () => {
  // Parameters of the main model as their authors give them.
  it.each([
    ['deepseek-v2-lite', 15.7e9, 2],
    ['deepseek-v3', 671e9, 1],
    ['kimi-k2', 1026e9, 1],
  ] as const)('of %s are its parameters', (preset, parameters, bytes) => {
    const base = { model: { preset }, parallel: { tpSize: 1 } }
    const { run } = onePoint({
      base,
      mode: ['tp'],
      context: [1],
      concurrency: [1],
      memory: { weightBytes: 0 },
    })
    const found = (rankWeightBytes(run) ?? 0) / bytes
    // Embeddings and routers are bf16 also where the rest is fp8, which counts them twice.
    expect(found / parameters).toBeGreaterThan(0.99)
    expect(found / parameters).toBeLessThan(1.01)
  })

  it('are not known of a shape without a model', () => {
    const { run } = onePoint({ mode: ['tp'], context: [1], concurrency: [1] }, { ...H200, device: 'cpu' })
    expect(rankWeightBytes(run)).toBeUndefined()
  })
})

describe('what is done of a sweep', () => {
  it('is told by the repeats that rows have, whatever their order, and never by predictions', () => {
    const points = pointsOf(single())
    const [measurement] = measurementsOf(points)
    if (measurement === undefined) throw new Error('no measurement')
    const { key } = measurement.points[0]
    const done = new Done([
      row({ key, repeat: 2 }),
      row({ key, repeat: -1, provenance: 'predicted' }),
      row({ key: 'of another point', repeat: 0 }),
    ])
    expect(done.open(measurement, 3)).toEqual([0, 1])
    done.add(row({ key, repeat: 0 }))
    done.add(row({ key, repeat: 1 }))
    expect(done.open(measurement, 3)).toEqual([])
    expect(done.whole(points, 3)).toHaveLength(1)
  })
})
