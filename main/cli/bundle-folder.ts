import { accessSync, constants, lstatSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { bundlePath, newRunName, runsFolder } from '../process/runs-folder.ts'
import { badInput, messageOf } from './failure.ts'

export interface BundleFolder {
  readonly path: string
  readonly name: string
}

/** The bundle of a new run, named by `label` where no `out` is; nothing is created. An `out` that cannot become a bundle is refused. */
export const chooseBundle = (out: string | undefined, label: string): BundleFolder => {
  if (out !== undefined) {
    const path = newFolder(out)
    return { path, name: basename(path).replace(/\.dcp$/, '') }
  }
  const folder = runsFolder()
  const name = newRunName(folder, label)
  demandWritable(folder)
  return { path: bundlePath(folder, name), name }
}

/** The folder of `--out`, new or empty; nothing is created. One that cannot be written to is refused. */
export const newFolder = (out: string): string => {
  if (out.trim() === '') throw badInput('--out: must name a folder')
  const path = resolve(out)
  demandNewOrEmpty(path)
  demandWritable(path)
  return path
}

const demandNewOrEmpty = (path: string): void => {
  if (!isThere(path)) return
  if (!statSync(path).isDirectory()) throw badInput(`--out: ${path} is not a folder`)
  if (entriesOf(path).length > 0) throw badInput(`--out: ${path} is not empty`)
}

const entriesOf = (path: string): string[] => {
  try {
    return readdirSync(path)
  } catch (error) {
    throw badInput(`--out: ${path} cannot be read: ${messageOf(error)}`)
  }
}

/** Whether a path leads to something; one that leads nowhere for another reason than absence is refused. */
const isThere = (path: string): boolean => {
  try {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return true
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false
  } catch (error) {
    // Below a file, which is found to be none of the folders above.
    if (codeOf(error) === 'ENOTDIR') return false
    throw badInput(`${shortened(path)} cannot be used: ${reasonOf(error)}`)
  }
  throw badInput(`${path} is a link to something that is not there`)
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined

const reasonOf = (error: unknown): string => {
  const code = codeOf(error)
  if (code === 'ENAMETOOLONG') return 'the path is too long'
  if (code === 'ELOOP') return 'its links go round in a circle'
  return messageOf(error)
}

const shortened = (path: string): string => (path.length > 200 ? `${path.slice(0, 197)}...` : path)

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
  isThere(path) || dirname(path) === path ? path : nearestExisting(dirname(path))
