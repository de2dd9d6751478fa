import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunConfig } from '../../../app/run/config.ts'
import { restOfLayer } from '../../../app/run/rest-of-layer.ts'
import { type Calibrated, calibrations, ratesOf } from '../../../app/sweep/calibrate.ts'
import type { SweepConfigInput } from '../../../app/sweep/config.ts'
import {
  attentionWork,
  commOf,
  type Exchange,
  LIMITS,
  type Prediction,
  predict,
  type Rates,
  ratesSchema,
  stageBytes,
} from '../../../app/sweep/cost.ts'
import { METERED_STAGES, type MeteredStage } from '../../../app/sweep/meter.ts'
import { H200, onePoint, pointsOf, RATES, single } from './sample.ts'

const BETWEEN_GPUS: Exchange = { table: [] }

const of = (run: RunConfig, exchange: Exchange = BETWEEN_GPUS, rates: Rates = RATES): Prediction => {
  const prediction = predict(run, rates, exchange)
  if (prediction === undefined) throw new Error('no prediction')
  return prediction
}

const predicted = (over: SweepConfigInput = {}, exchange?: Exchange): Prediction =>
  of(onePoint(single(over)).run, exchange)

const sizes = fc.record({
  dcp: fc.constantFrom(1, 2, 4, 8),
  comm: fc.constantFrom('ag_rs' as const, 'a2a' as const),
  context: fc.integer({ min: 1, max: 100_000 }),
  concurrency: fc.integer({ min: 1, max: 64 }),
  qLen: fc.integer({ min: 1, max: 2 }),
})

type Size = typeof sizes extends fc.Arbitrary<infer T> ? T : never

const lists = ({ dcp, comm, context, concurrency, qLen }: Size): SweepConfigInput =>
  single({
    dcp: [dcp],
    comm: [comm],
    context: [context],
    concurrency: [concurrency],
    qLen: [qLen],
    memory: { bytes: 1e15, weightBytes: 0 },
  })

describe('the cost model', () => {
  it('divides every step into its parts, of which the largest is the limit', () => {
    fc.assert(
      fc.property(sizes, fc.boolean(), (size, local) => {
        const { run, batch } = onePoint(lists(size))
        const { partsMs, stepMs, limit, tokensPerSecond, attnMs, commMs } = of(
          run,
          local ? 'local' : BETWEEN_GPUS,
        )
        const parts = LIMITS.map((name) => partsMs[name])
        expect(parts.reduce((a, b) => a + b)).toBeCloseTo(stepMs, 9)
        expect(partsMs[limit]).toBe(Math.max(...parts))
        expect(tokensPerSecond).toBeCloseTo((batch * size.qLen) / (stepMs / 1e3), 6)
        expect(commMs).toBeCloseTo(partsMs.transport, 9)
        expect(attnMs).toBeLessThanOrEqual(stepMs)
      }),
    )
  })

  it('takes no less for longer contexts or more requests', () => {
    fc.assert(
      fc.property(sizes, (size) => {
        const step = (over: Partial<Size>): number => of(onePoint(lists({ ...size, ...over })).run).stepMs
        expect(step({ context: size.context * 2 })).toBeGreaterThanOrEqual(step({}))
        expect(step({ concurrency: size.concurrency * 2 })).toBeGreaterThanOrEqual(step({}))
      }),
    )
  })

  it('lets DCP divide the bytes that a rank reads, and leaves its operations', () => {
    const one = attentionWork(onePoint(single({ dcp: [1] })).run)
    const eight = attentionWork(onePoint(single({ dcp: [8] })).run)
    expect(eight.bytes).toBeCloseTo(one.bytes / 8, 6)
    expect(eight.flops).toBeCloseTo(one.flops, 0)
  })

  it('has 16 heads bound by memory and 128 by the matrix units, as a roofline says', () => {
    const long = { context: [131_072], concurrency: [16], memory: { bytes: 1e15, weightBytes: 0 } }
    expect(predicted({ ...long, dcp: [1] }).limit).toBe('hbm')
    expect(predicted({ ...long, dcp: [8] }).limit).toBe('matrix')
    expect(predicted({ context: [64], concurrency: [1], dcp: [1] }).limit).toBe('launch')
  })

  it('loses by DCP where contexts are short and wins where they are long', () => {
    const gain = (context: number): number => {
      const lists = { context: [context], concurrency: [8], memory: { bytes: 1e15, weightBytes: 0 } }
      return predicted(lists).tokensPerSecond / predicted({ ...lists, mode: ['tp'] }).tokensPerSecond
    }
    expect(gain(512)).toBeLessThan(1)
    expect(gain(262_144)).toBeGreaterThan(2)
  })

  it('prices the exchange by the copies of the device, a table, or the model, and says which', () => {
    const table = (['all_gather', 'all_to_all'] as const).map((collective) => ({
      collective,
      ranks: 8,
      bytes: 1_000_000_000,
      us: 1000,
    }))
    expect(predicted({}, 'local').transport).toBe('local')
    expect(predicted({}, BETWEEN_GPUS).transport).toBe('model')
    expect(predicted({}, { table }).transport).toBe('table')
    expect(predicted({ comm: ['ag_rs'] }, { table }).transport).toBe('model')
    expect(predicted({ mode: ['tp'] }, { table }).transport).toBe('table')
    expect(predicted({}, 'local').stepMs).not.toBe(predicted({}, BETWEEN_GPUS).stepMs)
  })

  it('foretells sizes that the rates were not measured with', () => {
    const base = {
      model: { preset: 'deepseek-v3' as const },
      parallel: { tpSize: 32 },
      engine: { device: 'cuda' as const },
    }
    const wide = predicted({ base, dcp: [32], context: [1_000_000] })
    expect(wide.stepMs).toBeLessThan(predicted({ base, dcp: [4], context: [1_000_000] }).stepMs)
  })

  it('counts only the keys that sparse attention chose', () => {
    const base = { ...single().base, workload: { topk: 2048 } }
    const work = attentionWork(onePoint(single({ base })).run)
    expect(work.bytes).toBeCloseTo((4 * 2048 * 1152) / 8, 6)
  })

  it('has metadata in every layer of sparse attention, by the keys that are chosen, and else in the step alone', () => {
    const sparse = { ...single().base, workload: { topk: 2048 } }
    const { run } = onePoint(single({ base: sparse }))
    // Four tokens with the places of 2048 keys each.
    expect(stageBytes('layer_metadata', run)).toBe(4 * 2048 * 8)
    const rates: Rates = {
      ...RATES,
      stages: {
        a2a: { ...RATES.stages.a2a, layer_metadata: { us: 7, usPerRank: 0, nsPerByte: 0.05 } },
      },
    }
    const more = of(run, BETWEEN_GPUS, rates).stepMs - of(run, BETWEEN_GPUS).stepMs
    expect(more).toBeCloseTo((61 * (7 + (4 * 2048 * 8 * 0.05) / 1e3)) / 1e3, 9)
  })

  it('adds the rest of a layer and what lies between its kernels to each layer', () => {
    const { engine, ...base } = { engine: { device: 'cuda' as const }, ...single().base }
    const given = { ...base, engine: { ...engine, restOfLayer: 450_000_000 } }
    const [none, rest] = [predicted({}), predicted({ base: given })]
    expect(rest.stepMs - none.stepMs).toBeCloseTo((61 * (3 + 100)) / 1e3, 6)
    expect(rest.partsMs.hbm - none.partsMs.hbm).toBeCloseTo((61 * 100) / 1e3, 6)
    const still = of(onePoint(single()).run, BETWEEN_GPUS, { ...RATES, between: {} })
    expect(none.partsMs.launch - still.partsMs.launch).toBeCloseTo((61 * (11 + 7 * 0.4)) / 1e3, 6)
  })

  it('gathers no queries that are replicated', () => {
    const base = { ...single().base, parallel: { tpSize: 8, replicateQ: true } }
    expect(predicted({ base }).commMs).toBeLessThan(predicted({}).commMs)
  })

  it('says nothing of a KV type or a transport without rates', () => {
    const { run } = onePoint(single({ kvDtype: ['fp8'] }))
    expect(predict(run, RATES, 'local')).toBeUndefined()
    expect(predict(onePoint(single()).run, { ...RATES, stages: {} }, 'local')).toBeUndefined()
  })
})

/** A device that does exactly what `rates` say. */
const device =
  (rates: Rates) =>
  (run: RunConfig): Calibrated['meter'] => {
    const attention = rates.attention[run.cache.kvDtype]
    const stages = rates.stages[commOf(run)] ?? {}
    if (attention === undefined) throw new Error('no rates')
    const work = attentionWork(run)
    const us =
      attention.us + 1e6 * Math.max(work.bytes / attention.bytesPerS, work.flops / attention.flopsPerS)
    const meters = METERED_STAGES.flatMap(
      (stage): [MeteredStage, { us: number; bytes: number; flops: number }][] => {
        if (stage === 'decode_attn') return [[stage, { us, ...work }]]
        if (stage === 'rest_of_layer' && restOfLayer(run).bytes === 0) return []
        const own = stages[stage]
        if (own === undefined) return []
        const bytes = stageBytes(stage, run)
        const fixed = own.us + own.usPerRank * (run.parallel.dcpSize - 1)
        return [[stage, { us: fixed + (bytes * own.nsPerByte) / 1e3, bytes, flops: 0 }]]
      },
    )
    const between = rates.between[commOf(run)]
    const layerUs = meters.reduce(
      (sum, [stage, own]) => (stage === 'metadata' ? sum : sum + own.us),
      between === undefined ? 0 : between.us + between.usPerRank * (run.parallel.dcpSize - 1),
    )
    const metadataUs = meters.find(([stage]) => stage === 'metadata')?.[1].us ?? 0
    const stepMs = (metadataUs + run.model.layers * layerUs) / 1e3
    return {
      steps: 8,
      tokensPerSecond: 1,
      provenance: 'measured',
      stepMs: { p50: stepMs, p95: stepMs },
      attnMs: 1,
      commMs: 0,
      waitMs: 0,
      stages: Object.fromEntries(meters),
    }
  }

describe('calibration', () => {
  const base: SweepConfigInput['base'] = {
    model: { preset: 'deepseek-v3' },
    parallel: { tpSize: 8 },
    engine: { device: 'cuda', restOfLayer: 'model' },
  }
  const input = single({ base, mode: ['tp', 'dcp'], dcp: [2, 8], comm: ['ag_rs', 'a2a'] })
  const runs = calibrations(pointsOf(input), 'cuda')
  const rates = ratesOf(
    runs.map((one) => ({ ...one, meter: device(RATES)(one.run) })),
    'cuda',
  )

  it('finds the rates of a device that keeps to the model', () => {
    expect(ratesSchema.parse(rates)).toEqual(rates)
    const found = rates.attention.bf16
    expect(found?.us).toBeCloseTo(12, 6)
    expect((found?.bytesPerS ?? 0) / 4.3e12).toBeCloseTo(1, 6)
    expect((found?.flopsPerS ?? 0) / 6e14).toBeCloseTo(1, 2)
    for (const [comm, between] of Object.entries(RATES.between)) {
      const got = rates.between[comm as keyof Rates['between']]
      expect(got?.us, comm).toBeCloseTo(between.us, 6)
      expect(got?.usPerRank, comm).toBeCloseTo(between.usPerRank, 6)
    }
    for (const comm of ['none', 'ag_rs', 'a2a'] as const)
      for (const [stage, own] of Object.entries(RATES.stages[comm] ?? {})) {
        const got = rates.stages[comm]?.[stage as MeteredStage]
        expect(got?.us, `${comm} ${stage}`).toBeCloseTo(own.us, 6)
        expect(got?.usPerRank, `${comm} ${stage}`).toBeCloseTo(own.usPerRank, 6)
        expect(got?.nsPerByte, `${comm} ${stage}`).toBeCloseTo(own.nsPerByte, 6)
      }
  })

  it('finds those of the layers of sparse attention beside those of the step', () => {
    const base = { ...single().base, workload: { topk: 2048 } }
    const sparse = { ...single({ base }), dcp: [2, 8], context: [4096] }
    const a2a = { ...RATES.stages.a2a, layer_metadata: { us: 7, usPerRank: 0, nsPerByte: 0.05 } }
    const known: Rates = { ...RATES, stages: { ...RATES.stages, a2a } }
    const measured = calibrations(pointsOf(sparse), 'cuda').map((one) => ({
      ...one,
      meter: device(known)(one.run),
    }))
    const found = ratesOf(measured, 'cuda').stages.a2a
    expect(found?.layer_metadata?.us).toBeCloseTo(7, 6)
    expect(found?.layer_metadata?.nsPerByte).toBeCloseTo(0.05, 6)
    expect(found?.metadata?.us).toBeCloseTo(a2a.metadata?.us ?? Number.NaN, 6)
  })

  it('then foretells every point of that device', () => {
    for (const { run } of pointsOf(input))
      expect(of(run, 'local', rates).stepMs / of(run, 'local').stepMs).toBeCloseTo(1, 3)
  })

  it('needs few runs, each of which the engine takes', () => {
    expect(runs.length).toBe(3 + 2 + 3 + 3)
    for (const { run } of runs) expect(run.workload.requests[0]?.count).toBeLessThanOrEqual(64)
  })

  it('leaves out what could not be measured', () => {
    const some = runs.filter(({ kind, run }) => kind === 'stages' && commOf(run) === 'none')
    const found = ratesOf(
      some.map((one) => ({ ...one, meter: device(RATES)(one.run) })),
      'cuda',
    )
    expect(found.attention).toEqual({})
    expect(Object.keys(found.stages)).toEqual(['none'])
    expect(predict(onePoint(single(), H200).run, found, 'local')).toBeUndefined()
  })
})
