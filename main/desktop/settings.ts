import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../process/make-folder.ts'

export interface Bounds {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** What the window remembers between starts. */
export interface Settings {
  readonly bounds?: Bounds
  readonly maximized: boolean
  readonly theme: Theme
}

const DEFAULTS: Settings = { maximized: false, theme: 'system' }
const LEAST_SIZE = 200

export interface SettingsFile {
  get(): Settings
  set(change: Partial<Settings>): void
}

/** Settings in a JSON file. One that is missing or damaged counts as the defaults: nothing of worth is in it. */
export const settingsFile = (path: string, complain: (sentence: string) => void): SettingsFile => {
  let settings = read(path)
  return {
    get: () => settings,
    set: (change) => {
      settings = { ...settings, ...change }
      try {
        makeFolder(dirname(path))
        writeFileSync(`${path}.new`, JSON.stringify(settings))
        renameSync(`${path}.new`, path)
      } catch (error) {
        complain(`window settings are not kept: ${error instanceof Error ? error.message : String(error)}`)
      }
    },
  }
}

const read = (path: string): Settings => {
  try {
    return settingsOf(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return DEFAULTS
  }
}

/** Checked by hand: this stands between the start and the first paint, and a schema library would cost it time. */
const settingsOf = (value: unknown): Settings => {
  const maximized = part(value, 'maximized')
  const theme = THEMES.find((known) => known === part(value, 'theme'))
  const bounds = boundsOf(part(value, 'bounds'))
  return {
    maximized: maximized === true,
    theme: theme ?? DEFAULTS.theme,
    ...(bounds === undefined ? {} : { bounds }),
  }
}

const part = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined

const boundsOf = (value: unknown): Bounds | undefined => {
  const [x, y, width, height] = ['x', 'y', 'width', 'height'].map((key) => part(value, key))
  const whole = (n: unknown): n is number => Number.isSafeInteger(n)
  return whole(x) && whole(y) && whole(width) && whole(height) && Math.min(width, height) >= LEAST_SIZE
    ? { x, y, width, height }
    : undefined
}

/** Kept bounds if enough of the window would be on one of the screens to grab it, else undefined. */
export const visibleBounds = (kept: Bounds | undefined, screens: readonly Bounds[]): Bounds | undefined => {
  if (kept === undefined) return undefined
  const seen = screens.some((area) => {
    const width = Math.min(kept.x + kept.width, area.x + area.width) - Math.max(kept.x, area.x)
    const height = Math.min(kept.y + kept.height, area.y + area.height) - Math.max(kept.y, area.y)
    return width >= 200 && height >= 100
  })
  return seen ? kept : undefined
}
