import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { runIdOf } from '../process/run-id.ts'
import { readList, writeList } from './kept-list.ts'

/** Folders by the opaque ids that windows know. */
export interface Bundles {
  /** Those that were opened from elsewhere than the runs folder and still exist, the latest first. */
  elsewhere(): readonly string[]
  remember(folder: string): void
  find(run: string): Promise<string | undefined>
}

const MOST = 24

const kept = z.array(z.string().min(1))

/** Bundles of the runs folder, and those that were opened from elsewhere, which are kept between starts in the file `path`. */
export const bundlesIn = (
  runsFolder: string,
  path: string,
  complain: (sentence: string) => void,
): Bundles => {
  /** The latest first. */
  let elsewhere = readList(path, kept)
  const isListed = (folder: string): boolean => resolve(folder, '..') === resolve(runsFolder)
  return {
    elsewhere: () => elsewhere.filter((folder) => existsSync(folder)),
    remember: (given) => {
      const folder = resolve(given)
      if (isListed(folder)) return
      elsewhere = [folder, ...elsewhere.filter((known) => known !== folder)].slice(0, MOST)
      writeList(path, elsewhere, complain)
    },
    find: async (run) => {
      const known = [...elsewhere, ...(await listed(runsFolder))].find((folder) => runIdOf(folder) === run)
      return known !== undefined && existsSync(known) ? known : undefined
    },
  }
}

const listed = async (folder: string): Promise<string[]> =>
  existsSync(folder) ? (await readdir(folder)).map((name) => join(folder, name)) : []
