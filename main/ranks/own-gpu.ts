import type { Assignment } from '../../app/protocol/ranks.ts'
import { deviceOf, engineConfig } from '../../app/run/engine-config.ts'
import { gpuIndex, type RankGpu, ranksByGpu, usableGpus } from '../../app/run/gpus.ts'
import type { CudaInfo } from '../../app/run/machine.ts'
import type { NativeAddon } from '../engine/addon.ts'
import { GroupProblem } from './problem.ts'

/** The GPU that computes a rank, and all that its process sees. */
export interface OwnGpu {
  readonly index: number
  readonly cuda: CudaInfo
}

/** Undefined for a rank on the CPU. Throws a GroupProblem where a GPU is asked for and none can be used. */
export const ownGpu = (
  { cuda }: Pick<NativeAddon, 'cuda'>,
  { rank, localRank, config }: Pick<Assignment, 'rank' | 'localRank' | 'config'>,
): OwnGpu | undefined => {
  if (config.engine.device === 'cpu') return undefined
  const info = cuda()
  const gpus = usableGpus(info)
  if (deviceOf(config, gpus) === 'cpu') return undefined
  if (gpus === 0) throw new GroupProblem('ERR_ENGINE', info.reason ?? 'the engine can use no GPU here')
  return { index: gpuIndex(rank, localRank, gpus), cuda: info }
}

/** What a process takes of a GPU besides what its run allocates: context, code, the libraries it loads. */
const PROCESS_BYTES = 768 * 2 ** 20

/**
 * Ranks that have a GPU for themselves find by themselves whether it has memory for them; of ranks that share one each
 * would count on all of it. `predictMemory` gives what one rank takes.
 */
export const memoryProblem = (
  { predictMemory }: Pick<NativeAddon, 'predictMemory'>,
  config: Assignment['config'],
  gpus: readonly RankGpu[],
): string | undefined => {
  const shared = [...ranksByGpu(gpus).values()].filter((ranks) => ranks.length > 1)
  if (shared.length === 0) return undefined
  const components = predictMemory(engineConfig(config, 'cuda')).filter(({ place }) => place === 'device')
  const each = components.reduce((sum, { bytes }) => sum + bytes, PROCESS_BYTES)
  for (const ranks of shared) {
    const own = ranks.flatMap((rank) => gpus[rank] ?? [])
    const free = Math.min(...own.map(({ freeBytes }) => freeBytes))
    if (each * ranks.length > free)
      return (
        `${ranks.length} ranks share the GPU ${own[0]?.name} and need ${gib(each)} of its memory each, ` +
        `available ${gib(free)}; use fewer ranks or less context`
      )
  }
  return undefined
}

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`
