import { z } from 'zod'
import { BACKEND_NAMES } from '../backends/index.ts'
import { FAULT_NAMES } from '../faults/names.ts'
import { BRANCHES } from './branch.ts'

/**
 * The run configuration: what one decode run computes, on which ranks, and what is kept of it.
 * Every field has a default, unknown keys are errors, and every field carries the words of its form
 * control (`title`, `description`, `unit`) as zod metadata, so that form, help and errors say the same.
 */

export const field = <T extends z.ZodType>(schema: T, title: string, description: string, unit?: string): T =>
  schema.meta({ title, description, ...(unit === undefined ? {} : { unit }) })

export const count = (min: number, max: number) => z.int().min(min).max(max)

export const MAX_DCP_SIZE = 64
export const MAX_HEADS = 128
export const MAX_Q_LEN = 8
export const MAX_REQUESTS = 4096
/** Longest context of one request, in tokens (16 Mi). */
export const MAX_CONTEXT = 1 << 24

export const PRESET_NAMES = ['tiny', 'deepseek-v2-lite', 'deepseek-v3', 'kimi-k2'] as const
export type PresetName = (typeof PRESET_NAMES)[number]

const model = z.strictObject({
  preset: field(
    z.enum(PRESET_NAMES).optional(),
    'Preset',
    'Model whose attention shape is used; other fields override it.',
  ),
  heads: field(count(1, 1024).default(16), 'Heads', 'Query heads of the whole model.'),
  kvLoraRank: field(
    count(16, 512).multipleOf(16).default(512),
    'Latent width',
    'Width of the latent KV vector; values are this part of a key.',
    'values',
  ),
  ropeDim: field(
    count(0, 256).multipleOf(16).default(64),
    'Rope width',
    'Width of the rotary part of a key.',
    'values',
  ),
  layers: field(count(1, 512).default(4), 'Layers', 'Attention layers of the model.'),
  measuredLayers: field(
    count(1, 512).optional(),
    'Measured layers',
    'Layers really computed; they stand for all layers and what is derived says scaled. Default: all.',
  ),
  kvHeads: field(
    count(1, 1024).optional(),
    'KV heads',
    'Key-value heads of grouped-query or multi-head attention; without them the model has MLA.',
  ),
  headDim: field(
    count(16, 512).multipleOf(16).optional(),
    'Head width',
    'Width of keys and values where there are KV heads, in place of latent and rope width.',
    'values',
  ),
  softmaxScale: field(
    z.number().positive().max(1000).optional(),
    'Softmax scale',
    'Factor on scores before the softmax. Default: 1 / sqrt(width of a key).',
  ),
})

const parallel = z.strictObject({
  mode: field(
    z.enum(['dcp', 'tp']).default('dcp'),
    'Mode',
    'dcp shards the KV cache over the ranks of a group; tp keeps all of it on each rank.',
  ),
  tpSize: field(
    count(1, 1024).default(4),
    'TP size',
    'Tensor-parallel ranks; heads are divided by it.',
    'ranks',
  ),
  dcpSize: field(
    count(1, MAX_DCP_SIZE).default(4),
    'DCP size',
    'Ranks over which one KV cache is dealt out.',
    'ranks',
  ),
  interleave: field(
    count(1, 1 << 20).default(1),
    'Interleave',
    'Consecutive tokens that go to one rank.',
    'tokens',
  ),
  comm: field(
    z.enum(['ag_rs', 'a2a', 'p2p']).default('ag_rs'),
    'Transport',
    'How partials are exchanged before the merge.',
  ),
  wireDtype: field(
    z.enum(['out', 'fp32']).default('out'),
    'Wire type',
    'Type of partials in flight: that of the output, or fp32.',
  ),
  replicateQ: field(
    z.boolean().default(false),
    'Replicate Q',
    'Each rank computes the queries of all heads, so that no gather is needed.',
  ),
})

const cache = z.strictObject({
  pageSize: field(count(1, 1024).default(64), 'Page size', 'Tokens of one physical page.', 'tokens'),
  kvDtype: field(
    z.enum(['fp32', 'bf16', 'fp8', 'fp8_ds_mla']).default('bf16'),
    'KV type',
    'Type of cached keys and values.',
  ),
  poolTokens: field(
    count(1, 2 ** 40).optional(),
    'Pool',
    'Tokens that the pool of one rank holds. Default: as many as the run needs.',
    'tokens',
  ),
  allocation: field(
    z.enum(['sequential', 'shuffled']).default('sequential'),
    'Page order',
    'Order in which pages leave the pool.',
  ),
})

const request = z.strictObject({
  contextLen: field(
    count(0, MAX_CONTEXT).default(1024),
    'Context',
    'Tokens in the cache before the first step.',
    'tokens',
  ),
  count: field(count(1, 4096).default(1), 'Requests', 'Requests with this context.'),
})

const workload = z.strictObject({
  requests: field(
    z
      .array(request)
      .min(1)
      .max(4096)
      .prefault([
        { contextLen: 1000, count: 2 },
        { contextLen: 4096, count: 1 },
        { contextLen: 3, count: 1 },
      ]),
    'Requests',
    'The batch, as groups of equal contexts.',
  ),
  qLen: field(
    count(1, MAX_Q_LEN).default(1),
    'Query length',
    'Query tokens a request and step (more than 1: speculative verify).',
    'tokens',
  ),
  acceptedPerStep: field(
    count(1, MAX_Q_LEN).optional(),
    'Accepted',
    'Tokens a step by which the context grows. Default: the query length.',
    'tokens',
  ),
  steps: field(count(1, 1_000_000).default(32), 'Steps', 'Decode steps that are traced.'),
  warmup: field(
    count(0, 10_000).default(2),
    'Warm-up',
    'Steps before the first traced one; they leave the context as it is.',
  ),
  seed: field(count(0, 2 ** 32 - 1).default(1), 'Seed', 'Fixes every key, value and query.'),
  data: field(
    z.enum(['normal', 'needles']).default('normal'),
    'Data',
    'normal: independent normal values; needles: few keys dominate, so ranks differ in log-sum-exp.',
  ),
  topk: field(
    count(1, 1 << 20).optional(),
    'Top-k',
    'Sparse attention: keys that each query row attends to.',
    'keys',
  ),
})

const engine = z.strictObject({
  device: field(
    z.enum(['auto', 'cpu', 'cuda']).default('auto'),
    'Device',
    'auto takes a GPU when the engine can use one for the run.',
  ),
  ranks: field(
    z.enum(['threads', 'processes']).default('threads'),
    'Ranks',
    'threads: all ranks in one process, on a GPU in turn; processes: a process and, on GPUs, a GPU for each rank, from the command line only.',
  ),
  lseBase: field(
    z.enum(['e', '2']).default('e'),
    'LSE base',
    'Base of the log-sum-exp that the kernel returns.',
  ),
  emptyRow: field(
    z.enum(['neutral', 'unwritten', 'plusInf', 'nan']).default('neutral'),
    'Empty rows',
    'What the kernel leaves in rows without keys, before they are neutralised.',
  ),
  lseType: field(
    z.enum(['fp32', 'query']).default('fp32'),
    'LSE type',
    'Type in which the kernel keeps its lse: fp32, or that of the query, which is bf16 unless the cache is fp32.',
  ),
  lseLayout: field(
    z.enum(['[T,H]', '[B,H,q]', '[H,T]']).default('[T,H]'),
    'LSE layout',
    'Order in which the kernel keeps its lse, brought into [T,H] before the merge: T query tokens of B requests of q, H heads.',
  ),
  paddedHeads: field(
    count(0, MAX_HEADS).default(0),
    'Padded heads',
    'Heads that the kernel has rows for; those that it is not given are padding, which is trimmed before the merge. 0: no padding.',
    'heads',
  ),
  zeroWeight: field(
    z.enum(['dropped', 'multiplied']).default('dropped'),
    'Weight 0',
    'What the merge does with the payload of a row whose weight is 0: drops it, or multiplies it, so that NaN stays NaN.',
  ),
  allEmpty: field(
    z.enum(['zero', 'nan']).default('zero'),
    'All empty',
    'What the merge makes of a row that is empty on all ranks.',
  ),
  graph: field(z.boolean().default(false), 'Graph', 'Replay captured CUDA graphs; a GPU only.'),
  graphBatch: field(
    z.boolean().default(false),
    'Graph batch',
    'Pads the batch to that of a captured graph, as a replay does, which a GPU then is. Rows of padding are as long as the back-end has them.',
  ),
  rowStats: field(
    z.boolean().default(true),
    'Row statistics',
    'NaN, infinity, largest magnitude and range of log-sum-exp of every query row.',
  ),
  observer: field(
    z.boolean().default(false),
    'Observer cost',
    'Runs every step on the GPU once more with tracing off, before or after it in turn, and reports the difference.',
  ),
  kernelTrace: field(
    z.union([z.enum(['none', 'last']), z.array(count(0, 999_999)).max(64)]).default('none'),
    'Recorded kernels',
    'Steps on the GPU whose kernels CUPTI records, name by name; they take longer, and the numbers of the run leave them out.',
  ),
  restOfLayer: field(
    z.union([z.enum(['model']), count(0, 2 ** 40)]).default(0),
    'Rest of layer',
    'Weights that each rank reads per layer besides attention: bytes, 0 is off, or what a layer of the preset touches.',
    'bytes',
  ),
})

const serving = z.strictObject({
  backend: field(
    z.enum(BACKEND_NAMES).optional(),
    'Back-end',
    'Serving back-end whose kernel and merge semantics are used, and whose guards are applied. Default: native, our own.',
  ),
  kernel: field(
    z.string().min(1).max(64).optional(),
    'Kernel',
    'Kernel of the back-end, where it has several. Default: its first.',
  ),
  arch: field(
    z.enum(['sm80', 'sm90', 'sm100']).optional(),
    'Architecture',
    'GPU architecture on which the back-end would serve; its guards look at it, the engine does not.',
  ),
  versions: field(
    z.record(z.string().max(64), z.string().max(64)).optional(),
    'Versions',
    'Versions of packages that guards look at, by name.',
  ),
  draft: field(
    z.string().min(1).max(64).optional(),
    'Draft model',
    'Speculative draft model, which guards look at by its name. The engine runs one layer of attention in its place, with pages of its own.',
  ),
  causal: field(z.boolean().optional(), 'Causal', 'Causal attention among the query tokens. Default: true.'),
  causalBound: field(
    z.enum(['local', 'global']).optional(),
    'Causal bound',
    'Bound of query rows that the serving engine passes, in keys of the rank or in tokens of the request. Default: what the back-end passes.',
  ),
  returnLse: field(
    z.boolean().default(true),
    'Return lse',
    'Whether the kernel is asked for the lse; a draft extend of one token does not.',
  ),
  queryLens: field(
    z.array(count(1, MAX_Q_LEN)).min(1).max(MAX_REQUESTS).optional(),
    'Query lengths',
    'Query tokens of each request of a batch, where they differ; guards look at them.',
    'tokens',
  ),
  phase: field(z.enum(['decode', 'prefill', 'autotune']).default('decode'), 'Phase', 'Phase of serving.'),
})

const check = z.strictObject({
  rows: field(
    z.union([z.enum(['auto', 'all', 'none']), count(1, 1 << 20)]).default('auto'),
    'Checked rows',
    'Query rows compared with an unsharded fp64 reference: a number a step, or auto (costs no more than the step).',
  ),
})

const capture = z.strictObject({
  steps: field(
    z.union([z.enum(['last', 'none']), z.array(count(0, 999_999)).max(64)]).default('last'),
    'Captured steps',
    'Steps whose tensors are kept.',
  ),
  layers: field(
    z.array(count(0, 511)).max(64).default([0]),
    'Captured layers',
    'Layers whose tensors are kept; the number behind the last computed layer is that of a draft.',
  ),
})

const fault = z.strictObject({
  fault: field(z.enum(FAULT_NAMES), 'Fault', 'What goes wrong.'),
  ranks: field(
    z
      .union([
        z.enum(['all']),
        z
          .array(count(0, MAX_DCP_SIZE - 1))
          .min(1)
          .max(MAX_DCP_SIZE),
      ])
      .default('all'),
    'Ranks',
    'Ranks on which it acts.',
  ),
  layers: field(
    z.array(count(0, 511)).min(1).max(512).optional(),
    'Layers',
    'Computed layers in which it acts. Default: all.',
  ),
  branch: field(
    z.enum(BRANCHES).optional(),
    'Branch',
    'Branch of the metadata, and so the model, on which it acts: decode or target_verify, whichever the query length takes, or draft_extend, that of the draft. Default: that of the model.',
  ),
  steps: field(
    z.array(count(0, 999_999)).min(1).max(4096).optional(),
    'Steps',
    'Traced steps in which it acts; warm-up counts as the first. Default: all.',
  ),
  params: field(
    z.record(z.string().max(64), z.unknown()).optional(),
    'Parameters',
    'What the fault takes besides, by name.',
  ),
})

/** Shape and ranges only; `parseRunConfig` (parse.ts) adds presets and the rules between fields. */
export const runConfigSchema = z.strictObject({
  model: field(model.prefault({}), 'Model', 'Shape of the attention.'),
  parallel: field(parallel.prefault({}), 'Parallelism', 'How heads and cache are divided.'),
  cache: field(cache.prefault({}), 'KV cache', 'Pages and their type.'),
  workload: field(workload.prefault({}), 'Workload', 'Requests and steps.'),
  engine: field(engine.prefault({}), 'Engine', 'Device and kernel semantics.'),
  serving: field(serving.prefault({}), 'Serving', 'Back-end that is modelled.'),
  check: field(check.prefault({}), 'Check', 'Comparison with the reference.'),
  capture: field(capture.prefault({}), 'Capture', 'Tensors that are kept.'),
  faults: field(z.array(fault).max(64).default([]), 'Faults', 'Faults that are injected.'),
})

export type RunConfig = z.output<typeof runConfigSchema>
export type RunConfigInput = z.input<typeof runConfigSchema>
