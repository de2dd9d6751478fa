import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseRunConfig } from '../../../app/run/parse.ts'
import {
  bundlePath,
  homeFolder,
  newRunName,
  runLabel,
  runsFolder,
} from '../../../main/process/runs-folder.ts'

describe('the runs folder', () => {
  it('follows the platform', () => {
    expect(runsFolder({}, 'linux', '/home/u')).toBe('/home/u/.local/share/dcpscope/runs')
    expect(runsFolder({ XDG_DATA_HOME: '/data' }, 'linux', '/home/u')).toBe('/data/dcpscope/runs')
    expect(runsFolder({}, 'darwin', '/Users/u')).toBe('/Users/u/Library/Application Support/dcpscope/runs')
    expect(runsFolder({ LOCALAPPDATA: '/L' }, 'win32', '/u')).toBe(join('/L', 'dcpscope', 'runs'))
  })

  it('takes an empty or relative XDG_DATA_HOME for none', () => {
    for (const XDG_DATA_HOME of ['', 'data'])
      expect(runsFolder({ XDG_DATA_HOME }, 'linux', '/home/u')).toBe('/home/u/.local/share/dcpscope/runs')
  })
})

describe('the home folder', () => {
  it('is that of the account where HOME is empty or relative', () => {
    expect(homeFolder('/home/u')).toBe('/home/u')
    for (const home of ['', 'relative']) expect(homeFolder(home)).toBe(userInfo().homedir)
  })
})

describe('the name of a new run', () => {
  const at = new Date(2026, 10, 9, 4, 5, 6)

  it('is the local date and time and what is run', () => {
    expect(newRunName('/r', 'tiny', at, () => false)).toBe('2026-11-09-040506-tiny')
  })

  it('gets a number when it is taken', () => {
    const taken = ['/r/2026-11-09-040506-tiny.dcp', '/r/2026-11-09-040506-tiny-2.dcp']
    expect(newRunName('/r', 'tiny', at, (path) => taken.includes(path))).toBe('2026-11-09-040506-tiny-3')
    expect(bundlePath('/r', 'x')).toBe('/r/x.dcp')
  })

  it('says the shape where there is no preset', () => {
    const label = (input: unknown): string => {
      const parsed = parseRunConfig(input)
      if (!parsed.ok) throw new Error('the configuration is valid')
      return runLabel(parsed.config)
    }
    expect(label({ model: { preset: 'kimi-k2' } })).toBe('kimi-k2')
    expect(label({})).toBe('mla-16x576-4l')
  })
})
