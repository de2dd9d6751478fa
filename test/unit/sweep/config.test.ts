import { describe, expect, it } from 'vitest'
import { BACKEND_NAMES } from '../../../app/backends/index.ts'
import { PRESET_NAMES } from '../../../app/run/config.ts'
import { issueText } from '../../../app/run/parse.ts'
import { sweepConfigSchema } from '../../../app/sweep/config.ts'
import { expand } from '../../../app/sweep/expand.ts'
import { parseSweepConfig } from '../../../app/sweep/parse.ts'
import { H200 } from './sample.ts'

const refused = (input: unknown): string[] => {
  const parsed = parseSweepConfig(input)
  return parsed.ok ? [] : parsed.issues.map(issueText)
}

describe('the configuration of a sweep', () => {
  it('has a default for every field', () => {
    const parsed = parseSweepConfig({})
    expect(parsed.ok && parsed.config).toMatchObject({
      mode: ['tp', 'dcp'],
      dcp: [2, 4, 8],
      repeats: 3,
      memory: { utilisation: 0.9 },
      collectives: [],
    })
  })

  it('is read back as it was written', () => {
    const parsed = parseSweepConfig({ base: { model: { preset: 'kimi-k2' } }, dcp: [4], qLen: [1, 2] })
    const config = parsed.ok ? parsed.config : undefined
    expect(sweepConfigSchema.parse(JSON.parse(JSON.stringify(config)))).toEqual(config)
  })

  it.each([
    [{ contexts: [1] }, ['contexts: is not a known key']],
    [{ context: [] }, ['context: must have at least 1 entry']],
    [{ context: [0] }, ['context[0]: must be at least 1, got 0']],
    [{ concurrency: ['many'] }, ['concurrency[0]: must be a number, got "many"']],
    [{ memory: { utilisation: 2 } }, ['memory.utilisation: must be at most 1, got 2']],
    [{ memory: { gib: 80 } }, ['memory.gib: is not a known key']],
    [{ base: 7 }, ['base: must be an object']],
    [{ base: { model: { heads: 0 } } }, ['base.model.heads: must be at least 1, got 0']],
    [{ base: { modle: {} } }, ['base.modle: is not a known key']],
    [{ base: { parallel: { tpSize: 3 } } }, ['base.model.heads: must be divisible by tpSize (3), got 16']],
    [{ base: { parallel: { dcpSize: 2 } } }, ['base.parallel.dcpSize: is given by dcp of the sweep']],
    [
      { base: { workload: { requests: [{ contextLen: 9 }] } } },
      ['base.workload.requests: is given by context and concurrency of the sweep'],
    ],
    // Said once, whatever else is wrong with it.
    [
      { base: { workload: { requests: [] }, faults: 7 } },
      [
        'base.workload.requests: is given by context and concurrency of the sweep',
        'base.faults: has no place here: a sweep injects no faults',
      ],
    ],
    [{ base: { capture: {} } }, ['base.capture: has no place here: a sweep keeps no tensors']],
    [
      { base: { serving: { backend: BACKEND_NAMES[1] } } },
      ['base.serving.backend: has no place here: a sweep measures the engine itself'],
    ],
    [
      { base: { workload: { acceptedPerStep: 2 } }, qLen: [1, 4] },
      ['base.workload.acceptedPerStep: must be at most qLen (1), got 2'],
    ],
    [{ dcp: [2, 4, 2] }, ['dcp: must name every value once, got 2 twice']],
    [{ repeats: 0, steps: 0 }, ['repeats: must be at least 1, got 0', 'steps: must be at least 1, got 0']],
    [
      { collectives: [{ collective: 'all_gather', ranks: 1, bytes: 8, us: 3 }] },
      ['collectives[0].ranks: must be at least 2, got 1'],
    ],
    [
      {
        context: Array.from({ length: 64 }, (_, i) => i + 1),
        concurrency: Array.from({ length: 64 }, (_, i) => i + 1),
      },
      ['the lists must have at most 20000 combinations, got 28672'],
    ],
    ['sweep', ['must be an object']],
  ])('%j is refused with the path and the rule', (input, expected) => {
    expect(refused(input)).toEqual(expected)
  })

  it.each(PRESET_NAMES)('has a preset on %s that gives points and leaves nothing out silently', (name) => {
    const parsed = parseSweepConfig({}, name)
    if (!parsed.ok) throw new Error(parsed.issues.map(issueText).join('; '))
    const { config } = parsed
    const device = config.base.engine.device === 'cuda' ? H200 : ({ ...H200, device: 'cpu' } as const)
    const { points, leftOut } = expand(config, device)
    const cells = config.context.length * config.concurrency.length
    expect(points.length + leftOut.length).toBe(cells * (1 + config.dcp.length * config.comm.length))
    expect(points.length).toBeGreaterThan(0)
  })

  it('lies on top of a preset', () => {
    const parsed = parseSweepConfig({ context: [4096], base: { engine: { graph: false } } }, 'deepseek-v3')
    expect(parsed.ok && parsed.config).toMatchObject({
      context: [4096],
      dcp: [2, 4, 8],
      base: { model: { preset: 'deepseek-v3', layers: 61 }, engine: { device: 'cuda', graph: false } },
    })
  })
})
