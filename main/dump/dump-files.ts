import { realpathSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type DumpProblem, type DumpSet, openDumps } from '../../app/dump/dumps.ts'
import { DumpError } from '../../app/dump/safetensors.ts'
import type { ByteSource } from '../../app/dump/source.ts'
import { fileSource } from './file-source.ts'

/** Ending of the files of a dump. */
const ENDING = '.safetensors'

/**
 * Opens dumps: files, folders (all below them that ends in .safetensors) and bundles of runs, which keep theirs in a folder.
 * What cannot be read is a problem, and the rest is used. `aborted` is asked between files and may throw; it hears how many of
 * how many files are read. `nameOf` is what messages call a file.
 */
export const readDumps = async (
  paths: readonly string[],
  aborted?: (done: number, total: number) => void,
  nameOf: (path: string) => string = (path) => path,
): Promise<DumpSet> => {
  const problems: DumpProblem[] = []
  const refuse = (path: string, error: unknown): void => {
    problems.push({ file: path === '' ? '""' : nameOf(path), rule: reasonOf(error), refused: true })
  }
  const sources = new Map<string, ByteSource>()
  for (const path of paths) {
    try {
      for (const file of await filesAt(path)) {
        try {
          const real = realpathSync(file)
          if (!sources.has(real)) sources.set(real, await fileSource(file, nameOf(file)))
        } catch (error) {
          refuse(file, error)
        }
      }
    } catch (error) {
      refuse(path, error)
    }
  }
  let done = 0
  const opened = await openDumps(sources.values(), () => aborted?.(done++, sources.size))
  return { groups: opened.groups, problems: [...problems, ...opened.problems] }
}

/** The files that a path stands for, in order of their names. */
const filesAt = async (path: string): Promise<string[]> => {
  if (!(await stat(path)).isDirectory()) return [path]
  const files = await filesBelow(path)
  if (files.length === 0) throw new DumpError(path, undefined, `holds no file that ends in ${ENDING}`)
  return files
}

/** Links to folders are not followed: they may go round in a circle. */
const filesBelow = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true })
  const found: string[] = []
  for (const entry of entries.sort((a, b) => byNumber.compare(a.name, b.name))) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) found.push(...(await filesBelow(path)))
    else if (entry.name.endsWith(ENDING) && !entry.name.startsWith('.')) found.push(path)
  }
  return found
}

const byNumber = new Intl.Collator('en', { numeric: true })

const reasonOf = (error: unknown): string => {
  if (error instanceof DumpError) return error.rule
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file or folder'
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read'
  if (code === 'ELOOP') return 'its links go round in a circle'
  return error instanceof Error ? error.message : String(error)
}
