/**
 * What others have published on decode context parallelism, to be laid over the points of a sweep. Figures as their sources
 * give them; what a source does not say is null. None of this was measured here, and none of it enters a summary.
 */

export const METRICS = [
  /** Rate with DCP over that without, same GPUs. */
  'gain',
  /** Smallest concurrency that was tried at which DCP is ahead. */
  'pays_from_concurrency',
  'output_tokens_per_s',
  'total_tokens_per_s',
  'output_tokens_per_s_per_gpu',
  'requests_per_s',
  /** Time per output token. */
  'tpot_ms',
] as const
export type Metric = (typeof METRICS)[number]

export interface PublishedPoint {
  readonly provenance: 'published'
  /** Address of the pull request, issue or page. */
  readonly source: string
  readonly model: string | null
  readonly gpu: string | null
  /** Ranks of the TP group. */
  readonly world: number | null
  /** 1: without DCP. */
  readonly dcp: number
  readonly comm: 'ag_rs' | 'a2a' | null
  readonly kvDtype: string | null
  /** Tokens, of the prompt where the source counts prompts. */
  readonly context: number | null
  readonly concurrency: number | null
  readonly metric: Metric
  readonly value: number
  readonly note?: string
}

type Setup = Pick<PublishedPoint, 'source'> &
  Partial<Pick<PublishedPoint, 'model' | 'gpu' | 'world' | 'comm' | 'kvDtype' | 'note'>>

type Figure = readonly [context: number | null, concurrency: number | null, value: number, note?: string]

const K = 1024

const github = (repository: string, number: number): string =>
  `https://github.com/${repository}/issues/${number}`
const sglang = (number: number): string => github('sgl-project/sglang', number)
const vllm = (number: number): string => github('vllm-project/vllm', number)

const points = (setup: Setup, dcp: number, metric: Metric, figures: readonly Figure[]): PublishedPoint[] =>
  figures.map(([context, concurrency, value, note = setup.note]) => ({
    provenance: 'published',
    source: setup.source,
    model: setup.model ?? null,
    gpu: setup.gpu ?? null,
    world: setup.world ?? null,
    dcp,
    comm: setup.comm ?? null,
    kvDtype: setup.kvDtype ?? null,
    context,
    concurrency,
    metric,
    value,
    ...(note === undefined ? {} : { note }),
  }))

const trtllmMla: Setup = { source: sglang(33926), comm: 'ag_rs' }
const h200Lite = { source: sglang(30444), model: 'DeepSeek-V2-Lite', gpu: 'H200', world: 2 }
const k3OnGb200: Setup = {
  source: sglang(32592),
  model: 'Kimi-K3',
  gpu: 'GB200',
  world: 16,
  note: 'decode role of a disaggregated deployment',
}
const v31: Setup = { source: github('antgroup/sglang', 19), model: 'DeepSeek-V3.1', world: 8 }
const glm: Setup = {
  source: sglang(39330),
  model: 'GLM-5.3-W4AFP8',
  gpu: 'H100',
  world: 8,
  note: 'requests per second; the context is the median of the prompts',
}
const k3: Setup = { source: vllm(50055), model: 'Kimi-K3', world: 8 }
const r1: Setup = { source: vllm(25049), model: 'DeepSeek-R1', world: 8 }
const k25: Setup = {
  source: vllm(47915),
  model: 'Kimi-K2.5-NVFP4',
  world: 4,
  note: 'GSM8K, short contexts',
}
const atom: Setup = { source: github('ROCm/ATOM', 847), world: 8 }
const k2OnH20: Setup = { source: sglang(14194), model: 'Kimi-K2-Instruct-0905', gpu: 'H20-3e', world: 8 }

const H200_LITE_SHAPES = [
  [32 * K, 1],
  [32 * K, 4],
  [32 * K, 8],
  [128 * K, 1],
  [128 * K, 8],
] as const

const h200LiteRates = (note: string, kvDtype: string, rates: readonly number[]): PublishedPoint[] =>
  points(
    { ...h200Lite, kvDtype, note },
    2,
    'output_tokens_per_s',
    H200_LITE_SHAPES.map(([context, batch], i): Figure => [context, batch, rates[i] ?? Number.NaN]),
  )

export const PUBLISHED: readonly PublishedPoint[] = [
  ...points(trtllmMla, 8, 'gain', [
    [32 * K, 64, 1.57],
    [64 * K, 64, 1.57],
    [128 * K, 64, 1.68],
    [256 * K, 64, 1.52],
  ]),
  ...points(trtllmMla, 8, 'pays_from_concurrency', [
    [32 * K, 16, 16, 'not yet at 8'],
    [64 * K, 8, 8, 'not yet at 4'],
    [128 * K, 4, 4, 'not yet at 2'],
    [256 * K, 1, 1],
  ]),
  ...points({ ...trtllmMla, comm: null }, 1, 'output_tokens_per_s', [
    [128 * K, 16, 648],
    [128 * K, 32, 681],
    [128 * K, 64, 673],
    [256 * K, 16, 286, 'about, and no more at higher concurrency'],
  ]),
  ...points({ source: sglang(29736), model: 'Qwen3.5-397B', gpu: 'GB300', world: 16 }, 4, 'gain', [
    [null, 1024, 1.4, 'about'],
  ]),
  ...points({ source: sglang(33364), model: 'Kimi-K2.5', gpu: 'H20', world: 8 }, 8, 'gain', [
    [null, 64, 1.076, '1.076 to 1.103, exchange over symmetric memory; dcp size not stated'],
  ]),
  ...points(k3OnGb200, 1, 'output_tokens_per_s_per_gpu', [
    [null, 8, 9.5],
    [null, 256, 87.4],
    [null, 512, 90.2],
  ]),
  ...points(k3OnGb200, 16, 'output_tokens_per_s_per_gpu', [
    [null, 8, 9.3],
    [null, 64, 52.4],
    [null, 128, 84.5],
    [null, 256, 126.1],
    [null, 512, 144.2],
  ]),
  ...points(k2OnH20, 1, 'requests_per_s', [[null, null, 0.49, 'peak, with data parallel attention (DP8)']]),
  ...points(k2OnH20, 8, 'requests_per_s', [[null, null, 0.65, 'peak']]),
  ...points(v31, 1, 'output_tokens_per_s', [[4096, 24, 483.5]]),
  ...points(v31, 8, 'output_tokens_per_s', [[4096, 24, 467.5]]),
  ...points(v31, 1, 'tpot_ms', [[4096, 24, 43.84, 'median']]),
  ...points(v31, 8, 'tpot_ms', [[4096, 24, 33.98, 'median']]),
  ...points(v31, 8, 'gain', [
    [4096, 64, 1.638, 'requests per second, against 24 requests, the most without DCP'],
  ]),
  ...h200LiteRates('triton', 'bf16', [229.8, 532.6, 898.5, 146.7, 479.7]),
  ...h200LiteRates('triton', 'fp8', [227.3, 552.4, 898.5, 165.5, 491.6]),
  ...h200LiteRates('flashinfer', 'bf16', [365.5, 757.5, 1310.5, 192.0, 804.5]),
  ...points(glm, 8, 'gain', [
    [103_000, 8, 1.48],
    [103_000, 16, 1.42],
    [103_000, 32, 1.19],
  ]),
  ...points({ source: sglang(34355), gpu: 'XPU', note: 'a model of 9B' }, 2, 'gain', [
    [4 * K, null, 0.53],
    [32 * K, null, 0.77],
  ]),
  ...points(k3, 1, 'tpot_ms', [
    [120_000, 1, 13.81, 'median'],
    [120_000, 2, 16.19, 'median'],
  ]),
  ...points(k3, 8, 'tpot_ms', [
    [120_000, 1, 10.54, 'median'],
    [120_000, 2, 11.83, 'median'],
  ]),
  ...points(r1, 1, 'output_tokens_per_s', [[null, 4096, 2332]]),
  ...points(r1, 4, 'output_tokens_per_s', [[null, 4096, 2983]]),
  ...points(r1, 8, 'output_tokens_per_s', [[null, 4096, 3502]]),
  ...points(k25, 1, 'output_tokens_per_s', [[null, null, 1344]]),
  ...points({ ...k25, comm: 'a2a' }, 4, 'output_tokens_per_s', [[null, null, 958.6]]),
  ...points(atom, 1, 'total_tokens_per_s', [
    [1 * K, null, 3936.5, '1K output tokens'],
    [8 * K, null, 5962.2, '1K output tokens'],
    [8 * K, null, 1519.8, '8K output tokens'],
  ]),
  ...points(atom, 8, 'total_tokens_per_s', [
    [1 * K, null, 3082.3, '1K output tokens'],
    [8 * K, null, 6869.5, '1K output tokens'],
    [8 * K, null, 2556.3, '8K output tokens'],
  ]),
]
