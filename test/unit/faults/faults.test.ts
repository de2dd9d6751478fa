import { describe, expect, it } from 'vitest'
import { faultsAt } from '../../../app/faults/engine.ts'
import { FAULTS, faultNamed } from '../../../app/faults/index.ts'
import { FAULT_NAMES } from '../../../app/faults/names.ts'
import type { RunConfigInput } from '../../../app/run/config.ts'
import { deviceOf, engineConfig } from '../../../app/run/engine-config.ts'
import { issueText, parseRunConfig } from '../../../app/run/parse.ts'
import { engineIssues } from '../../../app/run/support.ts'

/** What is wrong with a configuration, else what the engine cannot do of it. */
const said = (config: RunConfigInput | Record<string, unknown>): string[] => {
  const parsed = parseRunConfig(config, 'tiny')
  return (parsed.ok ? engineIssues(parsed.config) : parsed.issues).map(issueText)
}

const configOf = (config: RunConfigInput) => {
  const parsed = parseRunConfig(config, 'tiny')
  if (!parsed.ok) throw new Error(parsed.issues.map(issueText).join('; '))
  return parsed.config
}

describe('the faults', () => {
  it('are all known failures, each by its name', () => {
    expect(FAULTS.map(({ name }) => name)).toEqual(FAULT_NAMES)
    for (const name of FAULT_NAMES) expect(faultNamed(name).name).toBe(name)
  })

  it('are said in one sentence each', () => {
    for (const { summary, title } of FAULTS) {
      expect(summary).toMatch(/^[A-Z].*[^.]\.$/)
      expect(title).toMatch(/^[A-Z].*[^.]$/)
    }
  })
})

describe('faults of a configuration', () => {
  const gap = { fault: 'coverage-gap' } as const

  it('may leave out all but the name', () => {
    const config = configOf({
      faults: [gap, { fault: 'lse-base-mismatch', ranks: [2], layers: [1], steps: [3] }],
    })
    expect(engineConfig(config).faults).toEqual([
      {
        fault: 'coverage-gap',
        ranks: [0, 1, 2, 3],
        layers: [],
        steps: [],
        draft: false,
        variant: 0,
        amount: 1,
      },
      {
        fault: 'lse-base-mismatch',
        ranks: [2],
        layers: [1],
        steps: [3],
        draft: false,
        variant: 0,
        amount: 0,
      },
    ])
  })

  it.each([
    ['an unknown fault', { fault: 'x' }, /^faults\[0\]\.fault: must be lse-base-mismatch or .*, got "x"$/],
    [
      'ranks beyond the group',
      { ...gap, ranks: [0, 4] },
      /^faults\[0\]\.ranks\[1\]: must be below dcpSize \(4\), got 4$/,
    ],
    ['no ranks', { ...gap, ranks: [] }, /^faults\[0\]\.ranks: must have at least 1 entry$/],
    [
      'layers beyond the run',
      { fault: 'lse-base-mismatch', layers: [99] },
      /^faults\[0\]\.layers\[0\]: must be below the measured layers \(\d+\), got 99$/,
    ],
    [
      'steps beyond the run',
      { ...gap, steps: [9999] },
      /^faults\[0\]\.steps\[0\]: must be below steps \(\d+\), got 9999$/,
    ],
    [
      'layers of what all layers share',
      { ...gap, layers: [0] },
      /^faults\[0\]\.layers: must be left out: coverage-gap acts on all layers at once$/,
    ],
    [
      'a parameter out of range',
      { ...gap, params: { tokens: 0 } },
      /^faults\[0\]\.params\.tokens: must be at least 1, got 0$/,
    ],
    ['an unknown parameter', { ...gap, params: { x: 0 } }, /^faults\[0\]\.params\.x: is not a known key$/],
  ])('name path and rule of %s', (_, entry, says) => {
    const issues = said({ faults: [entry] })
    expect(issues).toHaveLength(1)
    expect(issues[0]).toMatch(says)
  })

  it('name what they need of the configuration', () => {
    expect(said({ faults: [gap], workload: { topk: 4 } })).toEqual([
      'workload.topk: must be left out for the fault coverage-gap',
    ])
    expect(said({ faults: [{ fault: 'lse-base-mismatch' }], parallel: { tpSize: 4, dcpSize: 1 } })).toEqual([
      'parallel.dcpSize: must be above 1 for the fault lse-base-mismatch',
    ])
  })

  it('that the engine cannot make happen are refused by name', () => {
    for (const { name, injection } of FAULTS)
      if (injection === undefined)
        expect(said({ faults: [{ fault: name }] })).toEqual([
          `faults[0].fault: injecting ${name} is not supported by this version's engine`,
        ])
  })

  it('are injected on GPUs, which auto then takes', () => {
    expect(deviceOf(configOf({ faults: [gap] }), 8)).toBe('cuda')
    expect(said({ faults: [gap], engine: { device: 'cuda' } })).toEqual([])
  })

  it('that GPUs cannot have are refused with the reason, and auto takes the CPU', () => {
    const faults: RunConfigInput['faults'] = [gap, { fault: 'head-order-permuted' }]
    expect(deviceOf(configOf({ faults, engine: { ranks: 'processes' } }), 8)).toBe('cpu')
    const permuted: RunConfigInput = { faults, engine: { device: 'cuda', ranks: 'processes' } }
    expect(said(permuted)).toEqual([
      'faults[1].fault: head-order-permuted is injected on the CPU only, as NCCL deals out the heads of ranks in processes in their order, unless parallel.comm is p2p; set engine.device to cpu or auto',
    ])
    expect(said({ ...permuted, parallel: { tpSize: 4, dcpSize: 4, comm: 'p2p' } })).toEqual([])
    const heads = (count: number): RunConfigInput => ({
      model: { heads: count, kvHeads: 2, headDim: 64 },
      parallel: { tpSize: 2, dcpSize: 2 },
      faults: [{ fault: 'gqa-head-map-local' }],
      engine: { device: 'cuda' },
    })
    expect(said(heads(8))).toEqual([])
    expect(said(heads(12))).toEqual([])
    expect(said(heads(10))).toEqual([
      'faults[0].fault: gqa-head-map-local is injected on the CPU only, as a GPU has as many query heads for each KV head; set engine.device to cpu or auto',
    ])
  })

  it('act on the branch that they name: that of the model, or of a draft where there is one', () => {
    const verify = { workload: { qLen: 4 }, serving: { draft: 'EAGLE3' } }
    const branch = (name: string, over: RunConfigInput = verify): string[] =>
      said({ ...over, faults: [{ ...gap, branch: name }] })
    expect([branch('draft_extend'), branch('target_verify')]).toEqual([[], []])
    expect(branch('decode', {})).toEqual([])
    expect(branch('decode')).toEqual(['faults[0].branch: must be target_verify where qLen is 4, got decode'])
    expect(branch('target_verify', {})).toEqual([
      'faults[0].branch: must be decode where qLen is 1, got target_verify',
    ])
    expect(branch('draft_extend', { workload: { qLen: 4 } })).toEqual([
      'faults[0].branch: draft_extend needs a draft; name one in serving.draft',
    ])
    expect(branch('x')).toEqual([
      'faults[0].branch: must be decode or target_verify or draft_extend, got "x"',
    ])
    const layered = { fault: 'lse-base-mismatch', branch: 'draft_extend', layers: [0] }
    expect(said({ ...verify, faults: [layered] })).toEqual([
      'faults[0].layers: must be left out: the draft has one layer',
    ])
    const config = configOf({
      ...verify,
      faults: [{ fault: 'lse-base-mismatch', branch: 'draft_extend' }, { fault: 'coverage-gap' }],
    })
    expect(engineConfig(config).faults.map(({ draft }) => draft)).toEqual([true, false])
    const at = (layer: number, fault: 'lse-base-mismatch' | 'coverage-gap') =>
      faultsAt(config, fault, { rank: 0, layer, step: 0 }).length
    const ofDraft = config.model.layers
    expect([at(ofDraft, 'lse-base-mismatch'), at(0, 'lse-base-mismatch')]).toEqual([1, 0])
    expect([at(ofDraft, 'coverage-gap'), at(0, 'coverage-gap')]).toEqual([0, 1])
  })

  it('are found where they act', () => {
    const config = configOf({
      faults: [{ fault: 'lse-base-mismatch', ranks: [1], layers: [0], steps: [1, 2] }],
    })
    const acts = (rank: number, layer: number, step: number) =>
      faultsAt(config, 'lse-base-mismatch', { rank, layer, step }).length > 0
    expect(acts(1, 0, 1)).toBe(true)
    expect([acts(0, 0, 1), acts(1, 1, 1), acts(1, 0, 0)]).toEqual([false, false, false])
    expect(faultsAt(config, 'coverage-gap', { rank: 1, layer: 0, step: 1 })).toEqual([])
  })
})
