import { describe, expect, test } from 'vitest'
import { type InspectorSection, sectionsFor } from '../../../renderer/shell/Inspector.tsx'
import { NO_SELECTION } from '../../../renderer/state/selection.ts'

const span: InspectorSection = {
  view: 'timeline',
  title: 'Span',
  rows: [{ label: 'stage', value: 'merge' }],
  about: { run: 'a', selection: { rank: 2, timeNs: 500 } },
}
const token: InspectorSection = {
  view: 'ownership',
  title: 'Token 7',
  rows: [{ label: 'token', value: '7' }],
  about: { run: 'a', selection: { token: 7, step: null } },
}
const sections = [span, token]
const selection = { ...NO_SELECTION, rank: 2, timeNs: 500, token: 7 }
const titles = (...args: Parameters<typeof sectionsFor>): string[] =>
  sectionsFor(...args).map(({ title }) => title)

describe('what the inspector shows', () => {
  test('is said by the shown view first, and stays true in other views', () => {
    expect(titles(sections, 'timeline', 'a', selection)).toEqual(['Span', 'Token 7'])
    expect(titles(sections, 'ownership', 'a', selection)).toEqual(['Token 7', 'Span'])
    expect(titles(sections, 'merge', 'a', selection)).toEqual(['Span', 'Token 7'])
  })

  test('is left out once something else is selected, or nothing', () => {
    expect(titles(sections, 'merge', 'a', { ...selection, timeNs: 600 })).toEqual(['Token 7'])
    expect(titles(sections, 'merge', 'a', { ...selection, step: 3 })).toEqual(['Span'])
    expect(titles(sections, 'merge', 'a', NO_SELECTION)).toEqual([])
    expect(titles(sections, 'merge', 'b', selection)).toEqual([])
  })

  test('of a view that was left is nothing where nothing was selected', () => {
    const all = { ...span, about: { run: 'a', selection: { rank: null, timeNs: null } } }
    expect(titles([all], 'merge', 'a', NO_SELECTION)).toEqual([])
    expect(titles([all], 'timeline', 'a', NO_SELECTION)).toEqual(['Span'])
  })
})
