import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { z } from 'zod'
import { makeFolder } from '../process/make-folder.ts'

/** A list in a JSON file. One that is missing or damaged counts as empty: nothing of worth is in it. */
export const readList = <T>(path: string, schema: z.ZodType<readonly T[]>): readonly T[] => {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return []
  }
}

/** Writes the list, whole or not at all. Never throws. */
export const writeList = (
  path: string,
  list: readonly unknown[],
  complain: (sentence: string) => void,
): void => {
  try {
    makeFolder(dirname(path))
    writeFileSync(`${path}.new`, JSON.stringify(list))
    renameSync(`${path}.new`, path)
  } catch (error) {
    complain(`${path} is not kept: ${error instanceof Error ? error.message : String(error)}`)
  }
}
