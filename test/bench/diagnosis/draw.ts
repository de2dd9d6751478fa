import { FAULTS, faultNamed } from '../../../app/faults/index.ts'
import type { FaultName } from '../../../app/faults/names.ts'
import type { RunConfig, RunConfigInput } from '../../../app/run/config.ts'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { unsupported } from '../../../app/run/support.ts'
import type { NativeCapture } from '../../../main/engine/addon.ts'
import { type Random, seeded } from './random.ts'

/** A case: what runs, the fault in it (undefined: none), and what the dump of it lacks. */
export interface Drawn {
  readonly seed: number
  readonly config: RunConfig
  readonly fault: FaultName | undefined
  readonly keeps: (capture: NativeCapture, tensor: string) => boolean
  readonly withheld: readonly string[]
  readonly metadata: Readonly<Record<string, undefined>>
}

/** Faults that the engine can inject. */
export const INJECTABLE: readonly FaultName[] = FAULTS.filter(({ injection }) => injection !== undefined).map(
  ({ name }) => name,
)

/** Multiply-adds of attention that one run may take, so that thousands of them fit the time of the benchmark. */
const MOST_WORK = 4e8
const TRIES = 2000

const WITHHELD = [
  'q',
  'out',
  'lse',
  'out_kernel',
  'lse_kernel',
  'merged',
  'seq_lens_global',
  'seq_lens_local',
  'block_table',
  'kv',
  'kv_k',
  'slot_mapping',
  'topk',
  'topk_local',
  'topk_slots',
]

/** Draws a case; with `fault` a configuration that the fault can act in. Throws RangeError where there is none. */
export const draw = (seed: number, fault: FaultName | undefined): Drawn => {
  const random = seeded(seed)
  for (let i = 0; i < TRIES; i++) {
    const input = drawConfig(random, fault)
    const parsed = parseRunConfig(input)
    if (!parsed.ok || unsupported(parsed.config).length > 0 || workOf(parsed.config) > MOST_WORK) continue
    return { seed, config: parsed.config, fault, ...withholding(random) }
  }
  throw new RangeError(`no configuration was found for ${fault ?? 'a healthy run'}, seed ${seed}`)
}

const workOf = ({ model, parallel, workload }: RunConfig): number => {
  const heads = (model.heads * parallel.dcpSize) / parallel.tpSize
  const tokens = workload.requests.reduce((sum, { contextLen, count }) => sum + (contextLen + 1) * count, 0)
  const width = model.headDim === undefined ? 2 * model.kvLoraRank + model.ropeDim : 2 * model.headDim
  return tokens * heads * width * workload.qLen * workload.steps
}

/** Faults of batches that a graph pads. */
export const PADDED: readonly FaultName[] = ['stale-graph-metadata', 'pad-row-garbage', 'merged-empty-nan']

const drawConfig = (random: Random, fault: FaultName | undefined): RunConfigInput => {
  const c = random.pick(fault === 'split-counter-undersized' ? [2, 3, 4] : [2, 2, 3, 4, 4, 6, 8, 8, 12, 16])
  const heads = c * random.logWhole(1, Math.floor(128 / c))
  const page = random.pick([16, 32, 64])
  const kvDtype = random.pick(['fp32', 'bf16', 'fp8', 'fp8_ds_mla'] as const)
  const [kvLoraRank, ropeDim] =
    kvDtype === 'fp8_ds_mla'
      ? [512, 64]
      : random.pick([
          [64, 16],
          [128, 32],
          [256, 64],
          [512, 64],
        ] as const)
  const grouped = kvDtype !== 'fp8_ds_mla' && random.chance(fault === 'gqa-head-map-local' ? 1 : 0.15)
  const qLen = random.chance(fault === 'causal-end-aligned' ? 0 : 0.5) ? 1 : random.whole(2, 8)
  // Keys are split from 1,025 a rank on, of which few requests have as many.
  const long = fault === 'split-counter-undersized'
  const requests = Array.from({ length: random.logWhole(1, long ? 3 : 64) }, () => ({
    contextLen: random.logWhole(long ? 2500 : 1, 5000) - 1,
  }))
  const steps = random.whole(1, 3)
  const sparse = random.chance(fault?.startsWith('topk') === true ? 1 : 0.2)
  return {
    model: grouped
      ? { heads, kvHeads: random.pick([1, 2, 4, 8, heads]), headDim: random.pick([32, 64, 128]), layers: 1 }
      : { heads, kvLoraRank, ropeDim, layers: 1 },
    parallel: {
      tpSize: c,
      dcpSize: c,
      interleave: random.pick([1, 1, 1, 2, 4, 8, 16, 32, 64].filter((interleave) => page % interleave === 0)),
      comm: random.pick(['ag_rs', 'a2a', 'p2p'] as const),
      wireDtype: random.chance(0.2) ? 'fp32' : 'out',
    },
    cache: { pageSize: page, kvDtype, allocation: random.pick(['sequential', 'shuffled'] as const) },
    workload: {
      requests,
      qLen,
      steps,
      warmup: 0,
      seed: random.whole(0, 2 ** 31),
      data: random.chance(0.3) ? 'needles' : 'normal',
      ...(sparse ? { topk: random.logWhole(8, 256) } : {}),
    },
    engine: {
      device: 'cpu',
      lseBase: random.pick(['e', '2'] as const),
      emptyRow: random.pick(['neutral', 'unwritten', 'plusInf', 'nan'] as const),
      lseLayout: random.pick(['[T,H]', '[T,H]', '[B,H,q]', '[H,T]'] as const),
      ...(random.chance(fault === 'lse-head-misaligned' ? 1 : 0.1)
        ? { paddedHeads: random.pick([16, 32, 64, 128]) }
        : {}),
      rowStats: false,
      graphBatch: random.chance(0.2) || PADDED.some((one) => one === fault),
    },
    check: { rows: 'none' },
    capture: { steps: 'last', layers: [0] },
    faults:
      fault === undefined
        ? []
        : [
            {
              fault,
              ranks: random.chance(0.5) ? ('all' as const) : [random.whole(0, c - 1)],
              params: drawParams(random, fault),
            },
          ],
  }
}

/** Parameters at random, where a fault has some. */
const PARAMS: Partial<Record<FaultName, (random: Random) => Record<string, unknown>>> = {
  'coverage-gap': (random) => ({ tokens: random.logWhole(1, 64) }),
  'causal-end-aligned': (random) => ({ rows: random.pick(['hides', 'shows']) }),
  'interleave-mismatch': (random) => ({
    of: random.pick(['lengths', 'cache']),
    interleave: 2 ** random.whole(0, 6),
  }),
  'length-views-swapped': (random) => ({ given: random.pick(['global', 'local']) }),
  'stale-graph-metadata': (random) => ({ stale: random.pick(['both', 'lengths', 'pages']) }),
  'table-width-mismatch': (random) => ({ rows: random.pick(['narrow', 'stretched']) }),
  'lse-dropped': (random) => ({ merge: random.pick(['mean', 'sum']) }),
  'head-order-permuted': (random) => ({ shift: random.whole(1, 15) }),
  'topk-sentinel-owned': (random) => ({ sentinel: random.pick(['indexed', 'counted']) }),
}

const drawParams = (random: Random, fault: FaultName): Record<string, unknown> => {
  if (faultNamed(fault).injection === undefined) return {}
  return PARAMS[fault]?.(random) ?? {}
}

const withholding = (random: Random): Pick<Drawn, 'keeps' | 'withheld' | 'metadata'> => {
  const share = random.pick([0, 0, 0.1, 0.3, 0.6])
  const withheld = WITHHELD.filter(() => random.chance(share))
  const ofRank = random.chance(0.1) ? random.whole(0, 1) : undefined
  const absent = random.chance(0.05) ? 1 : undefined
  return {
    withheld,
    metadata: random.chance(0.1) ? { lse_base: undefined } : {},
    keeps: ({ rank }, tensor) =>
      rank !== absent && (!withheld.includes(tensor) || (ofRank !== undefined && ofRank === rank)),
  }
}
