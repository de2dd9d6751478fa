import { profileNamed } from '../backends/index.ts'
import { type EngineFault, engineFaults } from '../faults/engine.ts'
import { faultNamed } from '../faults/index.ts'
import { hasDraft } from './branch.ts'
import type { RunConfig } from './config.ts'
import type { ConfigIssue } from './parse.ts'
import { restOfLayer } from './rest-of-layer.ts'
import { kernelHeads, kernelKvHeads, keyWidth, measuredLayers } from './shape.ts'

/** What computes a run. */
export type Device = 'cpu' | 'cuda'

/**
 * What the native engine takes: one DCP group, flat, with every default resolved. The other groups of a
 * TP group do the same work on other heads, so one group stands for all.
 */
export interface EngineConfig {
  /** Ranks of the group (dcp size). */
  readonly ranks: number
  /** Heads that one rank's kernel sees, gathered: heads * dcpSize / tpSize. */
  readonly heads: number
  readonly kvLoraRank: number
  readonly ropeDim: number
  /** KV heads that a rank keeps, and their width; 0: MLA. */
  readonly kvHeads: number
  readonly headDim: number
  /** Layers that are computed. */
  readonly layers: number
  readonly softmaxScale: number
  readonly interleave: number
  /** Tokens behind the context of a request are dealt out anew, from rank 0 on. */
  readonly restarts: boolean
  readonly comm: 'ag_rs' | 'a2a' | 'p2p'
  readonly wireFp32: boolean
  readonly replicateQ: boolean
  readonly pageSize: number
  readonly kvDtype: 'fp32' | 'bf16' | 'fp8' | 'fp8_ds_mla'
  /** Tokens that one rank's pool holds; 0: as many as the run needs. */
  readonly poolTokens: number
  readonly shuffledPages: boolean
  /** Context of each request before the first step, tokens. */
  readonly contextLens: readonly number[]
  readonly qLen: number
  /** A draft of one attention layer, with pages of its own, proposes the tokens of each step. */
  readonly draft: boolean
  readonly acceptedPerStep: number
  readonly steps: number
  readonly warmup: number
  readonly seed: number
  readonly needles: boolean
  /** Keys that each query token attends to; 0: all that it sees. */
  readonly topk: number
  readonly lseBase: 'e' | '2'
  readonly emptyRow: 'neutral' | 'unwritten' | 'plusInf' | 'nan'
  readonly lseType: 'fp32' | 'bf16'
  readonly lseLayout: '[T,H]' | '[B,H,q]' | '[H,T]'
  /** Heads that the kernel has rows for, padding among them; 0: just `heads`. */
  readonly paddedHeads: number
  readonly zeroWeight: 'dropped' | 'multiplied'
  readonly allEmpty: 'zero' | 'nan'
  /** Each rank has a process of its own. */
  readonly processes: boolean
  readonly device: Device
  /** Whether captured CUDA graphs are replayed. */
  readonly graph: boolean
  /** Requests at the end of `contextLens` that only pad the batch, and their length: 0 or 1 token. */
  readonly padRequests: number
  readonly padLength: number
  /** Bytes of weights that each rank reads per layer besides attention, and its operations on them. */
  readonly restOfLayerBytes: number
  readonly restOfLayerFlops: number
  /** Statistics of every query row. */
  readonly rowStats: boolean
  /** Every step runs on the GPU once more with tracing off, so that the cost of tracing shows. */
  readonly observer: boolean
  /** Query rows checked a step: -1 auto, -2 all, 0 none, else a number. */
  readonly checkRows: number
  readonly captureSteps: readonly number[]
  readonly captureLayers: readonly number[]
  /** Steps on a GPU whose kernels are recorded. */
  readonly kernelSteps: readonly number[]
  /** Faults that are injected; they act together. */
  readonly faults: readonly EngineFault[]
}

export const defaultSoftmaxScale = (config: RunConfig): number =>
  config.model.softmaxScale ?? 1 / Math.sqrt(keyWidth(config))

export const acceptedPerStep = (config: RunConfig): number =>
  config.workload.acceptedPerStep ?? config.workload.qLen

/** Bytes of one cached token and layer on its rank: a key of MLA (fp8_ds_mla keeps scales and a bf16 rope), or key and value of each KV head. */
export const tokenBytes = (config: RunConfig): number => {
  const { kvLoraRank, ropeDim } = config.model
  const values = keyWidth(config) * Math.max(2 * kernelKvHeads(config), 1)
  switch (config.cache.kvDtype) {
    case 'fp32':
      return 4 * values
    case 'bf16':
      return 2 * values
    case 'fp8':
      return values
    case 'fp8_ds_mla':
      return kvLoraRank + 4 * Math.ceil(kvLoraRank / 128) + 2 * ropeDim
  }
}

/** Context lengths, one a request, in the order of the configuration. */
export const contextLens = (config: RunConfig): number[] =>
  config.workload.requests.flatMap((r) => new Array<number>(r.count).fill(r.contextLen))

/** Tokens of `request` that attention sees at `step`, those of the step included. */
export const lengthAtStep = (config: RunConfig, request: number, step: number): number =>
  (contextLens(config)[request] ?? 0) + step * acceptedPerStep(config) + config.workload.qLen

/** Requests for which a graph is captured that replays a batch: 1, 2, 4, 8, 16, 24, ... */
export const graphBatch = (requests: number): number => {
  for (let size = 1; size < 8; size *= 2) if (requests <= size) return size
  return Math.ceil(requests / 8) * 8
}

/** Requests that only pad the batch. */
const padRequests = (config: RunConfig): number => {
  const requests = contextLens(config).length
  return config.engine.graphBatch ? graphBatch(requests) - requests : 0
}

const checkRows = (rows: RunConfig['check']['rows']): number =>
  rows === 'auto' ? -1 : rows === 'all' ? -2 : rows === 'none' ? 0 : rows

/** Steps that a field names, of `steps` in all. */
const chosenSteps = (chosen: RunConfig['capture']['steps'], steps: number): readonly number[] =>
  chosen === 'last' ? [steps - 1] : chosen === 'none' ? [] : chosen

/** Whether kernels of some steps are to be recorded. */
export const recordsKernels = ({ engine, workload }: RunConfig): boolean =>
  chosenSteps(engine.kernelTrace, workload.steps).length > 0

/** The device of a run: `auto` is the GPU where `gpus` that can be used are enough and can do the run, else the CPU. */
export const deviceOf = (config: RunConfig, gpus = 0): Device => {
  if (config.engine.device !== 'auto') return config.engine.device
  return gpus >= neededGpus(config) && cpuOnly(config).length === 0 ? 'cuda' : 'cpu'
}

/** Ranks of one process take turns on one GPU. */
const neededGpus = ({ engine, parallel }: RunConfig): number =>
  engine.ranks === 'processes' ? parallel.dcpSize : 1

/** Whether the kernel keeps its lse in the type of a query that is bf16. */
const keepsLseInBf16 = ({ cache, engine }: RunConfig): boolean =>
  engine.lseType === 'query' && cache.kvDtype !== 'fp32'

/** Relative error above which the check fails: rounding of the cache's type, with room. An lse in bf16 is off by up to 2^-8 of itself, which is 6.4% of a weight where it is 16 to 32. */
export const checkTolerance = (config: RunConfig): number =>
  keepsLseInBf16(config) ? 1e-1 : config.cache.kvDtype === 'fp32' ? 1e-5 : 1e-2

/** Relative error of the draft's output within which a token that it proposes counts as accepted. */
export const DRAFT_TOLERANCE = 1e-2

/** Whether tokens behind the context of a request are dealt out anew, as its back-end does. */
export const restarts = ({ serving }: RunConfig): boolean =>
  profileNamed(serving.backend).semantics.restartsAfterPrompt === true

/** What only the CPU computes of a configuration, as issues of one that asks for a GPU. */
export const cpuOnly = (config: RunConfig): readonly ConfigIssue[] => {
  const { cache, faults } = config
  const issues: ConfigIssue[] = []
  const refuse = (is: boolean, path: string, message: string): void => {
    if (is) issues.push({ path, message })
  }
  refuse(cache.kvDtype === 'fp32', 'cache.kvDtype', 'fp32 is not supported on a GPU; use bf16')
  faults.forEach(({ fault }, i) => {
    const why = faultNamed(fault).injection?.cpuOnly(config)
    refuse(
      why !== undefined,
      `faults[${i}].fault`,
      `${fault} is injected on the CPU only, as ${why}; set engine.device to cpu or auto`,
    )
  })
  return issues
}

/** Needs a configuration without `unsupported` entries. */
export const engineConfig = (config: RunConfig, device: Device = deviceOf(config)): EngineConfig => {
  const { parallel, cache, workload, engine, capture, model } = config
  const rest = restOfLayer(config)
  const { semantics } = profileNamed(config.serving.backend)
  return {
    ranks: parallel.dcpSize,
    heads: kernelHeads(config),
    kvLoraRank: model.kvLoraRank,
    ropeDim: model.ropeDim,
    kvHeads: kernelKvHeads(config),
    headDim: model.headDim ?? 0,
    layers: measuredLayers(config),
    softmaxScale: defaultSoftmaxScale(config),
    interleave: parallel.interleave,
    restarts: restarts(config),
    comm: parallel.comm,
    wireFp32: parallel.wireDtype === 'fp32',
    replicateQ: parallel.replicateQ,
    pageSize: cache.pageSize,
    kvDtype: cache.kvDtype,
    poolTokens: cache.poolTokens ?? 0,
    shuffledPages: cache.allocation === 'shuffled',
    contextLens: [...contextLens(config), ...new Array<number>(padRequests(config)).fill(0)],
    qLen: workload.qLen,
    draft: hasDraft(config),
    acceptedPerStep: acceptedPerStep(config),
    steps: workload.steps,
    warmup: workload.warmup,
    seed: workload.seed,
    needles: workload.data === 'needles',
    topk: workload.topk ?? 0,
    lseBase: engine.lseBase,
    emptyRow: engine.emptyRow,
    lseType: keepsLseInBf16(config) ? 'bf16' : 'fp32',
    lseLayout: engine.lseLayout,
    paddedHeads: engine.paddedHeads,
    zeroWeight: engine.zeroWeight,
    allEmpty: engine.allEmpty,
    processes: engine.ranks === 'processes',
    device,
    graph: engine.graph || (engine.graphBatch && device === 'cuda'),
    padRequests: padRequests(config),
    padLength: semantics.padRowLength ?? 0,
    restOfLayerBytes: rest.bytes,
    restOfLayerFlops: rest.flops,
    rowStats: engine.rowStats,
    observer: engine.observer,
    checkRows: checkRows(config.check.rows),
    captureSteps: chosenSteps(capture.steps, workload.steps),
    captureLayers: capture.layers,
    kernelSteps: chosenSteps(engine.kernelTrace, workload.steps),
    faults: engineFaults(config),
  }
}
