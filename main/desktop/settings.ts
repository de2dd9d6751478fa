import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'

const bounds = z.strictObject({ x: z.int(), y: z.int(), width: z.int().min(200), height: z.int().min(200) })
export type Bounds = z.output<typeof bounds>

const settingsSchema = z.strictObject({
  bounds: bounds.optional(),
  maximized: z.boolean().default(false),
  theme: z.enum(['system', 'light', 'dark']).default('system'),
})
/** What the window remembers between starts. */
export type Settings = z.output<typeof settingsSchema>

const DEFAULTS: Settings = { maximized: false, theme: 'system' }

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
        mkdirSync(dirname(path), { recursive: true })
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
    return settingsSchema.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data ?? DEFAULTS
  } catch {
    return DEFAULTS
  }
}

interface Area {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Kept bounds if enough of the window would be on one of the screens to grab it, else undefined. */
export const visibleBounds = (kept: Bounds | undefined, screens: readonly Area[]): Bounds | undefined => {
  if (kept === undefined) return undefined
  const seen = screens.some((area) => {
    const width = Math.min(kept.x + kept.width, area.x + area.width) - Math.max(kept.x, area.x)
    const height = Math.min(kept.y + kept.height, area.y + area.height) - Math.max(kept.y, area.y)
    return width >= 200 && height >= 100
  })
  return seen ? kept : undefined
}
