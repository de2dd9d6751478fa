import { z } from 'zod'

/** A setting that the form shows: `title` names it, `description` says what it does. */
const setting = <T extends z.ZodType>(schema: T, title: string, description: string): T =>
  schema.meta({ title, description })

export const THEME_CHOICES = ['system', 'light', 'dark'] as const
export type ThemeChoice = (typeof THEME_CHOICES)[number]

/** What a person sets once for all runs. Every part has a default. */
const parts = {
  theme: setting(z.enum(THEME_CHOICES), 'Theme', 'Light, dark, or as the system says.'),
  colours: setting(
    z.enum(['standard', 'safe']),
    'Colours of data',
    'Standard: 16 ranks of equal lightness. Safe: 8 ranks that differ in every colour vision, ramps from blue to yellow, signed values in blue and orange.',
  ),
  thousands: setting(
    z.enum(['thin', 'comma', 'none']),
    'Thousands',
    'How thousands are parted on screen. Copies and files have plain numbers.',
  ),
  durations: setting(
    z.enum(['auto', 'us', 'ms']),
    'Durations',
    'Each in the unit that suits it, or all in microseconds or milliseconds.',
  ),
  bytes: setting(z.enum(['binary', 'decimal']), 'Bytes', 'In steps of 1024 (MiB) or of 1000 (MB).'),
  frames: setting(
    z.int().min(5).max(240),
    'Frames a second',
    'Pictures are drawn at most this often; fewer spare a slow machine.',
  ),
  storeMemoryMb: setting(
    z
      .int()
      .min(0)
      .max(1_048_576)
      .refine((mb) => mb === 0 || mb >= 256, 'must be 0 or at least 256'),
    'Memory of the store',
    'MiB that reading runs takes at most; what needs more ends with an error. 0: most of what the machine has.',
  ),
}

export const settingsSchema = z.strictObject(parts)
export type Settings = z.output<typeof settingsSchema>

export const DEFAULT_SETTINGS: Settings = {
  theme: 'system',
  colours: 'standard',
  thousands: 'thin',
  durations: 'auto',
  bytes: 'binary',
  frames: 60,
  storeMemoryMb: 0,
}

export const SETTING_NAMES = Object.keys(parts) as readonly (keyof Settings)[]

/** Title and description of a setting. */
export const settingWords = (name: keyof Settings): { readonly title: string; readonly text: string } => {
  const { title, description } = parts[name].meta() ?? {}
  return { title: title ?? name, text: description ?? '' }
}

export interface ReadSettings {
  readonly settings: Settings
  /** Parts that were there and are not valid; their defaults stand in their place. */
  readonly wrong: readonly string[]
}

/**
 * Settings out of anything: what is missing is the default, and so is what is not valid. Parts that are not known are left out,
 * for those that a later version wrote. Null where it is no record at all.
 */
export const readSettings = (value: unknown): ReadSettings | null => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const wrong: string[] = []
  const kept = Object.fromEntries(
    SETTING_NAMES.flatMap((name) => {
      const given: unknown = Reflect.get(value, name)
      if (given === undefined) return []
      const parsed = parts[name].safeParse(given)
      if (!parsed.success) wrong.push(name)
      return parsed.success ? [[name, parsed.data]] : []
    }),
  )
  return { settings: settingsSchema.parse({ ...DEFAULT_SETTINGS, ...kept }), wrong }
}
