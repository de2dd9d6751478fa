import { describe, expect, it } from 'vitest'
import { layoutOf, parseLayout } from '../../../app/dcp/layout.ts'
import { issueText } from '../../../app/run/parse.ts'

const answer = (input: unknown) => {
  const parsed = parseLayout(input)
  if (!parsed.ok) throw new Error(parsed.issues.map(issueText).join('; '))
  return layoutOf(parsed.request)
}

const refusals = (input: unknown): string[] => {
  const parsed = parseLayout(input)
  return parsed.ok ? [] : parsed.issues.map(issueText)
}

describe('a layout', () => {
  it('lists local lengths and pages of every rank, empty ones too', () => {
    expect(answer({ len: 100, dcp: 4, interleave: 64, page: 64 })).toEqual({
      len: 100,
      dcp: 4,
      interleave: 64,
      page: 64,
      newestOwner: 1,
      ranks: [
        { rank: 0, localLen: 64, localPages: 1 },
        { rank: 1, localLen: 36, localPages: 1 },
        { rank: 2, localLen: 0, localPages: 0 },
        { rank: 3, localLen: 0, localPages: 0 },
      ],
    })
  })

  it('locates a token', () => {
    expect(answer({ len: 1000, dcp: 4, interleave: 16, page: 64, token: 777 }).token).toEqual({
      global: 777,
      owner: 0,
      localIndex: 201,
      virtualPage: 3,
      offset: 9,
    })
  })

  it('takes interleave 1 and page 64 when they are not given', () => {
    expect(answer({ len: 8, dcp: 4 })).toMatchObject({ interleave: 1, page: 64, newestOwner: 3 })
  })

  it('has no newest owner without tokens', () => {
    expect(answer({ len: 0, dcp: 2 }).newestOwner).toBeNull()
  })

  it.each([
    [{ len: 100, dcp: 4, interleave: 48 }, 'interleave: must divide page (64), got 48'],
    [{ len: -1, dcp: 4 }, 'len: must be at least 0, got -1'],
    [{ len: 2 ** 41, dcp: 4 }, `len: must be at most ${2 ** 40}, got ${2 ** 41}`],
    [{ len: 1.5, dcp: 4 }, 'len: must be a whole number, got 1.5'],
    [{ len: 'ten', dcp: 4 }, 'len: must be a number, got "ten"'],
    [{ len: 100, dcp: 0 }, 'dcp: must be at least 1, got 0'],
    [{ len: 100, dcp: 65 }, 'dcp: must be at most 64, got 65'],
    [{ len: 100, dcp: 4, page: 0 }, 'page: must be at least 1, got 0'],
    [{ len: 100, dcp: 4, token: 100 }, 'token: must be below len (100), got 100'],
    [{ len: 100, dcp: 4, pages: 1 }, 'pages: is not a known key'],
    [{ dcp: 4 }, 'len: must be a number'],
    [null, 'must be an object, got null'],
  ])('refuses %j with one sentence', (input, message) => {
    expect(refusals(input)).toEqual([message])
  })
})
