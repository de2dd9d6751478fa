import { describe, expect, it } from 'vitest'
import { type RunConfig, runConfigSchema } from '../../../app/run/config.ts'
import { contextLens, deviceOf, engineConfig } from '../../../app/run/engine-config.ts'
import type { CudaInfo } from '../../../app/run/machine.ts'
import { issueText, parseRunConfig } from '../../../app/run/parse.ts'
import { PRESETS } from '../../../app/run/presets.ts'
import { kernelHeads } from '../../../app/run/shape.ts'
import { unsupported } from '../../../app/run/support.ts'
import { GPU } from '../engine/fake-run.ts'

const accepted = (input: unknown): RunConfig => {
  const parsed = parseRunConfig(input)
  if (!parsed.ok) throw new Error(parsed.issues.map(issueText).join('; '))
  return parsed.config
}

const refusals = (input: unknown): string[] => {
  const parsed = parseRunConfig(input)
  return parsed.ok ? [] : parsed.issues.map(issueText)
}

describe('a run configuration', () => {
  it('is complete from nothing, because everything has a default', () => {
    const config = accepted({})
    expect(config.parallel).toMatchObject({
      mode: 'dcp',
      tpSize: 4,
      dcpSize: 4,
      interleave: 1,
      comm: 'ag_rs',
    })
    expect(unsupported(config)).toEqual([])
  })

  it('reads back what it wrote', () => {
    const config = accepted({ parallel: { dcpSize: 2 }, workload: { qLen: 3 } })
    expect(accepted(JSON.parse(JSON.stringify(config)))).toEqual(config)
  })

  it.each([
    [{ model: { heads: 0 } }, 'model.heads: must be at least 1, got 0'],
    [{ model: { heads: 'many' } }, 'model.heads: must be a number, got "many"'],
    [{ model: { heads: 16.5 } }, 'model.heads: must be a whole number, got 16.5'],
    [{ model: { kvLoraRank: 500 } }, 'model.kvLoraRank: must be a multiple of 16, got 500'],
    [{ parallel: { tpSize: 8, dcpSize: 3 } }, 'parallel.dcpSize: must divide tpSize (8), got 3'],
    [{ parallel: { tpSize: 3, dcpSize: 3 } }, 'model.heads: must be divisible by tpSize (3), got 16'],
    [{ parallel: { interleave: 3 } }, 'parallel.interleave: must divide pageSize (64), got 3'],
    [{ parallel: { mode: 'tp' } }, 'parallel.dcpSize: must be 1 in tp mode, got 4'],
    [{ parallel: { comm: 'nccl' } }, 'parallel.comm: must be ag_rs or a2a or p2p, got "nccl"'],
    [
      { workload: { requests: [{ contextLen: -1 }] } },
      'workload.requests[0].contextLen: must be at least 0, got -1',
    ],
    [
      { workload: { requests: [{ contextLen: 1e12 }] } },
      'workload.requests[0].contextLen: must be at most 16777216, got 1000000000000',
    ],
    [{ workload: { steps: 1e300 } }, 'workload.steps: must be at most 1000000, got 1e+300'],
    [{ workload: { seed: -1e300 } }, 'workload.seed: must be at least 0, got -1e+300'],
    [{ '': 1 }, '"": is not a known key'],
    [{ model: { '\u001b[31m': 1 } }, 'model."\\u001b[31m": is not a known key'],
    [{ ['x'.repeat(1e6)]: 1 }, `"${'x'.repeat(56)}...: is not a known key`],
    [{ workload: { requests: [] } }, 'workload.requests: must have at least 1 entry'],
    [
      { workload: { requests: [{ count: 4096 }, { count: 1 }] } },
      'workload.requests: must be at most 4096 requests together, got 4097',
    ],
    [
      { workload: { qLen: 2, acceptedPerStep: 3 } },
      'workload.acceptedPerStep: must be at most qLen (2), got 3',
    ],
    [{ check: { rows: 'some' } }, 'check.rows: must be auto or all or none or a number, got "some"'],
    [
      { cache: { kvDtype: 'fp8_ds_mla' }, model: { kvLoraRank: 256 } },
      'cache.kvDtype: fp8_ds_mla needs kvLoraRank 512 and ropeDim 64, got 256 and 64',
    ],
    [
      { engine: { restOfLayer: 'model' } },
      'engine.restOfLayer: model needs model.preset to be deepseek-v2-lite or deepseek-v3 or kimi-k2, and no model.kvHeads',
    ],
    [{ engine: { restOfLayer: 'all' } }, 'engine.restOfLayer: must be model or a number, got "all"'],
    [{ engine: { restOfLayer: -1 } }, 'engine.restOfLayer: must be at least 0, got -1'],
    [{ check: { rows: 0 } }, 'check.rows: must be at least 1, got 0'],
    [{ capture: { steps: [32] } }, 'capture.steps[0]: must be below steps (32), got 32'],
    [{ engine: { kernelTrace: [0, 32] } }, 'engine.kernelTrace[1]: must be below steps (32), got 32'],
    [{ engine: { kernelTrace: [0, 1.5] } }, 'engine.kernelTrace[1]: must be a whole number, got 1.5'],
    [{ capture: { steps: ['last'] } }, 'capture.steps[0]: must be a number, got "last"'],
    [{ engine: { kernelTrace: new Array(65).fill(0) } }, 'engine.kernelTrace: must have at most 64 entries'],
    [{ faults: [{ fault: 'coverage-gap', ranks: 'x' }] }, 'faults[0].ranks: must be all or a list, got "x"'],
    [{ engine: { kernelTrace: 'all' } }, 'engine.kernelTrace: must be none or last or a list, got "all"'],
    [{ parallel: { dpcSize: 2 } }, 'parallel.dpcSize: is not a known key'],
    [{ model: { headDim: 64 } }, 'model.headDim: goes with model.kvHeads, MLA has none'],
    [{ model: { kvHeads: 2 } }, 'model.headDim: must be given with model.kvHeads'],
    [{ model: { kvHeads: 2, headDim: 72 } }, 'model.headDim: must be a multiple of 16, got 72'],
    [{ model: { kvHeads: 3, headDim: 64 } }, 'model.kvHeads: must divide heads (16), got 3'],
    [
      { model: { heads: 48, kvHeads: 3, headDim: 64 }, parallel: { tpSize: 8, dcpSize: 4 } },
      'model.kvHeads: kvHeads * dcpSize / tpSize must be a whole number or 1 by one, got 1.5',
    ],
    [
      { engine: { paddedHeads: 8 } },
      'engine.paddedHeads: must be 0, or at least heads * dcpSize / tpSize (16), got 8',
    ],
    [{ model: { heads: 256 } }, 'model.heads: heads * dcpSize / tpSize must be at most 128, got 256'],
    [[], 'must be an object'],
    [null, 'must be an object'],
  ])('refuses %j by path and rule', (input, message) => {
    expect(refusals(input)).toEqual([message])
  })

  it('names every broken rule at once', () => {
    expect(refusals({ model: { heads: 0 }, cache: { pageSize: -4 }, extra: 1 })).toHaveLength(3)
  })

  it('refuses __proto__ like any unknown key', () => {
    const input: unknown = JSON.parse(
      '{"__proto__": {"polluted": true}, "model": {"__proto__": {"heads": 3}}}',
    )
    expect(refusals(input)).toEqual(['model.__proto__: is not a known key', '__proto__: is not a known key'])
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('says the same words for a field in form, help and errors: each has a title and a description', () => {
    const sections = Object.entries(runConfigSchema.shape)
    for (const [name, section] of sections) {
      expect(section.meta()?.title, name).toBeTypeOf('string')
      expect(section.meta()?.description, name).toBeTypeOf('string')
    }
  })
})

describe('presets', () => {
  it.each(PRESETS.map((p) => [p.name]))('%s gives a configuration that the engine takes', (name) => {
    const parsed = parseRunConfig({}, name)
    expect(parsed).toMatchObject({ ok: true, config: { model: { preset: name } } })
    if (parsed.ok) expect(unsupported(parsed.config)).toEqual([])
  })

  it('lie below what the user wrote', () => {
    expect(accepted({ model: { preset: 'deepseek-v3', layers: 2 } }).model).toMatchObject({
      heads: 128,
      layers: 2,
    })
  })

  it('have the attention shapes and softmax scales of the published models', () => {
    expect(accepted({ model: { preset: 'deepseek-v3' } }).model).toMatchObject({
      heads: 128,
      layers: 61,
      softmaxScale: 0.135234,
    })
    expect(accepted({ model: { preset: 'kimi-k2' } }).model).toMatchObject({ heads: 64, layers: 61 })
    expect(accepted({ model: { preset: 'deepseek-v2-lite' } }).model).toMatchObject({ heads: 16, layers: 27 })
  })
})

describe('what the engine cannot do yet', () => {
  it.each([
    [{ serving: { backend: 'sglang-tokenspeed-mla' }, cache: { kvDtype: 'fp8' } }, 'serving.backend'],
    [{ serving: { returnLse: false } }, 'serving.returnLse'],
    [{ serving: { queryLens: [1, 2] } }, 'serving.queryLens'],
    [{ serving: { causalBound: 'local' }, workload: { qLen: 2 } }, 'serving.causalBound'],
    [{ engine: { device: 'cpu', graph: true } }, 'engine.graph'],
    [{ engine: { device: 'cpu', kernelTrace: 'last' } }, 'engine.kernelTrace'],
    [{ engine: { device: 'cuda' }, cache: { kvDtype: 'fp32' } }, 'cache.kvDtype'],
    [{ model: { kvHeads: 2, headDim: 64 }, cache: { kvDtype: 'fp8_ds_mla' } }, 'cache.kvDtype'],
    [{ model: { kvHeads: 2, headDim: 64 }, workload: { topk: 8 } }, 'workload.topk'],
  ])('%j is valid, and refused by name', (input, path) => {
    expect(unsupported(accepted(input)).map((i) => i.path)).toEqual([path])
  })

  it.each([
    [{ cache: { kvDtype: 'fp8' } }],
    [{ cache: { kvDtype: 'fp8_ds_mla' }, workload: { topk: 64 } }],
    [{ engine: { device: 'cuda', graph: true } }],
    [{ engine: { device: 'cuda' }, parallel: { comm: 'p2p' } }],
    [{ engine: { device: 'cuda', ranks: 'processes' } }],
    [{ engine: { device: 'cuda', kernelTrace: [0, 3] } }],
    [{ engine: { device: 'cuda', lseLayout: '[B,H,q]', paddedHeads: 16 }, workload: { qLen: 2 } }],
    [{ engine: { device: 'cuda', lseLayout: '[H,T]', lseType: 'query' } }],
    [{ engine: { device: 'cuda' }, model: { kvHeads: 4, headDim: 64 } }],
    [{ engine: { device: 'cpu', kernelTrace: [] } }],
  ])('%j is not refused', (input) => {
    expect(unsupported(accepted(input))).toEqual([])
  })

  it('depends on the machine where a GPU is asked for', () => {
    const none = { available: false, reason: 'no driver was found', devices: [] }
    const gpu = { available: true, devices: [GPU] }
    const refusals = (input: unknown, cuda: CudaInfo): string[] =>
      unsupported(accepted(input), cuda).map(issueText)
    expect(refusals({ engine: { device: 'cuda' } }, none)).toEqual([
      'engine.device: cuda cannot be used on this machine: no driver was found',
    ])
    expect(refusals({ engine: { graph: true } }, none)).toEqual([
      'engine.graph: needs a GPU, and this run would use the CPU',
    ])
    expect(refusals({ engine: { graph: true } }, gpu)).toEqual([])
    expect(refusals({ engine: { graph: true }, cache: { kvDtype: 'fp32' } }, gpu)).toEqual([
      'engine.graph: needs a GPU, and this run would use the CPU',
    ])
  })
})

describe('the engine configuration', () => {
  it('is one DCP group: heads are those of a gathered kernel', () => {
    const config = accepted({ model: { heads: 128 }, parallel: { tpSize: 16, dcpSize: 4 } })
    expect(kernelHeads(config)).toBe(32)
    expect(engineConfig(config)).toMatchObject({ ranks: 4, heads: 32, softmaxScale: 1 / 24 })
  })

  it('is for the CPU unless a GPU is asked for, or there is one that can hold the cache', () => {
    expect(engineConfig(accepted({})).device).toBe('cpu')
    expect(engineConfig(accepted({ engine: { device: 'cuda' } })).device).toBe('cuda')
    expect(deviceOf(accepted({}), 1)).toBe('cuda')
    expect(deviceOf(accepted({ model: { kvHeads: 4, headDim: 64 } }), 1)).toBe('cuda')
    expect(deviceOf(accepted({ engine: { lseType: 'query', lseLayout: '[H,T]' } }), 1)).toBe('cuda')
    expect(deviceOf(accepted({ engine: { device: 'cpu' } }), 1)).toBe('cpu')
    expect(deviceOf(accepted({ cache: { kvDtype: 'fp32' } }), 1)).toBe('cpu')
  })

  it('is for GPUs where ranks are processes and there is one for each', () => {
    const processes = accepted({ engine: { ranks: 'processes' } })
    expect(deviceOf(processes, 3)).toBe('cpu')
    expect(deviceOf(processes, 4)).toBe('cuda')
    expect(deviceOf(accepted({ engine: { ranks: 'processes', device: 'cuda' } }), 1)).toBe('cuda')
  })

  it('lists requests one by one and resolves the last step', () => {
    const config = accepted({
      workload: { requests: [{ contextLen: 5, count: 2 }, { contextLen: 9 }], steps: 7 },
    })
    expect(contextLens(config)).toEqual([5, 5, 9])
    expect(engineConfig(config).captureSteps).toEqual([6])
    expect(engineConfig(config).kernelSteps).toEqual([])
    const recorded = { ...config, engine: { ...config.engine, kernelTrace: 'last' as const } }
    expect(engineConfig(recorded).kernelSteps).toEqual([6])
  })
})
