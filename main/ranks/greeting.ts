import { readFileSync } from 'node:fs'
import { cpus, hostname } from 'node:os'
import { type Assignment, type Hello, PRODUCT } from '../../app/protocol/ranks.ts'
import type { NativeAddon } from '../engine/addon.ts'
import { VERSION } from '../process/version.ts'

/** What a rank says of itself and its machine. */
export const helloOf = (addon: Pick<NativeAddon, 'version' | 'cpu'>, assignment: Assignment): Hello => {
  const { rank, world, localRank, token, config } = assignment
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
    device: `${cpus()[0]?.model.trim() || 'CPU'}, ${addon.cpu().simd}`,
    config,
  }
}

/** Versions that must be the same on all ranks; messages of one major version of Node are read by the same. */
export const versionsOf = ({ version }: Pick<NativeAddon, 'version'>): Record<string, string> => ({
  dcpscope: VERSION,
  engine: version,
  node: process.versions.node.split('.')[0] ?? '',
})

/** Names the running system, also from within containers; where it has no such name, its host's. */
const systemId = (): string => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return hostname()
  }
}

/** What keeps a rank from joining one that said `first`; undefined when nothing does. */
export const mismatch = (first: Hello, other: Hello): string | undefined => {
  const who = `rank ${other.rank} (${other.host}, process ${other.pid})`
  for (const [name, version] of Object.entries(first.versions))
    if (other.versions[name] !== version)
      return `${who} has another version: ${name} ${other.versions[name] ?? 'unknown'} there, ${version} on rank ${first.rank}`
  const difference = firstDifference(first.config, other.config, '')
  if (difference !== undefined)
    return `${who} has another configuration: ${difference.path} is ${shown(difference.other)} there and ${shown(difference.first)} on rank ${first.rank}`
  if (other.system !== first.system)
    return `${who} is on another machine than rank ${first.rank} (${first.host}): ranks on CPUs meet in shared memory`
  return undefined
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
