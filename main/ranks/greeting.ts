import { readFileSync, statSync } from 'node:fs'
import { cpus, hostname } from 'node:os'
import { type Assignment, type Hello, PRODUCT } from '../../app/protocol/ranks.ts'
import { type RankGpu, rankGpu, usesNccl } from '../../app/run/gpus.ts'
import type { NativeAddon } from '../engine/addon.ts'
import { VERSION } from '../process/version.ts'
import type { OwnGpu } from './own-gpu.ts'

type Engine = Pick<NativeAddon, 'version' | 'cpu'>

/** What a rank says of itself and its machine; `on` is the GPU that computes it, none on the CPU. */
export const helloOf = (addon: Engine, assignment: Assignment, on: OwnGpu | undefined): Hello => {
  const { rank, world, localRank, token, config } = assignment
  const gpu = on === undefined ? undefined : rankGpu(on.cuda.devices, on.index)
  return {
    type: 'hello',
    product: PRODUCT,
    token,
    rank,
    world,
    ...(localRank === undefined ? {} : { localRank }),
    host: hostname(),
    system: systemId(),
    pid: process.pid,
    versions: versionsOf(addon),
    device: gpu === undefined ? cpuText(addon) : gpuText(gpu),
    ...(gpu === undefined || on === undefined ? {} : { gpu: { ...gpu, versions: gpuVersions(config, on) } }),
    config,
  }
}

const cpuText = ({ cpu }: Pick<Engine, 'cpu'>): string => `${cpus()[0]?.model.trim() || 'CPU'}, ${cpu().simd}`

const gpuText = ({ name, id }: RankGpu): string => `${name}, ${id}`

/** Versions that must be the same on all ranks; messages of one major version of Node are read by the same. */
export const versionsOf = ({ version }: Pick<NativeAddon, 'version'>): Record<string, string> => ({
  dcpscope: VERSION,
  engine: version,
  node: process.versions.node.split('.')[0] ?? '',
})

/** Versions of what ranks on GPUs meet by: memory that they hand each other, or NCCL. */
const gpuVersions = (
  config: Assignment['config'],
  { index, cuda: { devices, nccl } }: OwnGpu,
): Record<string, string> => {
  const driver = devices[index]?.driverVersion
  return {
    ...(driver === undefined ? {} : { 'CUDA driver': driver }),
    ...(usesNccl(config) && nccl?.version !== undefined ? { NCCL: nccl.version } : {}),
  }
}

/**
 * Names the running system and the shared memory that one sees in it: containers may have their own. Where the system
 * has no such name, its host's.
 */
const systemId = (): string => {
  try {
    const booted = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${booted} ${statSync('/dev/shm').dev}`
  } catch {
    return hostname()
  }
}

/** What keeps a rank from joining one that said `first`; undefined when nothing does. */
export const mismatch = (first: Hello, other: Hello): string | undefined => {
  const who = `rank ${other.rank} (${other.host}, process ${other.pid})`
  const versions = versionDifference(first.versions, other.versions)
  if (versions !== undefined) return `${who} has another version: ${versions} on rank ${first.rank}`
  const difference = firstDifference(first.config, other.config, '')
  if (difference !== undefined)
    return `${who} has another configuration: ${difference.path} is ${shown(difference.other)} there and ${shown(difference.first)} on rank ${first.rank}`
  if ((other.gpu === undefined) !== (first.gpu === undefined))
    return `${who} computes on ${other.device}, rank ${first.rank} on ${first.device}: name one kind of device in engine.device`
  const gpus = versionDifference(first.gpu?.versions ?? {}, other.gpu?.versions ?? {})
  return gpus === undefined ? undefined : `${who} has another version: ${gpus} on rank ${first.rank}`
}

/** Whether some ranks share no memory with the first one, so that all meet over the network. */
export const areApart = (all: readonly Hello[]): boolean =>
  all.some(({ system }) => system !== all[0]?.system)

type Versions = Hello['versions']

/** `engine 3 there, 2`; undefined where all are the same. */
const versionDifference = (first: Versions, other: Versions): string | undefined => {
  const found = Object.entries(first).find(([name, version]) => other[name] !== version)
  if (found === undefined) return undefined
  const [name, version] = found
  return `${name} ${other[name] ?? 'unknown'} there, ${version}`
}

interface Difference {
  readonly path: string
  readonly first: unknown
  readonly other: unknown
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const firstDifference = (first: unknown, other: unknown, path: string): Difference | undefined => {
  if (!isRecord(first) || !isRecord(other)) return first === other ? undefined : { path, first, other }
  for (const key of new Set([...Object.keys(first), ...Object.keys(other)])) {
    const within = Array.isArray(first) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
    const found = firstDifference(first[key], other[key], within)
    if (found !== undefined) return found
  }
  return undefined
}

const shown = (value: unknown): string => {
  if (value === undefined) return 'not given'
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
