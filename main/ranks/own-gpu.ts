import type { Assignment } from '../../app/protocol/ranks.ts'
import { deviceOf } from '../../app/run/engine-config.ts'
import { gpuIndex, usableGpus } from '../../app/run/gpus.ts'
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
