import { useSyncExternalStore } from 'react'
import { create } from 'zustand'
import { load, save } from '../state/kept.ts'
import type { Theme } from './colours.ts'

export const THEME_CHOICES = ['system', 'light', 'dark'] as const
export type ThemeChoice = (typeof THEME_CHOICES)[number]

const KEY = 'theme'

const isChoice = (value: unknown): value is ThemeChoice => THEME_CHOICES.some((choice) => choice === value)

interface ThemeStore {
  readonly choice: ThemeChoice
  readonly choose: (choice: ThemeChoice) => void
}

const kept = load(KEY)

/** What the person chose; `useTheme` resolves it. */
export const useThemeChoice = create<ThemeStore>((set) => ({
  choice: isChoice(kept) ? kept : 'system',
  choose: (choice) => {
    save(KEY, choice)
    set({ choice })
  },
}))

const darkSystem = (): MediaQueryList => window.matchMedia('(prefers-color-scheme: dark)')

const watchSystem = (changed: () => void): (() => void) => {
  const query = darkSystem()
  query.addEventListener('change', changed)
  return () => query.removeEventListener('change', changed)
}

export const resolvedTheme = (choice: ThemeChoice, systemIsDark: boolean): Theme =>
  choice === 'system' ? (systemIsDark ? 'dark' : 'light') : choice

/** The theme now, read once: for the moment before the first paint. */
export const currentTheme = (): Theme => resolvedTheme(useThemeChoice.getState().choice, darkSystem().matches)

/** The theme that is shown. */
export const useTheme = (): Theme => {
  const systemIsDark = useSyncExternalStore(watchSystem, () => darkSystem().matches)
  return resolvedTheme(
    useThemeChoice((s) => s.choice),
    systemIsDark,
  )
}
