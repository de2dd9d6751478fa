import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { RunRef } from '../../../app/protocol/store.ts'
import { codeOf, keyText, stroke } from '../../../renderer/shell/keys.ts'
import { match } from '../../../renderer/shell/palette/match.ts'
import { VIEW_KEYS } from '../../../renderer/shell/view-keys.ts'

vi.mock('../../../renderer/state/store-client.ts', () => ({ request: vi.fn() }))
const { ACTIONS } = await import('../../../renderer/shell/actions.ts')
const { commandsIn, fitting, viewCommands } = await import('../../../renderer/shell/palette/commands.ts')
const { useSession } = await import('../../../renderer/state/session.ts')
const { useView, VIEW_IDS } = await import('../../../renderer/state/view.ts')

const marked = (words: string, text: string): string | null => {
  const found = match(words, text)
  return found === null ? null : found.at.map((i) => text[i]).join('')
}

const better = (words: string, good: string, other: string): boolean =>
  (match(words, good)?.score ?? -Infinity) > (match(words, other)?.score ?? -Infinity)

describe('words', () => {
  it('are found as beginnings of words, as parts of words, and without regard to case and order', () => {
    expect(marked('prst', 'Previous step')).toBe('Prst')
    expect(marked('cale', 'Rates on a logarithmic scale')).toBe('cale')
    expect(marked('STEP next', 'Next step')).toBe('Nextstep')
    expect(match('  ', 'anything')).toEqual({ score: -0.08, at: [] })
  })

  it('are not found in letters that are scattered, missing or in another order', () => {
    expect(match('gear', 'Change the bar')).toBeNull()
    expect(match('merge', 'Some overgrown ledges')).toBeNull()
    expect(match('zoomx', 'Zoom in')).toBeNull()
    expect(match('e', 'Open')).toBeNull()
  })

  it('fit whole words better than parts, and short texts better than long ones', () => {
    expect(better('open', 'Open a bundle', 'Reopened')).toBe(true)
    expect(better('zoom in', 'Zoom in', 'Zoom into the bundle of the inspector')).toBe(true)
    expect(better('step', 'Next step', 'Select the tensors of the epoch')).toBe(true)
  })
})

const runOf = (id: string): RunRef => ({
  id,
  name: `2026-11-30-${id}`,
  createdAt: '',
  status: 'complete',
  title: 'tiny, 4 ranks',
})

describe('the palette', () => {
  beforeEach(() => {
    useView.getState().show('timeline')
    useSession.getState().take({ runs: [runOf('aaa'), runOf('bbb')] })
  })

  it('has every action but itself, the keys of the view in front only, and every run', () => {
    const ids = commandsIn('timeline', []).map(({ id }) => id)
    for (const { id } of ACTIONS) expect(ids.includes(id)).toBe(id !== 'palette')
    expect(ids).toContain('key.timeline.W')
    expect(ids).not.toContain('key.merge.↑')
    expect(ids).toContain('run.aaa')
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('says of keys that go two ways what each does', () => {
    for (const view of VIEW_IDS)
      for (const { keys, each } of VIEW_KEYS[view])
        if (each !== undefined) expect(each).toHaveLength(keys.split(' ').length)
    expect(viewCommands('timeline')).toContainEqual(
      expect.objectContaining({ title: 'Zoom out', keys: ['S'], kind: 'Timeline' }),
    )
  })

  it('knows the place of every key of a view', () => {
    const names = VIEW_IDS.flatMap((view) => viewCommands(view).flatMap(({ keys }) => keys))
    for (const name of names) {
      expect(codeOf(name)).toMatch(
        /^(Key[A-Z]|Digit\d|Arrow(Left|Right|Up|Down)|Comma|Period|Slash|Home|End|Backspace|Page(Up|Down))$/,
      )
      expect(keyText(stroke(codeOf(name)))).toBe(name)
    }
  })

  it('finds a command by a few letters and by the view that it belongs to', () => {
    const best = (words: string) => fitting(commandsIn('timeline', []), words)[0]?.command.title
    expect(best('zoom in')).toBe('Zoom in')
    expect(best('timeline pan r')).toBe('Pan right')
    expect(best('bbb')).toBe('Open 2026-11-30-bbb: tiny, 4 ranks')
    expect(best('merge')).toBe('Show the merge')
  })

  it('puts what does nothing now behind what does', () => {
    const fits = fitting(commandsIn('timeline', []), '')
    const enabled = fits.map(({ command }) => command.enabled)
    expect(enabled.indexOf(false)).toBeGreaterThan(enabled.lastIndexOf(true))
    expect(enabled).toContain(false)
  })
})
