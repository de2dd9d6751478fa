import { describe, expect, it } from 'vitest'
import type { EngineFault } from '../../app/faults/engine.ts'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { STAGES } from '../../app/trace/stages.ts'
import { captureOf, column, type Finished, finish, rowsOf, valuesOf } from '../native/engine.ts'
import { configFile, dcpscope, freshFolder } from '../unit/cli/dcpscope.ts'
import { bytesOf, countsOf, exactOf, expectAgreement } from './agreement.ts'
import { gpuConfig } from './config.ts'
import { differences, errorOf, fault, onBoth, report } from './differences.ts'
import { skipReason } from './program.ts'
import { newBundle } from './rank-cases.ts'

/**
 * A draft beside the model on a GPU, with pages, metadata and graphs of its own. Ranks in turn; those in processes are in
 * processes*.test.ts, kernels of a draft in kernel-trace.test.ts, its scenarios in faults.test.ts.
 */

const SUITE = 'the tests of drafts on a GPU'
const skipped = skipReason(SUITE) !== undefined

const STEPS = 4
const LAYERS = 2
/** The draft's layer comes behind those of the model. */
const DRAFT = LAYERS
const COMMS = ['ag_rs', 'a2a', 'p2p'] as const
const PARTIALS = ['out_kernel', 'lse_kernel', 'out', 'lse', 'merged'] as const

/** Requests around the borders of pages, and one that is split over the GPU. */
const drafted = (over: Partial<EngineConfig> = {}): EngineConfig =>
  gpuConfig({
    draft: true,
    layers: LAYERS,
    qLen: 3,
    acceptedPerStep: Math.min(2, over.qLen ?? 2),
    contextLens: [1, 15, 63, 64, 65, 250, 2500],
    shuffledPages: true,
    steps: STEPS,
    captureSteps: [0, STEPS - 1],
    captureLayers: [0, 1, DRAFT],
    ...over,
  })

const stepsOf = (run: Finished, name: string): number[] => column(run.chunks, 'steps', -1, name)
const proposed = (config: EngineConfig): number[] =>
  new Array<number>(STEPS).fill((config.contextLens.length - config.padRequests) * config.qLen)

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/** Captures of one layer in one step. */
const part = ({ captures }: Finished, step: number, layer: number): Pick<Finished, 'captures'> => ({
  captures: captures.filter((capture) => capture.step === step && capture.layer === layer),
})

const expectSameAsCpu = (cuda: Finished, cpu: Finished, config: EngineConfig): void => {
  for (const step of config.captureSteps)
    for (const layer of config.captureLayers)
      expectAgreement(part(cuda, step, layer), part(cpu, step, layer), config)
  for (let rank = 0; rank < config.ranks; rank++) expect(countsOf(cuda, rank)).toEqual(countsOf(cpu, rank))
  for (const name of ['draft_proposed', 'draft_accepted', 'checked_rows'])
    expect(stepsOf(cuda, name)).toEqual(stepsOf(cpu, name))
  expect(cuda.dropped).toBe(0)
}

const expectSameBits = (
  run: Finished,
  other: Finished,
  config: EngineConfig,
  layers: readonly number[] = config.captureLayers,
): void => {
  for (const step of config.captureSteps)
    for (const layer of layers)
      for (let rank = 0; rank < config.ranks; rank++)
        for (const name of [...exactOf(config), ...PARTIALS]) {
          const [own, its] = [captureOf(run, rank, step, layer), captureOf(other, rank, step, layer)]
          const where = `${name} of rank ${rank}, layer ${layer}, step ${step}`
          expect(bytesOf(own, name).equals(bytesOf(its, name)), where).toBe(true)
        }
}

const nameOf = (over: Partial<EngineConfig>): string => JSON.stringify(over)

const CASES: readonly Partial<EngineConfig>[] = [
  ...COMMS.map((comm) => ({ comm })),
  { comm: 'a2a', kvDtype: 'fp8', needles: true, lseBase: '2' },
  { comm: 'p2p', kvDtype: 'fp8_ds_mla', heads: 64, ranks: 8, qLen: 8, acceptedPerStep: 5 },
  { topk: 64, qLen: 2, interleave: 4 },
  { comm: 'a2a', topk: 64, kvDtype: 'fp8_ds_mla' },
  { kvHeads: 4, headDim: 64, comm: 'p2p', interleave: 8 },
  { kvLoraRank: 64, ropeDim: 16, pageSize: 7, emptyRow: 'nan', replicateQ: true },
  { ranks: 1 },
  { restarts: true, interleave: 16, pageSize: 16, comm: 'a2a' },
  { lseLayout: '[B,H,q]', paddedHeads: 64 },
  { contextLens: [300, 1, 64, 0, 0], padRequests: 2, padLength: 1 },
]

describe.skipIf(skipped)(SUITE, () => {
  for (const over of CASES)
    it(`agree with the CPU, and all their tokens are accepted (${nameOf(over)})`, async () => {
      const config = drafted(over)
      const [cuda, cpu] = await onBoth(config)
      expectSameAsCpu(cuda, cpu, config)
      expect([stepsOf(cuda, 'draft_proposed'), stepsOf(cuda, 'draft_accepted')]).toEqual([
        proposed(config),
        proposed(config),
      ])
      expect(errorOf(cuda)).toBeLessThan(1e-2)
    })

  for (const over of [
    ...COMMS.map((comm) => ({ comm })),
    { topk: 64, comm: 'p2p' },
    { contextLens: [63, 64, 300], observer: true },
  ] satisfies Partial<EngineConfig>[])
    it(`are the same bits eager and as replayed graphs (${nameOf(over)})`, async () => {
      const config = drafted(over)
      const [eager, replayed] = [await finish(config), await finish({ ...config, graph: true })]
      expect(stepsOf(replayed, 'graph_replayed')).toContain(1)
      expectSameBits(replayed, eager, config)
      for (let rank = 0; rank < config.ranks; rank++)
        expect(countsOf(replayed, rank)).toEqual(countsOf(eager, rank))
      expect(stepsOf(replayed, 'draft_accepted')).toEqual(proposed(config))
    })

  it('have a graph of their own, replayed before that of the model', async () => {
    const config = drafted({ graph: true, comm: 'p2p' })
    const run = await finish(config)
    for (let rank = 0; rank < config.ranks; rank++) {
      const spans = rowsOf(run.chunks, 'spans', rank)
      const isReplay = ({ stage }: Record<string, number>): boolean => STAGES[stage ?? -1] === 'graph_replay'
      for (let step = 0; step < STEPS; step++) {
        const own = spans.filter((span) => span.step === step)
        const [draft, model, ...others] = own.filter(isReplay)
        expect([draft?.layer, model?.layer, others]).toEqual([DRAFT, -1, []])
        const endOf = (span: Record<string, number> | undefined): number =>
          (span?.start_ns ?? 0) + (span?.dur_ns ?? 0)
        expect(model?.start_ns).toBeGreaterThanOrEqual(endOf(draft))
        for (const span of own.filter((one) => !isReplay(one))) {
          const around = span.layer === DRAFT ? draft : model
          expect(span.start_ns).toBeGreaterThanOrEqual(around?.start_ns ?? Number.NaN)
          expect(endOf(span)).toBeLessThanOrEqual(endOf(around))
        }
      }
    }
  })

  it('are what a step does once, in the stages, collectives and bytes that the CPU has', async () => {
    const config = drafted({ comm: 'a2a' })
    const [cuda, cpu] = await onBoth(config)
    /** What a combine takes that is part of attention has no bytes, and neutralising reads for statistics. */
    const counts = ['metadata', 'q_all_gather', 'kv_append', 'decode_attn', 'out_all_to_all', 'merge']
    for (let rank = 0; rank < config.ranks; rank++) {
      const spans = (run: Finished): string[] =>
        rowsOf(run.chunks, 'spans', rank).flatMap((span) => {
          const stage = STAGES[span.stage ?? -1] ?? ''
          const bytes = counts.includes(stage) ? span.bytes : 0
          return stage === 'split_combine'
            ? []
            : [`${span.step} ${span.layer} ${stage} ${span.collective_seq} ${bytes}`]
        })
      expect(spans(cuda)).toEqual(spans(cpu))
    }
    stepsOf(cuda, 'once_ns').forEach((once, step) => {
      const ends = rowsOf(cuda.chunks, 'spans', 0)
        .filter((span) => span.step === step && span.layer === DRAFT)
        .map((span) => span.dur_ns ?? 0)
      expect(once).toBeGreaterThanOrEqual(total(ends))
    })
  })

  it('have other pages and slots than the model, and leave it what it is without one', async () => {
    const config = drafted({ comm: 'p2p' })
    const run = await finish(config)
    const alone = await finish({ ...config, draft: false, captureLayers: [0, 1] })
    expectSameBits(run, alone, config, [0, 1])
    for (let rank = 0; rank < config.ranks; rank++) {
      const of = (layer: number, name: string): number[] => [
        ...valuesOf(captureOf(run, rank, 0, layer), name),
      ]
      expect(of(DRAFT, 'slot_mapping').map((slot) => slot >= 0)).toEqual(
        of(0, 'slot_mapping').map((slot) => slot >= 0),
      )
      expect(of(DRAFT, 'slot_mapping')).not.toEqual(of(0, 'slot_mapping'))
      expect(of(DRAFT, 'block_table')).not.toEqual(of(0, 'block_table'))
    }
  })

  it('are judged by one head of each token where not all rows are checked, and not where none are', async () => {
    const some = drafted({ checkRows: 3, captureSteps: [] })
    expect(stepsOf(await finish(some), 'draft_accepted')).toEqual(proposed(some))
    const none = drafted({ checkRows: 0, captureSteps: [] })
    expect(stepsOf(await finish(none), 'draft_accepted')).toEqual(new Array(STEPS).fill(-1))
  })
})

/** Faults of the draft, and what shows of each; the model has none. */
const FAULTS: readonly (readonly [fault: EngineFault, over: Partial<EngineConfig>])[] = [
  [fault('slot-map-ignores-dcp'), {}],
  [fault('slot-map-ignores-dcp', { ranks: [1, 2] }), { kvDtype: 'fp8', comm: 'p2p' }],
  [fault('length-views-swapped'), { comm: 'a2a' }],
  [fault('page-table-not-local', { ranks: [0, 1] }), { pageSize: 8 }],
  [fault('table-width-mismatch'), { pageSize: 16 }],
  [fault('coverage-gap', { amount: 8 }), {}],
  [fault('coverage-gap', { ranks: [1], variant: 1 }), {}],
  [fault('interleave-mismatch', { amount: 16 }), {}],
  [fault('interleave-mismatch', { amount: 16, variant: 1 }), {}],
  [fault('causal-end-aligned'), { contextLens: [30, 9, 17] }],
  [fault('stale-graph-metadata', { steps: [STEPS - 1] }), {}],
  [fault('lse-base-mismatch', { ranks: [1, 3] }), { comm: 'a2a' }],
  [fault('lse-base-mismatch', { ranks: [1, 3], steps: [0, 3] }), { comm: 'p2p' }],
  [fault('lse-dropped', { variant: 1 }), {}],
  [fault('merge-missing', { ranks: [2] }), { comm: 'p2p' }],
  [fault('head-order-permuted', { amount: 1 }), { comm: 'a2a' }],
  [fault('kv-layout-mismatch'), { kvDtype: 'fp8' }],
  [fault('topk-not-localised'), { topk: 64 }],
  [fault('gqa-head-map-local'), { kvHeads: 4, headDim: 64 }],
]

describe.skipIf(skipped)(`${SUITE}: faults of one branch`, () => {
  for (const [one, over] of FAULTS)
    for (const graph of [false, true]) {
      const name = `${one.fault}, variant ${one.variant}, ranks ${one.ranks}, steps ${one.steps}, ${nameOf(over)}, ${graph ? 'graph' : 'eager'}`
      it(`of the draft show in it alone, as on the CPU (${name})`, async () => {
        const config = drafted({ needles: true, ...over, graph, faults: [{ ...one, draft: true }] })
        const [cuda, cpu] = await onBoth(config)
        const differing = config.captureLayers.flatMap((layer) =>
          differences(cuda, cpu, config, { layer }).map((what) => `layer ${layer}: ${what}`),
        )
        const healthy = await finish({ ...config, device: 'cpu', graph: false, faults: [] })
        if (differences(healthy, cpu, config, { layer: DRAFT }).length === 0)
          differing.push('nothing in the draft')
        if (differences(cuda, healthy, config, { layer: 1 }).length > 0) differing.push('the model')
        report(name, differing)
        const [own, other] = [cuda, cpu].map((run) => total(stepsOf(run, 'draft_accepted')))
        const all = total(proposed(config))
        expect(own).toBeLessThan(all)
        // Some tokens may be off by just what counts.
        expect(Math.abs((own ?? 0) - (other ?? 0))).toBeLessThanOrEqual(0.05 * all)
        expect(errorOf(cuda)).toBeLessThan(1e-2)
      })
    }

  for (const graph of [false, true])
    it(`of the model leave the draft alone (${graph ? 'graph' : 'eager'})`, async () => {
      for (const one of ['length-views-swapped', 'lse-base-mismatch'] as const) {
        const config = drafted({ graph, faults: [fault(one)] })
        const [cuda, cpu] = await onBoth(config)
        expect(stepsOf(cuda, 'draft_accepted')).toEqual(proposed(config))
        expect(errorOf(cuda)).toBeGreaterThan(1e-2)
        for (const layer of config.captureLayers)
          report(`${one}, layer ${layer}`, differences(cuda, cpu, config, { layer }))
      }
    })

  for (const draft of [false, true])
    it(`leave exactly one branch unrefreshed (${draft ? 'the draft' : 'the model'})`, async () => {
      const config = drafted({ graph: true, captureSteps: [2, 3] })
      const stale = fault('stale-graph-metadata', { steps: [3], draft })
      const [fresh, run] = [await finish(config), await finish({ ...config, faults: [stale] })]
      for (let rank = 0; rank < config.ranks; rank++) {
        const lengths = (of: Finished, step: number, layer: number): number[] => [
          ...valuesOf(captureOf(of, rank, step, layer), 'seq_lens_local'),
        ]
        const [hit, spared] = draft ? [DRAFT, 0] : [0, DRAFT]
        expect(lengths(run, 3, hit)).toEqual(lengths(fresh, 2, hit))
        expect(lengths(run, 3, spared)).toEqual(lengths(fresh, 3, spared))
      }
      const accepted = stepsOf(run, 'draft_accepted')[3] ?? Number.NaN
      const [all = Number.NaN] = proposed(config)
      if (draft) expect(accepted).toBeLessThan(all)
      else expect(accepted).toBe(all)
    })
})

describe.skipIf(skipped)('dcpscope on a GPU with a draft', () => {
  it.each([false, true])(
    'runs one and says how many of its tokens are accepted (graph: %s)',
    async (graph) => {
      const file = configFile({
        model: { preset: 'tiny' },
        workload: { qLen: 2, steps: 6 },
        engine: { device: 'cuda', graph },
        serving: { draft: 'EAGLE3' },
      })
      const { code, stdout, stderr } = await dcpscope(['run', file, '--out', newBundle(), '--json'])
      expect([code, stderr]).toEqual([0, ''])
      const { device, draft, dropped } = JSON.parse(stdout)
      expect([device, dropped]).toEqual(['cuda', 0])
      expect(draft.accepted).toBe(draft.proposed)
      expect(draft.proposed).toBeGreaterThan(0)
    },
  )

  it('runs a scenario of one, and both runs pass their check', async () => {
    const args = ['run', '--scenario', 'slot-map-ignores-dcp-draft', '--device', 'cuda']
    const { code, stdout } = await dcpscope([...args, '--out', `${freshFolder()}/both`, '--json'])
    expect(code).toBe(0)
    const { broken, fixed } = JSON.parse(stdout)
    expect([broken.device, fixed.device]).toEqual(['cuda', 'cuda'])
    expect(fixed.draft.accepted).toBe(fixed.draft.proposed)
    expect(broken.draft.accepted).toBeLessThan(0.9 * fixed.draft.accepted)
  })
})
