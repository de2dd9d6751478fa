import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EngineFault } from '../../app/faults/engine.ts'
import { FAULTS } from '../../app/faults/index.ts'
import { cpuOnly, type EngineConfig, engineConfig } from '../../app/run/engine-config.ts'
import { SCENARIOS } from '../../app/scenarios/index.ts'
import { lseBaseMismatch } from '../../app/scenarios/lse-base-mismatch.ts'
import { type Scenario, scenarioConfigs } from '../../app/scenarios/scenario.ts'
import { captureOf, column, type Finished, finish } from '../native/engine.ts'
import { capturesOf, runRanks } from '../native/rank-processes.ts'
import { diagnosed } from '../unit/diagnosis/altered.ts'
import { bytesOf, exactOf } from './agreement.ts'
import { gpuConfig } from './config.ts'
import { countedRows, differences, errorOf, fault, onBoth, report } from './differences.ts'
import { skipReason } from './program.ts'

/**
 * Faults on a GPU must show what they show on the CPU: every scenario, and what no scenario has. Each prints one line: `ok`, or
 * in which tensors of which ranks the devices differ.
 */

const SUITE = 'the tests of faults on a GPU'
const skipped = skipReason(SUITE) !== undefined

const acceptedOf = (run: Finished): number =>
  column(run.chunks, 'steps', -1, 'draft_accepted').reduce((sum, tokens) => sum + tokens, 0)

const scenarioHolds = async (scenario: Scenario): Promise<string[]> => {
  const { broken, fixed } = scenarioConfigs(scenario)
  const config = engineConfig(broken, 'cuda')
  const [cuda, cpu] = await onBoth(config)
  const healthy = await finish(engineConfig(fixed, 'cuda'))
  const differing = differences(cuda, cpu, config, { rows: countedRows(config) })
  if (differences(healthy, cuda, config).length === 0) differing.push('nothing, and the fixed run neither')
  const [brokenError, fixedError] = [errorOf(cuda), errorOf(healthy)]
  if (!(fixedError < 1e-2)) differing.push(`the fixed run, which is off by ${fixedError}`)
  if (brokenError < 1e-2 !== (scenario.harmless === true || scenario.onDraft === true))
    differing.push(`the broken run, which is off by ${brokenError}`)
  if (scenario.onDraft === true && acceptedOf(cuda) > 0.9 * acceptedOf(healthy))
    differing.push(`accepted tokens, which are ${acceptedOf(cuda)} of ${acceptedOf(healthy)}`)
  const found = (await diagnosed({ config: broken, captures: cuda.captures })).findings[0]?.fault ?? null
  if (found !== scenario.diagnosis) differing.push(`the diagnosis, which finds ${found}`)
  const alarms = (await diagnosed({ config: fixed, captures: healthy.captures })).findings
  if (alarms.length > 0) differing.push(`the diagnosis of the fixed run, which finds ${alarms[0]?.fault}`)
  return differing
}

const small = (faults: readonly EngineFault[], over: Partial<EngineConfig> = {}): EngineConfig =>
  gpuConfig({
    contextLens: [0, 3, 64, 130, 900],
    shuffledPages: true,
    needles: true,
    layers: 2,
    steps: 4,
    warmup: 1,
    captureSteps: [3],
    captureLayers: [0],
    checkRows: 0,
    faults,
    ...over,
  })

const PADDED: Partial<EngineConfig> = { contextLens: [300, 37, 150, 0], padRequests: 1, graph: true }
/** A request that some ranks have no keys of. */
const SHORT: Partial<EngineConfig> = { contextLens: [300, 0, 150], steps: 1, captureSteps: [0] }
const COMMS = ['ag_rs', 'a2a', 'p2p'] as const

/** What no scenario has: the other ways of exchange, types of cache, ranks and steps, graphs, faults together. */
const CASES: readonly (readonly [name: string, config: EngineConfig])[] = [
  ...COMMS.flatMap((comm): (readonly [string, EngineConfig])[] => [
    [`base, ${comm}`, small([fault('lse-base-mismatch', { ranks: [1, 3] })], { comm })],
    [`mean, ${comm}`, small([fault('lse-dropped', { ranks: [0, 2] })], { comm })],
    [`sum, ${comm}`, small([fault('lse-dropped', { variant: 1 })], { comm, wireFp32: true })],
    [`no merge, ${comm}`, small([fault('merge-missing', { ranks: [2] })], { comm })],
    [`head order, ${comm}`, small([fault('head-order-permuted', { ranks: [0, 3], amount: 2 })], { comm })],
    [
      `empty rows, ${comm}`,
      small([fault('empty-row-not-neutralised')], {
        ...SHORT,
        comm,
        emptyRow: 'nan',
        zeroWeight: 'multiplied',
      }),
    ],
    [`merge of nothing, ${comm}`, small([fault('merged-empty-nan')], { ...PADDED, comm })],
  ]),
  ['unwritten rows', small([fault('empty-row-not-neutralised')], { ...SHORT, emptyRow: 'unwritten' })],
  ['padding of graphs', small([fault('pad-row-garbage', { ranks: [1] })], PADDED)],
  ['padding of length 1', small([fault('coverage-gap', { amount: 1 })], { ...PADDED, padLength: 1 })],
  ['a rank without say', small([fault('coverage-gap', { ranks: [1], variant: 1 })])],
  ['an lse in bf16', small([fault('lse-low-precision', { ranks: [1, 2] })])],
  ...(['[T,H]', '[H,T]', '[B,H,q]'] as const).map((lseLayout): readonly [string, EngineConfig] => [
    `an lse ${lseLayout} in another layout`,
    small([fault('lse-layout-transposed', { ranks: [0, 3] })], { lseLayout, qLen: 2, acceptedPerStep: 1 }),
  ]),
  ...(['[T,H]', '[H,T]'] as const).map((lseLayout): readonly [string, EngineConfig] => [
    `an lse ${lseLayout} with its padding`,
    small([fault('lse-head-misaligned')], { lseLayout, paddedHeads: 24 }),
  ]),
  ['heads by local counts', small([fault('gqa-head-map-local')], { kvHeads: 4, headDim: 64 })],
  [
    'heads by local counts on one rank',
    small([fault('gqa-head-map-local', { ranks: [2], layers: [0] })], {
      heads: 32,
      kvHeads: 2,
      headDim: 128,
      qLen: 2,
      acceptedPerStep: 2,
    }),
  ],
  ['fp8 read as fp8_ds_mla', small([fault('kv-layout-mismatch', { ranks: [0, 2] })], { kvDtype: 'fp8' })],
  [
    'fp8_ds_mla read as fp8',
    small([fault('kv-layout-mismatch', { ranks: [1, 3] })], { kvDtype: 'fp8_ds_mla' }),
  ],
  [
    'counters for the heads of a rank',
    small([fault('split-counter-undersized', { ranks: [0, 2] })], { contextLens: [4000, 20000] }),
  ],
  ['ids as they come', small([fault('topk-not-localised')], { topk: 64, kvDtype: 'fp8_ds_mla' })],
  ['-1 as a place', small([fault('topk-sentinel-owned')], { topk: 64, qLen: 2, acceptedPerStep: 2 })],
  [
    '-1 as a key',
    small([fault('topk-sentinel-owned', { variant: 1 })], { ...SHORT, topk: 64, emptyRow: 'unwritten' }),
  ],
  ['a narrow table, sparse', small([fault('table-width-mismatch')], { topk: 64, pageSize: 32 })],
  ['a stretched table', small([fault('table-width-mismatch', { variant: 1 })], { pageSize: 16 })],
  [
    'slots by global position',
    small([fault('slot-map-ignores-dcp')], { qLen: 3, acceptedPerStep: 2, kvDtype: 'fp8' }),
  ],
  ['a table for global lengths', small([fault('page-table-not-local', { ranks: [0, 1] })], { pageSize: 8 })],
  ['global lengths', small([fault('length-views-swapped')], { qLen: 2, acceptedPerStep: 2 })],
  [
    'narrow keys',
    small([fault('interleave-mismatch', { variant: 1, amount: 16 })], {
      kvLoraRank: 64,
      ropeDim: 16,
      heads: 12,
    }),
  ],
  [
    'bounds on local keys',
    small([fault('causal-end-aligned')], { qLen: 4, acceptedPerStep: 1, kvDtype: 'fp8' }),
  ],
  [
    'some steps of a graph',
    small([fault('lse-base-mismatch', { steps: [1, 3] }), fault('lse-dropped', { steps: [2] })], {
      graph: true,
    }),
  ],
  ...[0, 1, 2].map((variant): readonly [string, EngineConfig] => [
    `stale replays, variant ${variant}`,
    small([fault('stale-graph-metadata', { variant, steps: [3] })], {
      graph: true,
      pageSize: 8,
      contextLens: [29, 3, 62, 253],
    }),
  ]),
  [
    'replays that were never refreshed',
    small([fault('stale-graph-metadata', { variant: 1 })], { graph: true }),
  ],
  [
    'faults together',
    small([
      fault('lse-base-mismatch', { ranks: [0] }),
      fault('coverage-overlap', { ranks: [1, 2] }),
      fault('merge-missing', { ranks: [3] }),
    ]),
  ],
]

const ANY = scenarioConfigs(lseBaseMismatch).fixed
const INJECTED = FAULTS.flatMap(({ name, injection }) =>
  injection === undefined || injection.cpuOnly(ANY) !== undefined ? [] : [name],
)

/** A draft, where there is one, has one layer. */
const onBranch = (one: EngineFault, draft: boolean): EngineFault =>
  draft && one.draft ? { ...one, layers: [] } : { ...one, draft: false }

/** Any faults together, also such as no configuration may name. */
const anyFaults: fc.Arbitrary<EngineConfig> = fc
  .record({
    faults: fc.array(
      fc.record({
        fault: fc.constantFrom(...INJECTED),
        ranks: fc.uniqueArray(fc.nat(3), { minLength: 1 }),
        layers: fc.constantFrom([], [0]),
        steps: fc.constantFrom([], [2], [1, 3]),
        draft: fc.boolean(),
        variant: fc.nat(2),
        amount: fc.constantFrom(1, 16),
      }),
      { minLength: 1, maxLength: 5 },
    ),
    draft: fc.boolean(),
    kvDtype: fc.constantFrom('fp8', 'fp8_ds_mla'),
    topk: fc.constantFrom(0, 32),
    qLen: fc.integer({ min: 1, max: 4 }),
    interleave: fc.constantFrom(1, 4, 16),
    pageSize: fc.constantFrom(16, 64),
    padRequests: fc.nat(2),
    padLength: fc.nat(1),
    graph: fc.boolean(),
    comm: fc.constantFrom(...COMMS),
    emptyRow: fc.constantFrom('neutral', 'unwritten', 'plusInf', 'nan'),
  })
  .map(({ faults, padRequests, ...over }) =>
    small(
      faults.map((one) => onBranch(one, over.draft)),
      {
        ...over,
        captureLayers: over.draft ? [0, 2] : [0],
        // Of several new tokens two ranks would write into one slot, in an order that a GPU does not keep.
        qLen: faults.some((one) => one.fault === 'coverage-overlap') ? 1 : over.qLen,
        padRequests,
        contextLens: [0, 200, 37, ...new Array<number>(padRequests).fill(0)],
      },
    ),
  )

describe.skipIf(skipped)(SUITE, () => {
  describe.each(SCENARIOS)('scenario $name', (scenario) => {
    it('shows on a GPU what it shows on the CPU', async () => {
      const refused = cpuOnly(scenarioConfigs(scenario).broken)
      if (refused.length === 0) return report(scenario.name, await scenarioHolds(scenario))
      process.stdout.write(`refused ${scenario.name}: ${refused.map(({ message }) => message).join('; ')}\n`)
    })
  })

  it.each(CASES)('%s', async (name, config) => {
    const [cuda, cpu] = await onBoth(config)
    const healthy = await finish({ ...config, device: 'cpu', graph: false, faults: [] })
    const differing = differences(cuda, cpu, config, { rows: countedRows(config) })
    if (differences(healthy, cuda, config).length === 0) differing.push('nothing, and the fixed run neither')
    report(name, differing)
  })

  it('are in no other steps of a graph than theirs', async () => {
    const config = small([], { graph: true })
    const steps = [1, 2]
    const faulty = await finish({ ...config, faults: [fault('lse-base-mismatch', { steps })] })
    const healthy = await finish(config)
    for (let rank = 0; rank < config.ranks; rank++)
      for (const name of ['out', 'lse', 'merged'])
        expect(bytesOf(captureOf(faulty, rank), name).equals(bytesOf(captureOf(healthy, rank), name))).toBe(
          true,
        )
  })

  it.each([false, true])('are those of ranks in turn where each has a process (graph: %s)', async (graph) => {
    const config = small(
      [
        fault('head-order-permuted', { ranks: [1], amount: 1 }),
        fault('lse-base-mismatch', { ranks: [1] }),
        fault('merge-missing', { ranks: [0], layers: [0] }),
        fault('coverage-gap', { ranks: [0], amount: 3 }),
        fault('stale-graph-metadata', { ranks: [1], steps: [2, 3] }),
      ],
      { ranks: 2, comm: 'p2p', graph, captureLayers: [0, 1] },
    )
    const processes = { captures: capturesOf(await runRanks(config, { keep: true })) }
    const inTurn = await finish(config)
    for (let rank = 0; rank < config.ranks; rank++)
      for (const layer of config.captureLayers)
        for (const name of [...exactOf(config), 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged']) {
          const [own, other] = [captureOf(processes, rank, 3, layer), captureOf(inTurn, rank, 3, layer)]
          expect(bytesOf(own, name).equals(bytesOf(other, name)), `${name} of rank ${rank}`).toBe(true)
        }
  })

  it('any together leave what they hand to kernels, and what these write, as on the CPU', async () => {
    await fc.assert(
      fc.asyncProperty(anyFaults, async (config) => {
        const [cuda, cpu] = await onBoth(config)
        const exact = (name: string): boolean => !/^(lse|out|merged)/.test(name)
        for (const layer of config.captureLayers)
          expect(differences(cuda, cpu, config, { layer }).filter(exact)).toEqual([])
      }),
      { numRuns: 25 },
    )
  })
})
