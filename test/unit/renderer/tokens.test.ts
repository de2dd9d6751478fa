import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { statusColour, type Theme } from '../../../renderer/theme/colours.ts'
import { contrast } from '../../../renderer/theme/oklch.ts'

const CSS = readFileSync(join(__dirname, '../../../renderer/theme/tokens.css'), 'utf8')

/** Variables of one theme that are plain colours. */
const tokensOf = (theme: Theme): ReadonlyMap<string, string> => {
  const block = new RegExp(`data-theme="${theme}"\\] \\{([^}]*)\\}`).exec(CSS)?.[1] ?? ''
  return new Map(
    [...block.matchAll(/(--[\w-]+): (#[0-9a-f]{6});/g)].map(([, name = '', hex = '']) => [name, hex]),
  )
}

describe.each(['light', 'dark'] as const)('tokens of the %s theme', (theme) => {
  const tokens = tokensOf(theme)
  const token = (name: string): string => {
    const hex = tokens.get(name)
    if (hex === undefined) throw new Error(`tokens.css has no ${name} in the ${theme} theme`)
    return hex
  }

  test.each(['--text-0', '--text-1', '--text-2', '--bad', '--warn', '--ok', '--accent'])(
    '%s is readable on every background',
    (text) => {
      for (const background of ['--bg-0', '--bg-1', '--bg-2'])
        expect(contrast(token(text), token(background)), background).toBeGreaterThanOrEqual(4.5)
    },
  )

  test('text on the accent and on quiet fills is readable, and focus stands out', () => {
    expect(contrast(token('--accent-text'), token('--accent'))).toBeGreaterThanOrEqual(4.5)
    expect(contrast(token('--accent-text'), token('--focus'))).toBeGreaterThanOrEqual(3)
    for (const fill of ['--accent-quiet', '--bad-quiet', '--warn-quiet'])
      expect(contrast(token('--text-0'), token(fill)), fill).toBeGreaterThanOrEqual(4.5)
    expect(contrast(token('--bad'), token('--bad-quiet'))).toBeGreaterThanOrEqual(4.5)
    expect(contrast(token('--focus'), token('--bg-1'))).toBeGreaterThanOrEqual(3)
  })

  test('status colours on a canvas are those of the styles', () => {
    expect(statusColour('ok', theme)).toBe(token('--ok'))
    expect(statusColour('warn', theme)).toBe(token('--warn'))
    expect(statusColour('bad', theme)).toBe(token('--bad'))
  })

  test('the window shows the same background before the first paint', () => {
    const window = readFileSync(join(__dirname, '../../../main/desktop/window.ts'), 'utf8')
    expect(window).toContain(token('--bg-0'))
  })

  test('the frame of the first paint has the same colours', () => {
    const frame = readFileSync(join(__dirname, '../../../renderer/shell/frame.css'), 'utf8')
    const [light = '', dark = ''] = frame.split('@media (prefers-color-scheme: dark)')
    for (const name of ['--bg-0', '--bg-1', '--line', '--text-2'])
      expect(theme === 'light' ? light : dark).toContain(`${name}: ${token(name)};`)
  })
})
