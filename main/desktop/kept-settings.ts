import { existsSync, readFileSync, renameSync } from 'node:fs'
import { basename } from 'node:path'
import { DEFAULT_SETTINGS, readSettings, type Settings } from '../../app/settings/settings.ts'
import { keepWhole } from './write-whole.ts'

export interface KeptSettings {
  get(): Settings
  /** Throws where they cannot be written; they hold for this session all the same. */
  set(change: Partial<Settings>): void
  /** What was wrong with the file at the start, and what became of it, in one sentence. */
  readonly problem: string | undefined
}

interface Read {
  readonly settings: Settings
  readonly problem?: string
}

/**
 * Settings in a JSON file that a person may have edited. A file that is no JSON is put aside and replaced; of one with wrong
 * parts the others are kept.
 */
export const keptSettings = (path: string): KeptSettings => {
  const read = readFile(path)
  let { settings } = read
  const write = (): void => keepWhole(path, `${JSON.stringify(settings, null, 2)}\n`)
  let { problem } = read
  if (problem !== undefined)
    try {
      write()
    } catch (error) {
      problem = `${problem} It could not be written anew: ${textOf(error)}.`
    }
  return {
    get: () => settings,
    set: (change) => {
      settings = { ...settings, ...change }
      write()
    },
    problem,
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const readFile = (path: string): Read => {
  if (!existsSync(path)) return { settings: DEFAULT_SETTINGS }
  try {
    const read = readSettings(JSON.parse(readFileSync(path, 'utf8')))
    if (read === null) return putAside(path, 'it is no list of settings')
    const { settings, wrong } = read
    if (wrong.length === 0) return { settings }
    const problem = `The settings ${wrong.join(', ')} were not valid and are at their defaults; the others were kept.`
    return { settings, problem }
  } catch (error) {
    return putAside(path, textOf(error))
  }
}

/** Keeps the damaged file beside, for a person to look at. */
const putAside = (path: string, why: string): Read => {
  const aside = `${path}.broken`
  let kept = `the old file is ${basename(aside)}`
  try {
    renameSync(path, aside)
  } catch {
    kept = 'the old file could not be kept'
  }
  return {
    settings: DEFAULT_SETTINGS,
    problem: `The settings could not be read (${why}) and are at their defaults; ${kept}.`,
  }
}
