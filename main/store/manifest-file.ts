import { readFileSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs'
import { hostname, uptime } from 'node:os'
import { join } from 'node:path'
import { FORMAT_VERSION, type Manifest, manifestSchema } from '../../app/trace/manifest.ts'
import { MANIFEST_FILE, temporaryName } from './bundle-files.ts'
import { isMissing, StoreProblem } from './problem.ts'
import { upgraded } from './upgrade.ts'

/** Largest `run.json` that is read: a manifest of many requests takes kilobytes. */
const MAX_BYTES = 16 * 2 ** 20

/** Writes beside the place and renames, so that a reader sees the old or the new manifest and never half of one. */
export const writeManifest = (bundle: string, manifest: Manifest): void => {
  const temporary = join(bundle, temporaryName(MANIFEST_FILE))
  try {
    writeFileSync(temporary, `${JSON.stringify(manifest, null, 2)}\n`)
    renameSync(temporary, join(bundle, MANIFEST_FILE))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Reads and validates `run.json`. Throws StoreProblem with one sentence; the path stands last. */
export const readManifest = (bundle: string): Manifest => {
  const refuse = (what: string): never => {
    throw new StoreProblem(`${what}: ${bundle}`)
  }
  const text = manifestText(bundle)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return refuse('the bundle is damaged: its run.json is truncated or not JSON')
  }
  if (!isRecord(value) || value.format !== 'dcpscope-run')
    return refuse('not a dcpscope bundle: its run.json is of something else')
  const version = value.formatVersion
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
    return refuse('the bundle is damaged: its run.json has no format version')
  if (version > FORMAT_VERSION)
    return refuse(
      `the bundle has format version ${version}, this dcpscope reads up to version ${FORMAT_VERSION}; use a newer one`,
    )
  const parsed = manifestSchema.safeParse(upgraded(value, version, FORMAT_VERSION))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  return refuse(
    `the bundle is damaged: run.json, ${issue?.path.join('.') || 'top level'}: ${issue?.message ?? 'is not valid'}`,
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const manifestText = (bundle: string): string => {
  const file = join(bundle, MANIFEST_FILE)
  try {
    if (!statSync(bundle).isDirectory()) throw new StoreProblem(`not a bundle, but a file: ${bundle}`)
    const { size } = fileStats(file, bundle)
    if (size > MAX_BYTES)
      throw new StoreProblem(`not a dcpscope bundle: its run.json is too large: ${bundle}`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof StoreProblem) throw error
    if (!isMissing(error)) throw new StoreProblem(`the bundle cannot be read: ${textOf(error)}`)
    if (!exists(bundle)) throw new StoreProblem(`no such bundle: ${bundle}`)
    throw new StoreProblem(`not a dcpscope bundle: it has no run.json: ${bundle}`)
  }
}

/** A pipe would never end, and a folder has no text. */
const fileStats = (file: string, bundle: string): Stats => {
  const stats = statSync(file)
  if (!stats.isFile()) throw new StoreProblem(`not a dcpscope bundle: its run.json is not a file: ${bundle}`)
  return stats
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

/** Whether a folder holds anything that claims to be a bundle. */
export const hasManifest = (bundle: string): boolean => exists(join(bundle, MANIFEST_FILE))

export const ownWriter = (): NonNullable<Manifest['writer']> => ({ pid: process.pid, host: hostname() })

/** Whether this process wrote the manifest; another host may have a process of the same number. */
export const isOwn = ({ writer }: Manifest): boolean =>
  writer?.pid === process.pid && writer.host === hostname()

/** By how much wall clock and uptime may disagree. */
const CLOCK_SLACK_MS = 60_000
/** Linux counts in hundredths of a second for programs, whatever its own clock does. */
const TICK_MS = 10

/** Milliseconds after the system's start at which a process began; undefined where that cannot be told. */
const startedAfterMs = (pid: number): number | undefined => {
  try {
    // The name before it, in parentheses, may hold spaces and parentheses.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    const ticks = Number(fields[19])
    return Number.isFinite(ticks) ? ticks * TICK_MS : undefined
  } catch {
    // No such process, or no /proc: the signal below tells the one from the other.
    return undefined
  }
}

/**
 * Whether the process that wrote a `running` manifest may still be alive. A process of another host cannot be
 * looked at and counts as alive.
 */
export const writerMayLive = (manifest: Manifest): boolean => {
  const { writer, createdAt } = manifest
  if (writer === undefined) return false
  if (writer.host !== hostname()) return true
  // To the system 0 and below are groups of processes.
  if (writer.pid <= 0) return false
  // Process numbers begin anew with the system, and are given out again within it.
  const begun = Date.now() - uptime() * 1000 + (startedAfterMs(writer.pid) ?? 0)
  if (!(Date.parse(writer.since ?? createdAt) >= begun - CLOCK_SLACK_MS)) return false
  try {
    process.kill(writer.pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

export const interrupted = (manifest: Manifest, reason: string): Manifest => {
  const { writer: _, ...rest } = manifest
  return { ...rest, status: 'interrupted', error: reason, endedAt: rest.endedAt ?? new Date().toISOString() }
}
