import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { RunConfig } from '../../app/run/config.ts'
import { bundlePath, newRunName, runLabel, runsFolder } from '../process/runs-folder.ts'
import { badInput } from './failure.ts'

export interface BundleFolder {
  readonly path: string
  readonly name: string
}

/** The bundle of a new run; nothing is created. An `out` that cannot become a bundle is refused. */
export const chooseBundle = (out: string | undefined, config: RunConfig): BundleFolder => {
  if (out !== undefined) {
    const path = resolve(out)
    demandNewOrEmpty(path)
    demandWritable(path)
    return { path, name: basename(path).replace(/\.dcp$/, '') }
  }
  const folder = runsFolder()
  const name = newRunName(folder, runLabel(config))
  demandWritable(folder)
  return { path: bundlePath(folder, name), name }
}

const demandNewOrEmpty = (path: string): void => {
  if (!existsSync(path)) return
  if (!statSync(path).isDirectory()) throw badInput(`--out: ${path} is not a folder`)
  if (readdirSync(path).length > 0) throw badInput(`--out: ${path} is not empty`)
}

/** The nearest folder that exists must take new entries. */
const demandWritable = (path: string): void => {
  const existing = nearestExisting(path)
  if (!statSync(existing).isDirectory()) throw badInput(`${existing} is not a folder`)
  try {
    accessSync(existing, constants.W_OK)
  } catch {
    throw badInput(`${existing} is not writable`)
  }
}

const nearestExisting = (path: string): string =>
  existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path))
