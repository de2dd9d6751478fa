import { renameSync, writeFileSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../process/make-folder.ts'

/** Writes a file whole or not at all: beside its place, and renamed. What was there stays when it fails. */
export const writeWhole = async (path: string, content: string | Uint8Array): Promise<void> => {
  const beside = `${path}.new`
  try {
    await writeFile(beside, content)
    await rename(beside, path)
  } catch (error) {
    await rm(beside, { force: true }).catch(() => {})
    throw error
  }
}

/** The same at once, for the app's own small files; makes their folder. Throws where it cannot be written. */
export const keepWhole = (path: string, content: string): void => {
  makeFolder(dirname(path))
  writeFileSync(`${path}.new`, content)
  renameSync(`${path}.new`, path)
}

/** By code of the system: what is wrong with the place that was chosen, and what to do. */
const PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: 'this folder cannot be written to; choose another',
  EPERM: 'this folder cannot be written to; choose another',
  EROFS: 'this folder cannot be written to; choose another',
  ENOSPC: 'the disk is full; free some space, or choose a folder on another',
  EDQUOT: 'the disk is full; free some space, or choose a folder on another',
  ENOENT: 'this folder is not there any more; choose another',
  EISDIR: 'there is a folder of this name; choose another name',
  ENOTEMPTY: 'there is a folder of this name; choose another name',
  ENOTDIR: 'this is not in a folder; choose another',
  ENAMETOOLONG: 'the name is too long; choose a shorter one',
}

/** Why a file could not be written, in words for the person who chose the place. */
export const saveProblem = (error: unknown): string => {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  const known = typeof code === 'string' ? PROBLEMS[code] : undefined
  return known ?? (error instanceof Error ? error.message : String(error))
}
