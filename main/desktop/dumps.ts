import { createHash } from 'node:crypto'
import { basename, dirname, resolve } from 'node:path'
import { z } from 'zod'
import { readList, writeList } from './kept-list.ts'

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

export const openedDumps = (path: string, complain: (sentence: string) => void): OpenedDumps => {
  let dumps = readList(path, kept).map(dumpOf)
  const keep = (next: readonly OpenedDump[]): void => {
    dumps = next.slice(0, MOST)
    writeList(
      path,
      dumps.map(({ paths }) => paths),
      complain,
    )
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

const dumpOf = (given: readonly string[]): OpenedDump => {
  const paths = [...new Set(given.map((path) => resolve(path)))].sort()
  const [first = ''] = paths
  const id = createHash('sha256').update(paths.join('\n')).digest('hex').slice(0, 24)
  const name =
    paths.length === 1 ? basename(first) : `${basename(dirname(first))} (${paths.length} files or folders)`
  return { id: `dump-${id}`, name, paths }
}
