import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Branch, lengthViews } from '../../../app/dcp/length-views.ts'

const BRANCHES: readonly Branch[] = ['decode', 'targetVerify', 'draftExtend']
const four = { dcp: 4, interleave: 1 }

describe('the two views of lengths', () => {
  it('keep the global one global in every branch, and the local one local', () => {
    expect(lengthViews('decode', [10, 3], 4, 1, four)).toEqual({
      global: [10, 3],
      local: [3, 1],
      localMax: 3,
    })
    expect(lengthViews('targetVerify', [10, 3], 4, 1, four)).toEqual({
      global: [14, 7],
      local: [4, 2],
      localMax: 4,
    })
    expect(lengthViews('draftExtend', [10, 3], 4, 1, four)).toEqual({
      global: [10, 3],
      local: [3, 1],
      localMax: 3,
    })
  })

  it('plan for at least one key where the rank has none', () => {
    expect(lengthViews('decode', [1, 2], 0, 3, four)).toEqual({ global: [1, 2], local: [0, 0], localMax: 1 })
    expect(lengthViews('decode', [], 0, 0, four).localMax).toBe(1)
  })

  it('are equal without DCP', () => {
    const { global, local } = lengthViews('targetVerify', [5, 9], 3, 0, { dcp: 1, interleave: 1 })
    expect(local).toEqual(global)
  })

  it('have local lengths that add up to the global ones over the ranks', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...BRANCHES),
        fc.array(fc.integer({ min: 0, max: 5000 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 0, max: 8 }),
        fc.integer({ min: 1, max: 8 }),
        fc.constantFrom(1, 2, 16),
        (branch, lens, drafts, dcp, interleave) => {
          const views = Array.from({ length: dcp }, (_, rank) =>
            lengthViews(branch, lens, drafts, rank, { dcp, interleave }),
          )
          lens.forEach((len, i) => {
            const sum = views.reduce((total, { local }) => total + (local[i] ?? 0), 0)
            expect(sum).toBe(branch === 'targetVerify' ? len + drafts : len)
          })
        },
      ),
    )
  })

  it.each([[-1], [0.5]])('refuse a length of %d', (len) => {
    expect(() => lengthViews('decode', [len], 0, 0, four)).toThrow(RangeError)
  })
})
