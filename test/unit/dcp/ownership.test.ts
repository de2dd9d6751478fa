import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_TOKENS } from '../../../app/dcp/checks.ts'
import {
  globalIndex,
  localIndex,
  localLength,
  localLengths,
  newestOwner,
  owner,
} from '../../../app/dcp/ownership.ts'
import { lengths, pagings, upTo } from './arbitraries.ts'

describe('ownership', () => {
  it('gives every token to exactly one rank, and each rank a gapless run of local indices', () => {
    fc.assert(
      fc.property(pagings, lengths, (sharding, len) => {
        const held = upTo(sharding.dcp).map(() => new Set<number>())
        for (let t = 0; t < len; t++) held[owner(t, sharding)]?.add(localIndex(t, sharding))
        for (const [rank, locals] of held.entries()) {
          expect(locals.size).toBe(localLength(len, rank, sharding))
          expect(Math.max(-1, ...locals)).toBe(locals.size - 1)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('finds a token again from its owner and local index', () => {
    fc.assert(
      fc.property(pagings, fc.integer({ min: 0, max: MAX_TOKENS - 1 }), (sharding, token) => {
        expect(globalIndex(localIndex(token, sharding), owner(token, sharding), sharding)).toBe(token)
      }),
    )
  })

  it('finds a local key again from its token', () => {
    fc.assert(
      fc.property(pagings, fc.nat(10_000), fc.nat(15), (sharding, local, r) => {
        const rank = r % sharding.dcp
        const token = globalIndex(local, rank, sharding)
        expect(owner(token, sharding)).toBe(rank)
        expect(localIndex(token, sharding)).toBe(local)
      }),
    )
  })

  it('deals out lengths that sum to the whole, never increase with the rank and differ by at most the interleave', () => {
    fc.assert(
      fc.property(pagings, lengths, (sharding, len) => {
        const local = localLengths(len, sharding)
        expect(local.reduce((a, b) => a + b, 0)).toBe(len)
        expect(local).toEqual(local.toSorted((a, b) => b - a))
        expect(Math.max(...local) - Math.min(...local)).toBeLessThanOrEqual(sharding.interleave)
      }),
    )
  })

  it('grows exactly one rank by one with each token: the owner of that token', () => {
    fc.assert(
      fc.property(pagings, lengths, (sharding, len) => {
        const before = localLengths(len, sharding)
        const after = localLengths(len + 1, sharding)
        const grown = upTo(sharding.dcp).filter((r) => after[r] !== before[r])
        expect(grown).toEqual([owner(len, sharding)])
        expect(after[grown[0] ?? -1]).toBe((before[grown[0] ?? -1] ?? 0) + 1)
        expect(newestOwner(len + 1, sharding)).toBe(owner(len, sharding))
      }),
    )
  })

  it('leaves a rank empty exactly when the length does not reach its first block', () => {
    fc.assert(
      fc.property(pagings, fc.integer({ min: 0, max: 1100 }), (sharding, len) => {
        for (const rank of upTo(sharding.dcp))
          expect(localLength(len, rank, sharding) === 0).toBe(len <= rank * sharding.interleave)
      }),
    )
  })

  it('agrees with the closed form of interleave 1, ceil((L - r) / c)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 16 }), lengths, (dcp, len) => {
        expect(localLengths(len, { dcp, interleave: 1 })).toEqual(
          upTo(dcp).map((r) => Math.max(0, Math.ceil((len - r) / dcp))),
        )
      }),
    )
  })

  it.each([
    [8, 4, 1, [2, 2, 2, 2]],
    [9, 4, 1, [3, 2, 2, 2]],
    [10, 2, 4, [6, 4]],
    [100, 4, 64, [64, 36, 0, 0]],
    [130, 4, 64, [64, 64, 2, 0]],
    [300, 2, 16, [156, 144]],
  ])('deals %i tokens to %i ranks with interleave %i as %j', (len, dcp, interleave, expected) => {
    expect(localLengths(len, { dcp, interleave })).toEqual(expected)
  })

  it('has no newest owner without tokens', () => {
    expect(newestOwner(0, { dcp: 4, interleave: 1 })).toBeNull()
  })

  it('is exact for the longest sequence', () => {
    const sharding = { dcp: 64, interleave: 1 }
    expect(localLengths(MAX_TOKENS, sharding)).toEqual(upTo(64).map(() => MAX_TOKENS / 64))
    expect(globalIndex(MAX_TOKENS / 64 - 1, 63, sharding)).toBe(MAX_TOKENS - 1)
  })

  it.each([
    [
      () => owner(-1, { dcp: 4, interleave: 1 }),
      `token must be a whole number from 0 to ${2 ** 40 - 1}, got -1`,
    ],
    [() => owner(1.5, { dcp: 4, interleave: 1 }), 'token must be a whole number'],
    [() => owner(0, { dcp: 65, interleave: 1 }), 'dcp must be a whole number from 1 to 64, got 65'],
    [() => localIndex(0, { dcp: 4, interleave: 0 }), 'interleave must be a whole number from 1'],
    [() => localLength(4, 4, { dcp: 4, interleave: 1 }), 'rank must be a whole number from 0 to 3, got 4'],
    [() => localLength(Number.NaN, 0, { dcp: 4, interleave: 1 }), 'len must be a whole number'],
    [() => globalIndex(-1, 0, { dcp: 4, interleave: 1 }), 'local must be a whole number'],
  ])('names the argument and the rule when given nonsense (%#)', (call, message) => {
    expect(call).toThrow(RangeError)
    expect(call).toThrow(message)
  })
})

describe('tokens that are dealt out anew behind the prompt', () => {
  it('begin at rank 0 again, and ranks keep those of the prompt first', () => {
    for (const dcp of [1, 2, 3, 8])
      for (const interleave of [1, 4])
        for (const prompt of [0, 1, 37, 96]) {
          const sharding = { dcp, interleave, prompt }
          const held = new Array<number>(dcp).fill(0)
          for (let token = 0; token < 150; token++) {
            expect(localLengths(token, sharding)).toEqual(held)
            const at = token < prompt ? token : token - prompt
            const rank = Math.floor(at / interleave) % dcp
            const local = held[rank] ?? 0
            expect(owner(token, sharding)).toBe(rank)
            expect(localIndex(token, sharding)).toBe(local)
            expect(globalIndex(local, rank, sharding)).toBe(token)
            held[rank] = local + 1
          }
        }
  })
})
