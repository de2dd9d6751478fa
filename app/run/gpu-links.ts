import type { CudaInfo, NcclInfo } from './machine.ts'

/** What ranks with a GPU each can exchange by. GPUs are numbered as the engine numbers them. */
export interface GpuLinks {
  /** By GPU, those whose memory it can reach; none of a machine with one GPU. */
  readonly peers: readonly (readonly number[])[]
  /** By GPU, its NVLink links that are up; null where the driver does not tell. */
  readonly nvLinks: readonly (number | null)[]
  readonly nccl: NcclInfo
}

/** Undefined where the engine can use no GPU, or does not say. */
export const gpuLinks = (cuda: CudaInfo | undefined): GpuLinks | undefined => {
  if (cuda?.available !== true || cuda.nccl === undefined) return undefined
  const peers = cuda.devices.length > 1 ? cuda.devices.map((gpu) => gpu.peers ?? []) : []
  return { peers, nvLinks: cuda.devices.map((gpu) => gpu.nvLinks ?? null), nccl: cuda.nccl }
}

/** Lines for a person, named like those of `doctor`. */
export const linksText = ({ peers, nvLinks, nccl }: GpuLinks): string[] => [
  `NCCL         ${nccl.available ? `yes, ${nccl.version ?? 'of unknown version'}` : `no, ${nccl.reason ?? 'it was not found'}`}`,
  ...(peers.length === 0 ? [] : [`Peer access  ${peersText(peers)}`]),
  ...(nvLinks.every((links) => links === null) ? [] : [`NVLink       ${nvLinksText(nvLinks)}`]),
]

/** Links of one GPU that are up, or of all in turn where they differ. */
export const nvLinksText = (nvLinks: GpuLinks['nvLinks']): string => {
  const [first] = nvLinks
  const same = nvLinks.every((links) => links === first)
  if (same) return `${linkCount(first)}${nvLinks.length === 1 ? '' : ` on each of ${nvLinks.length} GPUs`}`
  return nvLinks.map((links, gpu) => `GPU ${gpu}: ${linkCount(links)}`).join('; ')
}

const linkCount = (links: number | null | undefined): string =>
  links == null ? 'not known' : links === 0 ? 'no link' : `${links} link${links === 1 ? '' : 's'} up`

/** Which GPUs reach which others' memory, in words. */
export const peersText = (peers: GpuLinks['peers']): string => {
  const others = peers.length - 1
  if (peers.every((reached) => reached.length === others))
    return `all ${peers.length} GPUs reach each other's memory`
  if (peers.every((reached) => reached.length === 0))
    return `none of the ${peers.length} GPUs reaches another's memory`
  return peers.map((reached, gpu) => `GPU ${gpu} reaches ${listText(reached)}`).join('; ')
}

const listText = (numbers: readonly number[]): string => {
  if (numbers.length < 2) return numbers.join('') || 'none'
  return `${numbers.slice(0, -1).join(', ')} and ${numbers.at(-1)}`
}

/** What ranks on several GPUs would miss, one sentence each. */
export const missingLinks = ({ peers, nccl }: GpuLinks): string[] =>
  peers.length === 0 || nccl.available
    ? []
    : [`NCCL, for ag_rs and a2a between ranks with a GPU each: ${nccl.reason ?? 'it was not found'}`]
