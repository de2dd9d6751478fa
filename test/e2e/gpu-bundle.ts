import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseRunConfig } from '../../app/run/parse.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import { STAGES, type Stage } from '../../app/trace/stages.ts'
import { Store } from '../../main/store/store.ts'
import {
  fakeEngine,
  kernelChunk,
  type SampleKernel,
  type SampleSpan,
  spanChunk,
  stepChunk,
} from '../unit/store/sample.ts'

export const RANKS = 4
export const STEPS = 12
const LAYERS = 4
const LAYER_NS = 100_000
const STEP_NS = 1_000_000

export const EMULATED =
  'Ranks share one GPU in turn: each lane is shifted to the start of its step, and transports are emulated by local copies.'

export const TIME_SLICED = 'There are more ranks than GPUs: every time is time-sliced.'

/** How the ranks share the GPU. */
type Sharing = 'emulated' | 'time-sliced'

/** Stages of a layer on one rank as start and duration within the layer, ns; those between ranks are emulated. */
const LAYER: readonly (readonly [stage: Stage, startNs: number, durNs: number])[] = [
  ['q_all_gather', 0, 5_000],
  ['kv_append', 5_000, 3_000],
  ['decode_attn', 8_000, 50_000],
  ['neutralize', 58_000, 2_000],
  ['lse_all_gather', 60_000, 4_000],
  ['lse_correct', 64_000, 6_000],
  ['out_reduce_scatter', 70_000, 10_000],
  ['rest_of_layer', 80_000, 15_000],
]
const BETWEEN_RANKS: readonly Stage[] = ['q_all_gather', 'lse_all_gather', 'out_reduce_scatter']

/** The span of the graph, which contains the others of its step. */
const replayOf = (step: number, provenance: Sharing): SampleSpan => ({
  start: step * STEP_NS,
  dur: LAYERS * LAYER_NS,
  stage: STAGES.indexOf('graph_replay'),
  step,
  layer: -1,
  provenance,
})

const spansOf = (step: number, sharing: Sharing, attention: number): SampleSpan[] => [
  replayOf(step, sharing),
  ...Array.from({ length: LAYERS }, (_, layer) =>
    LAYER.map(([stage, start, dur], i): SampleSpan => {
      const between = BETWEEN_RANKS.includes(stage)
      return {
        start: step * STEP_NS + layer * LAYER_NS + start,
        dur: stage === 'decode_attn' ? dur * attention : dur,
        stage: STAGES.indexOf(stage),
        step,
        layer,
        provenance: between || sharing === 'time-sliced' ? sharing : 'measured',
        ...(between ? { collective: (step * LAYERS + layer) * LAYER.length + i } : {}),
      }
    }),
  ).flat(),
]

/** The step whose kernels are recorded, where some are: they lie within the spans of decode_attn and kv_append. */
export const KERNEL_STEP = STEPS - 1
export const KERNEL =
  'void dcpscope::cuda::(anonymous namespace)::attend<64, true>(dcpscope::cuda::AttendWork)'

const kernelsOf = (step: number): SampleKernel[] =>
  Array.from({ length: LAYERS }, (_, layer): SampleKernel[] => {
    const start = step * STEP_NS + layer * LAYER_NS
    return [
      {
        start: start + 5_200,
        dur: 2_500,
        name: 'memcpy device to device',
        stage: 'kv_append',
        step,
        layer,
        bytes: 9216,
      },
      { start: start + 8_300, dur: 49_000, name: KERNEL, stage: 'decode_attn', step, layer },
    ]
  }).flat()

const manifest = (name: string, kernels: boolean, sharing: Sharing): Manifest => {
  const parsed = parseRunConfig({
    model: { layers: LAYERS },
    workload: { requests: [{ contextLen: 32_768, count: 8 }], steps: STEPS },
    engine: { device: 'cuda', graph: true, observer: true, kernelTrace: kernels ? 'last' : 'none' },
  })
  if (!parsed.ok) throw new Error(parsed.issues.map(({ path, message }) => `${path} ${message}`).join())
  return {
    format: 'dcpscope-run',
    formatVersion: 3,
    name,
    status: 'running',
    ...(sharing === 'emulated' ? { emulated: EMULATED } : { timeSliced: TIME_SLICED }),
    config: parsed.config,
    devices: [{ name: 'NVIDIA H200', kind: 'cuda', detail: 'compute capability 9.0, driver 580.1' }],
    versions: { dcpscope: '0.1.0' },
    clock: { base: '2026-01-01T00:00:00.000Z', alignment: 'one device clock', uncertaintyNs: 100 },
    createdAt: new Date().toISOString(),
  }
}

export interface GpuBundle {
  /** The last step, which takes longer, has its kernels recorded. */
  readonly kernels?: boolean
  /** In turn within one process, where it is not said. */
  readonly sharing?: Sharing
  readonly name?: string
  /** What attention takes of its usual time, by another kernel; at most 1. */
  readonly attention?: number
}

/** Writes what a run of four ranks on one GPU leaves, with the numbers of a test, where the app lists its runs. */
export const writeGpuBundle = async (
  dataDir: string,
  { kernels = false, sharing = 'emulated', name = 'gpu run', attention = 1 }: GpuBundle = {},
): Promise<string> => {
  const runs = join(dataDir, 'dcpscope', 'runs')
  mkdirSync(runs, { recursive: true })
  const bundle = join(runs, `${name}.dcp`)
  const store = new Store()
  const engine = fakeEngine()
  store.attachEngine(engine.storeEnd)
  engine.begin(bundle, manifest(name, kernels, sharing))
  const steps = Array.from({ length: STEPS }, (_, step) => step)
  const spans = steps.flatMap((step) => spansOf(step, sharing, attention))
  for (let rank = 0; rank < RANKS; rank++) engine.chunk(spanChunk(rank, spans))
  const source = {
    provenance: sharing,
    deviceNs: 3_800_000n,
    untracedNs: 3_785_000n,
    graph: true,
  } as const
  const plain = kernels ? KERNEL_STEP : STEPS
  engine.chunk(stepChunk(0, plain, () => 2e-3, source))
  if (kernels) {
    const slower = { ...source, deviceNs: 9_000_000n, kernelTrace: true }
    engine.chunk(stepChunk(KERNEL_STEP, 1, () => 2e-3, slower))
    for (let rank = 0; rank < RANKS; rank++) engine.chunk(kernelChunk(rank, kernelsOf(KERNEL_STEP)))
  }
  engine.end()
  const failed = engine.reply('failed').then(({ error }) => {
    throw new Error(error)
  })
  await Promise.race([engine.reply('closed'), failed])
  await store.close()
  return bundle
}
