import { create } from 'zustand'
import { DEFAULT_SETTINGS, readSettings, type Settings } from '../../app/settings/settings.ts'
import { load, save } from './kept.ts'

const KEY = 'settings'

interface SettingsStore {
  readonly settings: Settings
  readonly change: (parts: Partial<Settings>) => void
}

/**
 * What the person set. Main keeps it in a file; a copy here has it before main is heard of, for the first paint.
 */
export const useSettings = create<SettingsStore>((set, get) => ({
  settings: readSettings(load(KEY))?.settings ?? DEFAULT_SETTINGS,
  change: (parts) => {
    const settings = { ...get().settings, ...parts }
    save(KEY, settings)
    set({ settings })
  },
}))
