import { readFileSync } from 'node:fs'
import type { ThemeChoice } from '../../app/settings/settings.ts'
import { keepWhole } from './write-whole.ts'

export interface Bounds {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const THEMES: readonly ThemeChoice[] = ['system', 'light', 'dark']

/** What the window remembers between starts. */
export interface WindowState {
  readonly bounds?: Bounds
  readonly maximized: boolean
  /** That of the settings, which are read only after the first paint. */
  readonly theme: ThemeChoice
}

const DEFAULTS: WindowState = { maximized: false, theme: 'system' }
const LEAST_SIZE = 200

export interface WindowFile {
  get(): WindowState
  set(change: Partial<WindowState>): void
}

/** State of the window in a JSON file. One that is missing or damaged counts as the defaults: nothing of worth is in it. */
export const windowFile = (path: string, complain: (sentence: string) => void): WindowFile => {
  let state = read(path)
  return {
    get: () => state,
    set: (change) => {
      state = { ...state, ...change }
      try {
        keepWhole(path, JSON.stringify(state))
      } catch (error) {
        complain(
          `the state of the window is not kept: ${error instanceof Error ? error.message : String(error)}`,
        )
      }
    },
  }
}

const read = (path: string): WindowState => {
  try {
    return stateOf(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return DEFAULTS
  }
}

/** Checked by hand: this stands between the start and the first paint, and a schema library would cost it time. */
const stateOf = (value: unknown): WindowState => {
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
