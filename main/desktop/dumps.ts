import { createHash } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { z } from 'zod'
import { makeFolder } from '../process/make-folder.ts'

/** A dump: files and folders that were opened together, under an opaque id. */
export interface OpenedDump {
  readonly id: string
  readonly name: string
  readonly paths: readonly string[]
}

/** Dumps that were opened, the latest first, kept between starts. */
export interface OpenedDumps {
  list(): readonly OpenedDump[]
  remember(paths: readonly string[]): OpenedDump
  forget(id: string): void
}

const MOST = 12

const kept = z.array(z.array(z.string().min(1)).min(1))

/** A file that is missing or damaged counts as an empty list: nothing of worth is in it. */
export const openedDumps = (path: string, complain: (sentence: string) => void): OpenedDumps => {
  let dumps = read(path)
  const keep = (next: readonly OpenedDump[]): void => {
    dumps = next.slice(0, MOST)
    try {
      makeFolder(dirname(path))
      writeFileSync(`${path}.new`, JSON.stringify(dumps.map(({ paths }) => paths)))
      renameSync(`${path}.new`, path)
    } catch (error) {
      complain(`the list of dumps is not kept: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return {
    list: () => dumps,
    remember: (paths) => {
      const dump = dumpOf(paths)
      keep([dump, ...dumps.filter(({ id }) => id !== dump.id)])
      return dump
    },
    forget: (id) => keep(dumps.filter((dump) => dump.id !== id)),
  }
}

const read = (path: string): readonly OpenedDump[] => {
  try {
    return kept.parse(JSON.parse(readFileSync(path, 'utf8'))).map(dumpOf)
  } catch {
    return []
  }
}

const dumpOf = (given: readonly string[]): OpenedDump => {
  const paths = [...new Set(given.map((path) => resolve(path)))].sort()
  const [first = ''] = paths
  const id = createHash('sha256').update(paths.join('\n')).digest('hex').slice(0, 24)
  const name =
    paths.length === 1 ? basename(first) : `${basename(dirname(first))} (${paths.length} files or folders)`
  return { id: `dump-${id}`, name, paths }
}
