import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
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
    if (statSync(file).size > MAX_BYTES)
      throw new StoreProblem(`not a dcpscope bundle: its run.json is too large: ${bundle}`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof StoreProblem) throw error
    if (!isMissing(error)) throw new StoreProblem(`the bundle cannot be read: ${textOf(error)}`)
    if (!exists(bundle)) throw new StoreProblem(`no such bundle: ${bundle}`)
    throw new StoreProblem(`not a dcpscope bundle: it has no run.json: ${bundle}`)
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

/** Whether a folder holds anything that claims to be a bundle. */
export const hasManifest = (bundle: string): boolean => exists(join(bundle, MANIFEST_FILE))

export const ownWriter = (): NonNullable<Manifest['writer']> => ({ pid: process.pid, host: hostname() })

/** Whether this process wrote the manifest; another host may have a process of the same number. */
export const isOwn = ({ writer }: Manifest): boolean =>
  writer?.pid === process.pid && writer.host === hostname()

/**
 * Whether the process that wrote a `running` manifest may still be alive. A process of another host cannot be
 * looked at and counts as alive.
 */
export const writerMayLive = (manifest: Manifest): boolean => {
  const { writer, createdAt } = manifest
  if (writer === undefined) return false
  if (writer.host !== hostname()) return true
  // Process numbers begin anew with the system.
  if (Date.parse(createdAt) < Date.now() - uptime() * 1000 - 60_000) return false
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
