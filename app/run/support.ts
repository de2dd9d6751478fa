import { refusals } from '../backends/check.ts'
import { engineGaps } from '../backends/gaps.ts'
import { profileNamed } from '../backends/index.ts'
import { faultNamed } from '../faults/index.ts'
import { hasDraft } from './branch.ts'
import type { RunConfig } from './config.ts'
import { cpuOnly, deviceOf, recordsKernels } from './engine-config.ts'
import { usableGpus } from './gpus.ts'
import type { CudaInfo } from './machine.ts'
import type { ConfigIssue } from './parse.ts'

/**
 * What the configuration can say but this version's engine, or this machine, cannot do, by name. Kept apart from the schema:
 * files stay valid when an engine learns more. Without `cuda` (what the engine said of GPUs here) a GPU that is asked for is
 * taken for one that can be used.
 */
export const engineIssues = (config: RunConfig, cuda?: CudaInfo): ConfigIssue[] => {
  const { model, cache, workload, serving, faults } = config
  const issues: ConfigIssue[] = []
  const refuse = (given: boolean, path: string, what: string, instead?: string): void => {
    const message = `${what} is not supported by this version's engine`
    if (given) issues.push({ path, message: instead === undefined ? message : `${message}; ${instead}` })
  }
  const grouped = model.kvHeads !== undefined
  refuse(grouped && cache.kvDtype === 'fp8_ds_mla', 'cache.kvDtype', 'fp8_ds_mla with KV heads')
  refuse(grouped && workload.topk !== undefined, 'workload.topk', 'sparse attention with KV heads')
  issues.push(...deviceIssues(config, cuda))
  const { framework, kernels } = profileNamed(serving.backend)
  for (const { path, what, instead } of engineGaps(config)) refuse(true, path, what, instead)
  refuse(serving.kernel !== undefined && serving.kernel !== kernels[0], 'serving.kernel', 'a back-end kernel')
  refuse(framework === 'dcpscope' && serving.versions !== undefined, 'serving.versions', 'a back-end version')
  refuse(
    hasDraft(config) && workload.qLen === 1,
    'workload.qLen',
    'a draft whose tokens nobody verifies',
    'set workload.qLen above 1, or leave serving.draft out',
  )
  refuse(serving.causal === false, 'serving.causal', 'non-causal attention')
  refuse(serving.causalBound === 'local' && workload.qLen > 1, 'serving.causalBound', 'a local causal bound')
  refuse(!serving.returnLse, 'serving.returnLse', 'a kernel that is not asked for the lse')
  refuse(serving.queryLens !== undefined, 'serving.queryLens', 'a batch of uneven query lengths')
  refuse(serving.phase !== 'decode', 'serving.phase', `the ${serving.phase} phase`)
  faults.forEach(({ fault }, i) => {
    refuse(faultNamed(fault).injection === undefined, `faults[${i}].fault`, `injecting ${fault}`)
  })
  return issues
}

/** Everything that keeps a configuration from running: what its serving engine refuses, and what the engine here cannot do. */
export const unsupported = (config: RunConfig, cuda?: CudaInfo): ConfigIssue[] => [
  ...refusals(config),
  ...engineIssues(config, cuda),
]

/** The same for a run that a window starts. */
export const unsupportedInWindow = (config: RunConfig, cuda?: CudaInfo): ConfigIssue[] =>
  config.engine.ranks === 'processes'
    ? [...unsupported(config, cuda), { path: 'engine.ranks', message: COMMAND_LINE_ONLY }]
    : unsupported(config, cuda)

const COMMAND_LINE_ONLY = 'processes can be run from the command line only'

/** What depends on the device: GPUs keep no fp32 caches and cannot do all that the CPU does, and only they replay graphs and measure what tracing costs. */
const deviceIssues = (config: RunConfig, cuda: CudaInfo | undefined): ConfigIssue[] => {
  const { engine } = config
  const issues: ConfigIssue[] = []
  const asked = engine.device === 'cuda'
  if (asked && cuda?.available === false)
    issues.push({
      path: 'engine.device',
      message: `cuda cannot be used on this machine: ${cuda.reason ?? 'there is no GPU'}`,
    })
  if (asked) issues.push(...cpuOnly(config))
  const gpus = cuda === undefined ? Number.POSITIVE_INFINITY : usableGpus(cuda)
  if (engine.graph && deviceOf(config, gpus) === 'cpu')
    issues.push({ path: 'engine.graph', message: 'needs a GPU, and this run would use the CPU' })
  if (recordsKernels(config) && deviceOf(config, gpus) === 'cpu')
    issues.push({ path: 'engine.kernelTrace', message: 'needs a GPU, and this run would use the CPU' })
  if (engine.observer && deviceOf(config, gpus) === 'cpu')
    issues.push({ path: 'engine.observer', message: 'needs a GPU, and this run would use the CPU' })
  return issues
}
