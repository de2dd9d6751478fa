import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { balanceOf } from '../../../app/dcp/balance.ts'
import { COVERAGE_CHECKS, type Counted, coverageChecks, type Written } from '../../../app/dcp/coverage.ts'
import { movedTokens } from '../../../app/dcp/moved.ts'
import { localLengths, owner } from '../../../app/dcp/ownership.ts'
import type { Sharding } from '../../../app/dcp/types.ts'

const SHARDING: Sharding = { dcp: 4, interleave: 1 }

const right = (len: number, sharding = SHARDING): Counted => ({ len, local: localLengths(len, sharding) })

const judged = (
  now: Counted,
  before: Counted | null = null,
  written: Written | null = null,
  sharding = SHARDING,
) => new Map(coverageChecks(now, sharding, before, written).map((check) => [check.name, check]))

const sharding = fc.record({
  dcp: fc.integer({ min: 1, max: 8 }),
  interleave: fc.integer({ min: 1, max: 16 }),
})

describe('a request that lies as the rule says', () => {
  it('keeps every invariant, from step to step, whatever the rule', () => {
    fc.assert(
      fc.property(sharding, fc.nat(500), fc.nat(9), (rule, len, more) => {
        const now = right(len + more, rule)
        const written =
          len + more === 0
            ? null
            : { token: len + more - 1, places: [{ rank: owner(len + more - 1, rule), slot: 0 }] }
        for (const { state } of coverageChecks(now, rule, right(len, rule), written))
          expect(state).toBe('holds')
      }),
    )
  })

  it('says what is missing where there is no step before', () => {
    expect([...judged(right(9)).values()].map(({ name, state }) => [name, state])).toEqual([
      ['sum', 'holds'],
      ['grows', 'unknown'],
      ['overlap', 'holds'],
      ['gap', 'holds'],
    ])
    expect(COVERAGE_CHECKS.length).toBe(4)
  })
})

describe('a request that does not', () => {
  it('names the token that two ranks hold, by what was stored where that is known', () => {
    // Every rank counts the newest token, 300, of rank 0.
    const now = { len: 301, local: [76, 76, 76, 76] }
    const known = judged(now, null, {
      token: 300,
      places: [0, 1, 2, 3].map((rank) => ({ rank, slot: 75 })),
    })
    expect(known.get('overlap')).toMatchObject({
      state: 'broken',
      count: 3,
      token: 300,
      rank: 1,
      detail: 'token 300 is stored on ranks 0, 1, 2, 3; its owner is rank 0',
    })
    expect(known.get('sum')).toMatchObject({ state: 'broken', count: 3 })
    expect(known.get('gap')?.state).toBe('holds')
    expect(judged(now).get('overlap')).toMatchObject({ token: 300, rank: 1, count: 3 })
  })

  it('names the first token that nobody counts, which is the last of a rank that counts too few', () => {
    const now = { len: 301, local: [76, 73, 75, 75] }
    const gap = judged(now).get('gap')
    expect(gap).toMatchObject({ state: 'broken', count: 2, token: 73 * 4 + 1, rank: 1 })
    expect(judged(now).get('overlap')?.state).toBe('holds')
    const unstored = judged(right(9), null, { token: 8, places: [] })
    expect(unstored.get('gap')).toMatchObject({ state: 'broken', token: 8, rank: 0 })
  })

  it('says which rank grew out of turn', () => {
    const grows = judged({ len: 10, local: [3, 3, 2, 3] }, { len: 9, local: [3, 2, 2, 2] }).get('grows')
    expect(grows).toMatchObject({
      state: 'broken',
      count: 1,
      rank: 3,
      detail: 'rank 3 grew by 1 where 0 of the 1 token that came are its own',
    })
  })

  it('loses and doubles exactly as many tokens as lengths are wrong by', () => {
    fc.assert(
      fc.property(
        sharding,
        fc.integer({ min: 1, max: 300 }),
        fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 8, maxLength: 8 }),
        (rule, len, errors) => {
          const local = localLengths(len, rule).map((held, rank) => Math.max(0, held + (errors[rank] ?? 0)))
          const checks = judged({ len, local }, null, null, rule)
          const [more, fewer] = [checks.get('overlap')?.count ?? 0, checks.get('gap')?.count ?? 0]
          expect(local.reduce((sum, n) => sum + n, 0)).toBe(len + more - fewer)
          const { token, rank } = checks.get('gap') ?? {}
          if (fewer > 0 && token != null) {
            expect(token).toBeLessThan(len)
            expect(owner(token, rule)).toBe(rank)
          }
        },
      ),
    )
  })
})

describe('the balance of a batch', () => {
  it('counts keys and empty requests of each rank', () => {
    const balance = balanceOf([301, 38, 2, 1], SHARDING)
    expect(balance.ranks).toEqual([
      { rank: 0, tokens: 76 + 10 + 1 + 1, empty: 0 },
      { rank: 1, tokens: 75 + 10 + 1, empty: 1 },
      { rank: 2, tokens: 75 + 9, empty: 2 },
      { rank: 3, tokens: 75 + 9, empty: 2 },
    ])
    expect(balance).toMatchObject({ tokens: 342, most: 88, least: 84, idle: [], requests: 4 })
    expect(balance.share).toBeCloseTo(342 / 4 / 88)
    expect(balanceOf([64, 10], { dcp: 4, interleave: 64 }).idle).toEqual([1, 2, 3])
    expect(balanceOf([], SHARDING)).toMatchObject({ share: 1, idle: [0, 1, 2, 3] })
  })

  it('holds every token once', () => {
    fc.assert(
      fc.property(sharding, fc.array(fc.nat(500), { maxLength: 9 }), (rule, lens) => {
        const { tokens, most, least } = balanceOf(lens, rule)
        expect(tokens).toBe(lens.reduce((sum, len) => sum + len, 0))
        expect(most - least).toBeLessThanOrEqual(rule.interleave * lens.length)
      }),
    )
  })
})

describe('tokens that another rule gives to another rank', () => {
  it('are as many as by looking at each', () => {
    fc.assert(
      fc.property(
        sharding,
        sharding,
        fc.nat(3000),
        fc.option(fc.nat(3000), { nil: undefined }),
        (a, b, len, prompt) => {
          const [first, second] = [
            { ...a, prompt },
            { ...b, prompt },
          ]
          let moved = 0
          for (let token = 0; token < len; token++) if (owner(token, first) !== owner(token, second)) moved++
          expect(movedTokens(len, first, second)).toBe(moved)
        },
      ),
    )
  })

  it('are counted fast for a million tokens, and not where that is too long', () => {
    expect(movedTokens(1 << 24, { dcp: 4, interleave: 1 }, { dcp: 4, interleave: 64 })).toBe((1 << 24) * 0.75)
    expect(movedTokens(2 ** 40, { dcp: 63, interleave: 1 }, { dcp: 64, interleave: 2 ** 20 })).toBeNull()
  })
})
