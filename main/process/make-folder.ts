import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder with those above it. Level by level, since Node's recursive way never returns below a folder that
 * takes no entries and says ENOENT, such as /proc. Throws the error of the first level that cannot be made.
 */
export const makeFolder = (path: string): void => {
  if (existsSync(path)) return
  if (dirname(path) !== path) makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    // Somebody else was faster.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
