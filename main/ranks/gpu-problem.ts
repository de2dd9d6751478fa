import type { Hello } from '../../app/protocol/ranks.ts'
import type { RunConfig } from '../../app/run/config.ts'
import { engineConfig } from '../../app/run/engine-config.ts'
import {
  gpuIndex,
  ncclProblem,
  placementProblem,
  type RankGpu,
  rankGpu,
  ranksByGpu,
  usesNccl,
} from '../../app/run/gpus.ts'
import type { CudaInfo } from '../../app/run/machine.ts'
import type { NativeAddon } from '../engine/addon.ts'
import { GroupProblem } from './problem.ts'

type Engine = Pick<NativeAddon, 'predictMemory'>

/** Why ranks cannot run on these GPUs together, by rank; `cuda` is what the leader sees of the machine. */
export const gpuProblem = (
  engine: Engine,
  config: RunConfig,
  cuda: CudaInfo,
  gpus: readonly RankGpu[],
): GroupProblem | undefined => {
  const missing = ncclProblem(config, cuda)
  if (missing !== undefined) return new GroupProblem('ERR_ENGINE', missing)
  const placement = placementProblem(config, gpus)
  if (placement !== undefined) return new GroupProblem('ERR_CONFIG', placement)
  const memory = memoryProblem(engine, config, gpus)
  return memory === undefined ? undefined : new GroupProblem('ERR_MEMORY', memory)
}

/** Why ranks of several machines cannot exchange as configured; undefined when they can, or are on one. */
export const apartProblem = (config: RunConfig, all: readonly Hello[]): GroupProblem | undefined => {
  const [first] = all
  const other = all.find(({ system }) => system !== first?.system)
  if (other?.gpu === undefined || usesNccl(config)) return undefined
  return new GroupProblem(
    'ERR_CONFIG',
    `parallel.comm: ${config.parallel.comm} reads the memory of other ranks' GPUs, and rank ${other.rank} (${other.host}) is on ` +
      `another machine than rank 0 (${first?.host}), or sees another /dev/shm; use ag_rs or a2a`,
  )
}

/** GPUs of all ranks that the leader starts itself, by rank: they see what it sees. */
export const gpusOfAll = (config: RunConfig, { devices }: CudaInfo): readonly RankGpu[] =>
  Array.from({ length: config.parallel.dcpSize }, (_, rank) =>
    rankGpu(devices, gpuIndex(rank, undefined, devices.length)),
  ).flatMap((gpu) => gpu ?? [])

/** What a process takes of a GPU besides what its run allocates: context, code, the libraries it loads. */
const PROCESS_BYTES = 768 * 2 ** 20

/**
 * Ranks that have a GPU for themselves find by themselves whether it has memory for them; of ranks that share one each
 * would count on all of it. `predictMemory` gives what one rank takes.
 */
const memoryProblem = (
  { predictMemory }: Engine,
  config: RunConfig,
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
