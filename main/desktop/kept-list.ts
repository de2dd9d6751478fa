import { readFileSync } from 'node:fs'
import type { z } from 'zod'
import { keepWhole } from './write-whole.ts'

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
    keepWhole(path, JSON.stringify(list))
  } catch (error) {
    complain(`${path} is not kept: ${error instanceof Error ? error.message : String(error)}`)
  }
}
