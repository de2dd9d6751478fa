import { useSyncExternalStore } from 'react'
import type { Settings, ThemeChoice } from '../../app/settings/settings.ts'
import { useSettings } from '../state/settings.ts'
import type { Theme } from './colours.ts'

const darkSystem = (): MediaQueryList => window.matchMedia('(prefers-color-scheme: dark)')

const watchSystem = (changed: () => void): (() => void) => {
  const query = darkSystem()
  query.addEventListener('change', changed)
  return () => query.removeEventListener('change', changed)
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
