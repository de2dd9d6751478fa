import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Manifest } from '../../app/trace/manifest.ts'
import { makeFolder } from '../process/make-folder.ts'
import { temporaryName } from './bundle-files.ts'
import { writeManifest } from './manifest-file.ts'
import { codeOf, isMissing, StoreProblem, writeProblem } from './problem.ts'

const RESERVE_BYTES = 64 << 10

/** Space that is given back when the disk is full, so that the manifest can still be written. */
export const reserveFile = (bundle: string): string => join(bundle, temporaryName('reserve'))

/** The reserve and the first manifest. */
export const writeBegin = (bundle: string, manifest: Manifest): void => {
  // Made by one writer only: of two that found the same empty folder, the second is refused.
  const reserve = openSync(reserveFile(bundle), 'wx')
  try {
    // Random bytes, so that a compressing file system sets them aside as well.
    writeFileSync(reserve, randomBytes(Math.max(RESERVE_BYTES, 4 * JSON.stringify(manifest).length)))
    writeManifest(bundle, manifest)
  } catch (error) {
    rmSync(reserveFile(bundle), { force: true })
    throw error
  } finally {
    closeSync(reserve)
  }
}

/** A folder that was never there cannot have been removed, which is what a missing one means later on. */
export const beginProblem = (error: unknown, bundle: string): StoreProblem => {
  if (isMissing(error)) return new StoreProblem(`the folder of the run cannot be made: ${bundle}`)
  return codeOf(error) === 'EEXIST' ? notEmpty(bundle) : writeProblem(error, bundle)
}

const notEmpty = (bundle: string): StoreProblem =>
  new StoreProblem(`the folder of a new run must be new or empty: ${bundle}`)

export const prepareFolder = (bundle: string): void => {
  makeFolder(bundle)
  if (readdirSync(bundle).length > 0) throw notEmpty(bundle)
}
