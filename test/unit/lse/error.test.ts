import { describe, expect, it } from 'vitest'
import { vectorError } from '../../../app/lse/error.ts'

describe('the error of a vector', () => {
  it('is the norm of the difference over the norm of the reference', () => {
    expect(vectorError([3, 4.5], [3, 4])).toEqual({ maxAbs: 0.5, at: 1, relative: 0.1 })
  })

  it('is 0 where both vanish and infinite where only the reference does', () => {
    expect(vectorError([0, 0], [0, 0])).toMatchObject({ maxAbs: 0, relative: 0 })
    expect(vectorError([0, 1], [0, 0]).relative).toBe(Number.POSITIVE_INFINITY)
  })

  it('is NaN where a value is, and says where', () => {
    expect(vectorError([1, Number.NaN, 9], [1, 2, 3])).toEqual({
      maxAbs: Number.NaN,
      at: 1,
      relative: Number.NaN,
    })
  })

  it('compares vectors of one length only', () => {
    expect(() => vectorError([1], [1, 2])).toThrow('values must be as long as the reference (2), got 1')
  })
})
