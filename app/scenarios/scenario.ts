import type { FaultName } from '../faults/names.ts'
import type { RunConfig, RunConfigInput } from '../run/config.ts'
import { cpuOnly } from '../run/engine-config.ts'
import { issueText, merged, parseRunConfig } from '../run/parse.ts'

/** A known failure on a small configuration: it runs broken, with its faults, and fixed, without them. */
export interface Scenario {
  /** The identifier of its fault, with a variant behind it where there are several. */
  readonly name: string
  readonly title: string
  readonly fault: FaultName
  /** What happens and why, in a few sentences. */
  readonly explanation: string
  /** Where it was seen: owner/repository#number. */
  readonly source: string
  /** Over `SMALL`; without faults. */
  readonly config: RunConfigInput
  readonly faults: NonNullable<RunConfigInput['faults']>
  /** Tensors of a captured step that differ between broken and fixed, and no others; merged is NaN where `mergedNan`. */
  readonly shows: readonly string[]
  /** What a diagnosis of the broken run's captures finds first; null where it finds nothing wrong, only something to know. */
  readonly diagnosis: FaultName | null
  /** Whether the check of the broken run passes all the same. */
  readonly harmless?: true
  /** Its faults act on the draft, whose layer is captured: the check passes, and fewer of its tokens are accepted. */
  readonly onDraft?: true
}

/** Four ranks, four requests of very different lengths: it runs within a second on a CPU. */
export const SMALL: RunConfigInput = {
  model: { heads: 8, kvLoraRank: 64, ropeDim: 16, layers: 1 },
  parallel: { tpSize: 4, dcpSize: 4 },
  cache: { pageSize: 32 },
  workload: {
    requests: [{ contextLen: 300 }, { contextLen: 37 }, { contextLen: 1 }, { contextLen: 150 }],
    steps: 4,
    warmup: 1,
    data: 'needles',
  },
  engine: { device: 'auto' },
  check: { rows: 'all' },
  capture: { steps: 'last', layers: [0] },
}

/** Sparse attention over fp8_ds_mla, as sparse FlashMLA has it. */
export const SPARSE: RunConfigInput = {
  model: { heads: 64, kvLoraRank: 512, ropeDim: 64, layers: 1 },
  cache: { pageSize: 64, kvDtype: 'fp8_ds_mla' },
  workload: {
    requests: [{ contextLen: 900 }, { contextLen: 300 }, { contextLen: 1 }],
    steps: 2,
    topk: 64,
  },
}

/**
 * Both configurations of a scenario, as a run takes them. What only the CPU computes of the broken one goes for both: a GPU
 * would compute the fixed one by another kernel.
 */
export const scenarioConfigs = ({
  name,
  config,
  faults,
}: Scenario): { broken: RunConfig; fixed: RunConfig } => {
  const broken = parsed(name, { ...config, faults })
  const fixed = parsed(name, config)
  return cpuOnly(broken).length > 0 ? { broken: onCpu(broken), fixed: onCpu(fixed) } : { broken, fixed }
}

const onCpu = (config: RunConfig): RunConfig => ({ ...config, engine: { ...config.engine, device: 'cpu' } })

const parsed = (name: string, config: RunConfigInput): RunConfig => {
  const result = parseRunConfig(merged(SMALL, config))
  if (!result.ok) throw new Error(`scenario ${name}: ${result.issues.map(issueText).join('; ')}`)
  return result.config
}
