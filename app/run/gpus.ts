import type { RunConfig } from './config.ts'
import type { CudaInfo, Gpu } from './machine.ts'

/** How ranks with processes of their own lie on the GPUs of a machine. */

/** GPUs that the engine can use, of those that this process sees. */
export const usableGpus = (cuda: CudaInfo | undefined): number =>
  cuda?.available === true ? cuda.devices.length : 0

/**
 * Index of the GPU that computes a rank, among `gpus` that its process sees. `localRank` is its number on its machine,
 * where a launcher says so.
 */
export const gpuIndex = (rank: number, localRank: number | undefined, gpus: number): number =>
  (localRank ?? rank) % gpus

/** What names a GPU whichever process sees it. */
export const gpuId = (gpu: Pick<Gpu, 'uuid'> | undefined, index: number): string =>
  gpu?.uuid ?? `GPU ${index}`

/** The GPU of a rank, as its process sees it. */
export interface RankGpu {
  readonly name: string
  /** See gpuId. */
  readonly id: string
  readonly freeBytes: number
  /** GPUs that the process sees, but whose memory this one cannot reach. */
  readonly unreachable: string[]
}

/** The GPU with this index, for a rank whose process sees `devices`. */
export const rankGpu = (devices: readonly Gpu[], index: number): RankGpu | undefined => {
  const gpu = devices[index]
  if (gpu === undefined) return undefined
  const { name, freeBytes, peers } = gpu
  const reached = new Set([index, ...(peers ?? devices.keys())])
  return {
    name,
    id: gpuId(gpu, index),
    freeBytes,
    unreachable: devices.flatMap((other, i) => (reached.has(i) ? [] : [gpuId(other, i)])),
  }
}

/** Whether ranks exchange through NCCL, which takes no two ranks on one GPU. */
export const usesNccl = ({ parallel }: RunConfig): boolean => parallel.dcpSize > 1 && parallel.comm !== 'p2p'

/** Ranks by the GPU that computes them. */
export const ranksByGpu = (gpus: readonly RankGpu[]): ReadonlyMap<string, readonly number[]> => {
  const ranks = new Map<string, number[]>()
  for (const [rank, { id }] of gpus.entries()) ranks.set(id, [...(ranks.get(id) ?? []), rank])
  return ranks
}

/** Whether some rank has no GPU of its own: CUDA gives the processes on a GPU turns, which their times contain. */
export const sharesGpus = (gpus: readonly RankGpu[]): boolean => ranksByGpu(gpus).size < gpus.length

/** Why ranks on these GPUs, by rank, cannot exchange as configured; undefined when they can. */
export const placementProblem = (config: RunConfig, gpus: readonly RankGpu[]): string | undefined => {
  const { comm } = config.parallel
  if (usesNccl(config)) return sharesGpus(gpus) ? `parallel.comm: ${ownGpus(comm, gpus)}` : undefined
  const apart = unreachablePair(gpus)
  if (apart === undefined) return undefined
  const [a, b] = apart.map((rank) => `${gpus[rank]?.name} (${gpus[rank]?.id}) of rank ${rank}`)
  return `parallel.comm: p2p needs GPUs that reach each other's memory, and ${a} does not reach ${b}; use ag_rs or a2a`
}

const ownGpus = (comm: string, gpus: readonly RankGpu[]): string =>
  `${comm} goes through NCCL, which needs a GPU for each rank: ${countText(gpus.length, 'rank')}, ` +
  `${countText(ranksByGpu(gpus).size, 'GPU')}; use p2p or fewer ranks`

const countText = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`

/** Two ranks of which the first cannot read what the second has. */
const unreachablePair = (gpus: readonly RankGpu[]): readonly [number, number] | undefined => {
  for (const [rank, { unreachable }] of gpus.entries()) {
    const other = gpus.findIndex(({ id }) => unreachable.includes(id))
    if (other >= 0) return [rank, other]
  }
  return undefined
}

/** Why NCCL cannot carry the exchange of a run; undefined when it can, or is not asked to. */
export const ncclProblem = (config: RunConfig, cuda: CudaInfo): string | undefined =>
  usesNccl(config) && cuda.nccl?.available === false
    ? `parallel.comm: ${config.parallel.comm} needs NCCL, which cannot be used: ${cuda.nccl.reason ?? 'it was not found'}; or use p2p`
    : undefined
