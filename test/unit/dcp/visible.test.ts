import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { globalIndex, localLength } from '../../../app/dcp/ownership.ts'
import { visibleKeys, visibleTokens } from '../../../app/dcp/visible.ts'
import { lengths, pagings, upTo } from './arbitraries.ts'

const rows = fc
  .integer({ min: 1, max: 8 })
  .chain((qLen) => fc.record({ qLen: fc.constant(qLen), q: fc.integer({ min: 0, max: qLen - 1 }) }))

describe('visible keys', () => {
  it('are exactly the keys of the rank below the global causal bound', () => {
    fc.assert(
      fc.property(pagings, fc.integer({ min: 0, max: 600 }), rows, (sharding, len, { qLen, q }) => {
        const bound = Math.max(0, len - (qLen - 1) + q)
        for (const rank of upTo(sharding.dcp)) {
          const seen = upTo(localLength(len, rank, sharding)).filter(
            (l) => globalIndex(l, rank, sharding) < bound,
          )
          expect(seen).toEqual(upTo(visibleKeys(len, qLen, q, rank, sharding)))
        }
      }),
      { numRuns: 60 },
    )
  })

  it('agree with the closed form of interleave 1, ceil((G - r - (n-1) + q) / c) clamped at 0', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 16 }), lengths, rows, (dcp, len, { qLen, q }) => {
        for (const rank of upTo(dcp))
          expect(visibleKeys(len, qLen, q, rank, { dcp, interleave: 1 })).toBe(
            Math.max(0, Math.ceil((len - rank - (qLen - 1) + q) / dcp)),
          )
      }),
    )
  })

  it('are the whole shard for the newest query row', () => {
    fc.assert(
      fc.property(pagings, lengths, (sharding, len) => {
        for (const rank of upTo(sharding.dcp))
          expect(visibleKeys(len, 4, 3, rank, sharding)).toBe(localLength(len, rank, sharding))
      }),
    )
  })

  it('are not the shard without its last keys, as a mask aligned to its end would have it', () => {
    expect(visibleKeys(8, 4, 0, 0, { dcp: 4, interleave: 1 })).toBe(2)
    expect(localLength(8, 0, { dcp: 4, interleave: 1 }) - 3).toBe(-1)
  })

  it('are none before the first token', () => {
    expect(visibleTokens(2, 8, 0)).toBe(0)
  })

  it('refuse a query row that does not exist', () => {
    expect(() => visibleTokens(10, 2, 2)).toThrow('q must be a whole number from 0 to 1, got 2')
    expect(() => visibleTokens(10, 9, 0)).toThrow('qLen must be a whole number from 1 to 8, got 9')
  })
})
