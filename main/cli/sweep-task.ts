import { basename, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../../app/run/parse.ts'
import { runLabel } from '../process/runs-folder.ts'
import { hasManifest } from '../store/manifest-file.ts'
import { type BegunSweep, type SweepTask, sweepIn } from '../sweep/task.ts'
import { chooseBundle } from './bundle-folder.ts'
import { badInput, type CliFailure, messageOf } from './failure.ts'
import type { ConfigSource } from './read-config.ts'
import { readSweepConfig } from './read-sweep.ts'

export interface TaskSource extends ConfigSource {
  readonly out?: string | undefined
}

/** A folder with a sweep is gone on with: by itself, or by the very configuration that it was begun with. */
export const taskOf = async ({ out, file, preset, device }: TaskSource): Promise<SweepTask> => {
  const begun = out === undefined ? undefined : begunIn(resolve(out))
  if (out === undefined || begun === undefined) {
    const config = await readSweepConfig({ file, preset, device })
    return { config, folder: chooseBundle(out, `sweep-${runLabel(config.base)}`), begun }
  }
  const path = resolve(out)
  const folder = { path, name: basename(path).replace(/\.dcp$/, '') }
  if (file === undefined && preset === undefined) {
    const asked = device ?? begun.sweep.config.base.engine.device
    if (asked !== begun.sweep.config.base.engine.device) throw another(path, ['base.engine.device'])
    return { config: begun.sweep.config, folder, begun }
  }
  const config = await readSweepConfig({ file, preset, device })
  const differing = differences(config, begun.sweep.config)
  if (differing.length > 0) throw another(path, differing)
  return { config, folder, begun }
}

/** A preset alone makes a dozen differ. */
const FIELDS_SHOWN = 4

const another = (path: string, fields: readonly string[]): CliFailure => {
  const more = fields.length > FIELDS_SHOWN ? ` and ${fields.length - FIELDS_SHOWN} more` : ''
  const shown = fields.slice(0, FIELDS_SHOWN).join(', ')
  return badInput(`--out: ${path} holds a sweep of another configuration (${shown}${more})`)
}

/** The sweep of a bundle; undefined where the folder holds no bundle of a sweep. */
const begunIn = (path: string): BegunSweep | undefined => {
  if (!isBundle(path)) return undefined
  try {
    return sweepIn(path)
  } catch (error) {
    throw badInput(`--out: ${messageOf(error)}`)
  }
}

const isBundle = (path: string): boolean => {
  try {
    return hasManifest(path)
  } catch {
    // Whatever is wrong with the path is said where the folder of a new bundle is chosen.
    return false
  }
}

/** Paths of the fields whose values differ; a list is one value. */
const differences = (a: unknown, b: unknown, path = ''): string[] => {
  if (!isRecord(a) || !isRecord(b)) return isDeepStrictEqual(a, b) ? [] : [path]
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].flatMap((name) => differences(a[name], b[name], path === '' ? name : `${path}.${name}`))
}
