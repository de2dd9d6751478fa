import type { Settings } from '../../../app/settings/settings.ts'

/** Settings of which one of some words is chosen. */
export type ChoiceName = 'theme' | 'colours' | 'thousands' | 'durations' | 'bytes'

/** Settings that are numbers. */
export type NumberName = 'frames' | 'storeMemoryMb'

type Words<N extends keyof Settings> = Readonly<Record<Settings[N], string>>

/** The choices in the words of the form, in order. */
export const CHOICES: { readonly [N in ChoiceName]: Words<N> } = {
  theme: { system: 'System', light: 'Light', dark: 'Dark' },
  colours: { standard: 'Standard', safe: 'Safe in every colour vision' },
  thousands: { thin: '1\u2009234\u2009567', comma: '1,234,567', none: '1234567' },
  durations: { auto: 'Each in its own unit', us: 'µs', ms: 'ms' },
  bytes: { binary: 'MiB', decimal: 'MB' },
}

export const NUMBER_UNITS: Readonly<Record<NumberName, string>> = { frames: 'a second', storeMemoryMb: 'MiB' }

type Part =
  | { readonly kind: 'choice'; readonly name: ChoiceName }
  | { readonly kind: 'number'; readonly name: NumberName }

export interface Group {
  readonly title: string
  readonly parts: readonly Part[]
}

/** The form from top to bottom. */
export const GROUPS: readonly Group[] = [
  {
    title: 'Colours',
    parts: [
      { kind: 'choice', name: 'theme' },
      { kind: 'choice', name: 'colours' },
    ],
  },
  {
    title: 'Numbers',
    parts: [
      { kind: 'choice', name: 'thousands' },
      { kind: 'choice', name: 'durations' },
      { kind: 'choice', name: 'bytes' },
    ],
  },
  {
    title: 'Limits',
    parts: [
      { kind: 'number', name: 'frames' },
      { kind: 'number', name: 'storeMemoryMb' },
    ],
  },
]
