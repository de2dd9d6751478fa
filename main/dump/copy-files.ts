import { mkdirSync, rmSync } from 'node:fs'
import { copyFile, rename } from 'node:fs/promises'
import { join } from 'node:path'

export interface FileCopy {
  readonly from: string
  /** Name in the folder. */
  readonly name: string
}

/**
 * Copies files into `folder`, which is made where it is not there, each under a temporary name first. When one fails, or
 * `check` throws between two, what was made is removed again and the error passed on.
 */
export const copyFiles = async (
  copies: readonly FileCopy[],
  folder: string,
  check: () => void,
): Promise<void> => {
  const made = mkdirSync(folder, { recursive: true })
  const temporary = join(folder, '.dump.tmp')
  try {
    for (const { from, name } of copies) {
      check()
      await copyFile(from, temporary)
      await rename(temporary, join(folder, name))
    }
    check()
  } catch (error) {
    for (const path of [temporary, ...copies.map(({ name }) => join(folder, name))])
      rmSync(path, { force: true })
    if (made !== undefined) rmSync(made, { recursive: true, force: true })
    throw error
  }
}
