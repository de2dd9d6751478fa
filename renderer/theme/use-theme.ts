import { useSyncExternalStore } from 'react'
import type { Settings, ThemeChoice } from '../../app/settings/settings.ts'
import { useSettings } from '../state/settings.ts'
import type { Theme } from './colours.ts'

let query: MediaQueryList | undefined

/** Made once: to make one takes as long as to draw a row of a table. */
const darkSystem = (): MediaQueryList => {
  query ??= window.matchMedia('(prefers-color-scheme: dark)')
  return query
}

const watchSystem = (changed: () => void): (() => void) => {
  const system = darkSystem()
  system.addEventListener('change', changed)
  return () => system.removeEventListener('change', changed)
}

export const resolvedTheme = (
  choice: ThemeChoice,
  colours: Settings['colours'],
  systemIsDark: boolean,
): Theme => {
  const shade = choice === 'system' ? (systemIsDark ? 'dark' : 'light') : choice
  return colours === 'safe' ? `${shade}-safe` : shade
}

/** The theme now, read once: for the moment before the first paint. */
export const currentTheme = (): Theme => {
  const { theme, colours } = useSettings.getState().settings
  return resolvedTheme(theme, colours, darkSystem().matches)
}

/** The theme that is shown. */
export const useTheme = (): Theme => {
  const systemIsDark = useSyncExternalStore(watchSystem, () => darkSystem().matches)
  const theme = useSettings((s) => s.settings.theme)
  const colours = useSettings((s) => s.settings.colours)
  return resolvedTheme(theme, colours, systemIsDark)
}
