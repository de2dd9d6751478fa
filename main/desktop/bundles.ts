import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runIdOf } from '../process/run-id.ts'
import type { Bundles } from './commands.ts'

/** Bundles of the runs folder and those that were opened from elsewhere. */
export const bundlesIn = (runsFolder: string): Bundles => {
  const opened = new Map<string, string>()
  return {
    remember: (folder) => {
      opened.set(runIdOf(folder), folder)
    },
    find: async (run) => {
      const known = opened.get(run) ?? (await listed(runsFolder)).find((folder) => runIdOf(folder) === run)
      return known !== undefined && existsSync(known) ? known : undefined
    },
  }
}

const listed = async (folder: string): Promise<string[]> =>
  existsSync(folder) ? (await readdir(folder)).map((name) => join(folder, name)) : []
