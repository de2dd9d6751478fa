import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { owner } from '../../../app/dcp/ownership.ts'
import type { Paging } from '../../../app/dcp/types.ts'
import {
  angleOf,
  arcsOf,
  isShown,
  PITCH,
  type Ring,
  type RingView,
  radiusOf,
  ringHit,
  ringOf,
  ringTexts,
  tokenAt,
  totalTurns,
  turnOf,
} from '../../../renderer/views/ownership/ring.ts'
import { pagings } from '../dcp/arbitraries.ts'

const USUAL: RingView = { pitch: PITCH.usual, first: null, free: false }

/** Rules, with or without a prompt behind which tokens are dealt out anew. */
const rules: fc.Arbitrary<{ len: number; paging: Paging; token: number }> = fc
  .record({
    paging: pagings,
    len: fc.integer({ min: 1, max: 20_000 }),
    prompt: fc.option(fc.integer({ min: 1, max: 20_000 }), { nil: undefined }),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  })
  .map(({ paging, len, prompt, at }) => ({
    len,
    paging: prompt === undefined ? paging : { ...paging, prompt },
    token: Math.floor(at * len),
  }))

/** The middle of a token on the canvas. */
const middleOf = (token: number, ring: Ring, paging: Paging) => {
  const { turn, place } = turnOf(token, paging)
  const angle = angleOf(place + 0.5, paging)
  const radius = radiusOf(turn, ring) + ring.pitch / 2
  return { x: ring.centre.x + radius * Math.cos(angle), y: ring.centre.y + radius * Math.sin(angle) }
}

describe('the ring of a request', () => {
  it('gives every token a place of its own in the sector of its owner', () => {
    fc.assert(
      fc.property(rules, ({ len, paging, token }) => {
        const { turn, place } = turnOf(token, paging)
        expect(tokenAt(turn, place, len, paging)).toBe(token)
        expect(Math.floor(place / paging.interleave)).toBe(owner(token, paging))
        expect(turn).toBeLessThan(totalTurns(len, paging))
      }),
    )
  })

  it('shows the selected token, and finds it again below its middle', () => {
    fc.assert(
      fc.property(rules, fc.integer({ min: 60, max: 1400 }), ({ len, paging, token }, size) => {
        const ring = ringOf(size, size, len, paging, USUAL, token)
        expect(isShown(turnOf(token, paging).turn, ring)).toBe(true)
        expect(ringHit(middleOf(token, ring, paging), ring, len, paging)).toMatchObject({ token })
      }),
    )
  })

  it('draws every token of the shown turns once, by rank', () => {
    fc.assert(
      fc.property(rules, ({ len, paging, token }) => {
        const ring = ringOf(600, 600, len, paging, USUAL, token)
        const drawn = arcsOf(ring, len, paging).flatMap(({ from, to, token: first, rank }) =>
          Array.from({ length: to - from }, (_, i) => ({ token: first + i, rank })),
        )
        for (const one of drawn) expect(owner(one.token, paging)).toBe(one.rank)
        const tokens = drawn.map((one) => one.token).sort((a, b) => a - b)
        const expected = Array.from({ length: len }, (_, t) => t).filter((t) =>
          isShown(turnOf(t, paging).turn, ring),
        )
        expect(tokens).toEqual(expected)
      }),
      { numRuns: 40 },
    )
  })

  it('follows the newest turns while nothing is selected', () => {
    const paging = { dcp: 4, interleave: 1, page: 16 }
    const ring = ringOf(600, 600, 1024, paging, USUAL, null)
    expect(ring.first + ring.count).toBe(256)
    expect(ringTexts(ring, paging)).toEqual([
      'one turn is 4 tokens, 1 to a rank',
      `turns ${ring.first} to 255 of 256`,
    ])
  })

  it('widens turns where there are fewer than fit, up to a limit', () => {
    const paging = { dcp: 4, interleave: 16, page: 16 }
    const few = ringOf(600, 600, 4 * 64, paging, USUAL, null)
    expect(few.count).toBe(4)
    expect(few.pitch).toBeGreaterThan(PITCH.usual)
    expect(few.pitch).toBeLessThanOrEqual(PITCH.most)
  })

  it('lets turns be chosen without the selected token, and keeps it in sight otherwise', () => {
    const paging = { dcp: 2, interleave: 1, page: 16 }
    const chosen = { pitch: PITCH.usual, first: 100 }
    expect(ringOf(600, 600, 1000, paging, { ...chosen, free: true }, 0).first).toBe(100)
    expect(ringOf(600, 600, 1000, paging, { ...chosen, free: false }, 0).first).toBe(0)
  })

  it('marks where a page of a rank begins', () => {
    const paging = { dcp: 2, interleave: 4, page: 8 }
    const ring = ringOf(600, 600, 32, paging, USUAL, null)
    const pages = arcsOf(ring, 32, paging).filter(({ page }) => page !== null)
    expect(pages.map(({ turn, rank }) => [turn, rank])).toEqual([
      [0, 0],
      [0, 1],
      [2, 0],
      [2, 1],
    ])
  })

  it('is empty without a token, and names the ranks outside of it', () => {
    const paging = { dcp: 4, interleave: 1, page: 16 }
    const ring = ringOf(400, 400, 0, paging, USUAL, null)
    expect(arcsOf(ring, 0, paging)).toEqual([])
    const right = { x: ring.centre.x + ring.outer + 10, y: ring.centre.y + 5 }
    expect(ringHit(right, ring, 0, paging)).toEqual({ kind: 'rank', rank: 1 })
    expect(ringHit(ring.centre, ring, 0, paging)).toEqual({ kind: 'nothing' })
  })
})
