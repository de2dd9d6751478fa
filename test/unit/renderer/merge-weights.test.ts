import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { heaviest, meanWeights, weightAt, weightsOf } from '../../../renderer/views/merge/weights.ts'

const LN3 = Math.log(3)
/** Two ranks, two rows, two heads; [c * T * H]. */
const LSE = Float32Array.of(
  ...[0, Number.NEGATIVE_INFINITY, Number.NaN, Number.NEGATIVE_INFINITY],
  ...[LN3, 5, 0, Number.NEGATIVE_INFINITY],
)
const SHAPE = { ranks: 2, rows: 2, heads: 2, lseBase: 'e' } as const

describe('the weights of every row and head', () => {
  it('are those of the merge', () => {
    const weights = weightsOf(LSE, SHAPE)
    expect(weightAt(weights, 0, 0, 0)).toBeCloseTo(0.25)
    expect(weightAt(weights, 1, 0, 0)).toBeCloseTo(0.75)
    expect(weightAt(weights, 1, 0, 1)).toBe(1)
  })

  it('follow the base of the lse', () => {
    const weights = weightsOf(Float32Array.of(0, 1), { ...SHAPE, rows: 1, heads: 1, lseBase: '2' })
    expect(weightAt(weights, 1, 0, 0)).toBeCloseTo(2 / 3)
  })

  it('say where a rank handed on NaN, and give it no weight', () => {
    const weights = weightsOf(LSE, SHAPE)
    expect([...weights.isNan]).toEqual([0, 0, 1, 0])
    expect(weightAt(weights, 0, 1, 0)).toBe(0)
  })

  it('name the rank with most of a row and head, and none without keys', () => {
    const weights = weightsOf(LSE, SHAPE)
    expect(heaviest(weights, 0, 0)).toMatchObject({ rank: 1 })
    expect(heaviest(weights, 1, 1)).toBeNull()
  })

  it('have a mean over the rows and heads that have keys', () => {
    const [first, second] = meanWeights(weightsOf(LSE, SHAPE))
    expect(first).toBeCloseTo(0.25 / 3)
    expect(second).toBeCloseTo(2.75 / 3)
    expect(
      meanWeights(
        weightsOf(new Float32Array(2).fill(Number.NEGATIVE_INFINITY), { ...SHAPE, rows: 1, heads: 1 }),
      ),
    ).toEqual([0, 0])
  })

  it('sum to 1 wherever there is a key', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.double({ min: -50, max: 50, noNaN: true }), { minLength: 8, maxLength: 8 }),
        (ranks, lse) => {
          const own = Float32Array.from(lse.slice(0, ranks))
          const weights = weightsOf(own, { ranks, rows: 1, heads: 1, lseBase: 'e' })
          const sum = Array.from({ length: ranks }, (_, rank) => weightAt(weights, rank, 0, 0))
          expect(sum.reduce((a, b) => a + b)).toBeCloseTo(1, 5)
        },
      ),
    )
  })
})
