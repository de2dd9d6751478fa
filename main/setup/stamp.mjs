// @ts-check
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from './shell.mjs'

/** Files below `path` (a file or folder, relative to the root), sorted. @param {string} path @returns {string[]} */
const filesBelow = (path) => {
  const full = join(ROOT, path)
  const found = statSync(full, { throwIfNoEntry: false })
  if (found === undefined) return []
  if (!found.isDirectory()) return [path]
  return readdirSync(full)
    .sort()
    .flatMap((name) => filesBelow(join(path, name)))
}

/** Digest of the contents of everything below the paths. @param {readonly string[]} paths */
export const digestOf = (paths) => {
  const hash = createHash('sha256')
  for (const file of paths.flatMap(filesBelow)) {
    hash.update(file)
    hash.update(readFileSync(join(ROOT, file)))
  }
  return hash.digest('hex')
}

/** @param {string} name */
const stampOf = (name) => join(ROOT, 'build', `${name}.stamp`)

/**
 * Whether the step was done before for inputs of this digest and its outputs are still there.
 * @param {string} name @param {string} digest @param {readonly string[]} outputs
 */
export const isDone = (name, digest, outputs) =>
  outputs.every((path) => statSync(join(ROOT, path), { throwIfNoEntry: false }) !== undefined) &&
  read(stampOf(name)) === digest

/**
 * Does `work` unless it was done before for the same inputs and its outputs are still there.
 * @param {string} name @param {readonly string[]} inputs @param {readonly string[]} outputs @param {() => Promise<void>} work
 */
export const unlessDone = async (name, inputs, outputs, work) => {
  const stamp = stampOf(name)
  const digest = digestOf(inputs)
  if (isDone(name, digest, outputs)) return
  // Work that is cut off leaves outputs that belong to no inputs.
  rmSync(stamp, { force: true })
  await work()
  writeWhole(stamp, digest)
}

/** @param {string} path */
const read = (path) => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** Writes a file by rename, so that it is whole or absent. @param {string} path @param {string} text */
export const writeWhole = (path, text) => {
  mkdirSync(dirname(path), { recursive: true })
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, text)
  renameSync(temporary, path)
}
