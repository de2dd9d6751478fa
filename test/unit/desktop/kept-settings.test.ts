import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  DEFAULT_SETTINGS,
  readSettings,
  SETTING_NAMES,
  settingsSchema,
  settingWords,
} from '../../../app/settings/settings.ts'
import { keptSettings } from '../../../main/desktop/kept-settings.ts'

let folder = ''
let path = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dcpscope-settings-'))
  path = join(folder, 'user', 'settings.json')
})
afterEach(() => rmSync(folder, { recursive: true }))

const written = (text: string): void => {
  mkdirSync(join(folder, 'user'))
  writeFileSync(path, text)
}

describe('settings', () => {
  it('are the defaults where nothing was set, and each has words', () => {
    expect(settingsSchema.parse(DEFAULT_SETTINGS)).toEqual(DEFAULT_SETTINGS)
    expect(readSettings({})).toEqual({ settings: DEFAULT_SETTINGS, wrong: [] })
    for (const name of SETTING_NAMES) {
      expect(settingWords(name).title).not.toBe(name)
      expect(settingWords(name).text).not.toBe('')
    }
  })

  it('keep what is valid of a record, and name what is not', () => {
    const read = readSettings({ theme: 'dark', frames: 1, storeMemoryMb: 100, laterPart: true })
    expect(read).toEqual({
      settings: { ...DEFAULT_SETTINGS, theme: 'dark' },
      wrong: ['frames', 'storeMemoryMb'],
    })
    expect(readSettings([])).toBeNull()
    expect(readSettings('dark')).toBeNull()
  })
})

describe('the file of settings', () => {
  it('is not there before something is set, and gives it back at the next start', () => {
    const kept = keptSettings(path)
    expect(kept.problem).toBeUndefined()
    expect(existsSync(path)).toBe(false)
    kept.set({ theme: 'light', frames: 30 })
    expect(keptSettings(path).get()).toEqual({ ...DEFAULT_SETTINGS, theme: 'light', frames: 30 })
  })

  it.each(['{"theme": "dark"', '', '[1]', '\u0000'])(
    'that is damaged is put aside and replaced: %j',
    (text) => {
      written(text)
      const kept = keptSettings(path)
      expect(kept.get()).toEqual(DEFAULT_SETTINGS)
      expect(kept.problem).toMatch(
        /^The settings could not be read .* the old file is settings\.json\.broken\.$/,
      )
      expect(readFileSync(`${path}.broken`, 'utf8')).toBe(text)
      expect(keptSettings(path).problem).toBeUndefined()
    },
  )

  it('with wrong parts keeps the others and says which', () => {
    written('{"theme":"dark","frames":"fast","bytes":"bits"}')
    const kept = keptSettings(path)
    expect(kept.get()).toEqual({ ...DEFAULT_SETTINGS, theme: 'dark' })
    expect(kept.problem).toBe(
      'The settings bytes, frames were not valid and are at their defaults; the others were kept.',
    )
    expect(keptSettings(path).problem).toBeUndefined()
  })

  it('that cannot be written says so, and what was set holds for now', () => {
    const nowhere = join(folder, 'file', 'settings.json')
    writeFileSync(join(folder, 'file'), '')
    const kept = keptSettings(nowhere)
    expect(() => kept.set({ theme: 'dark' })).toThrow()
    expect(kept.get().theme).toBe('dark')
  })
})
