import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batched } from '../../../app/compare/batches.ts'
import { holm, signedRank } from '../../../app/statistics/signed-rank.ts'

/** p by trying every choice of signs. */
const byTrying = (differences: readonly number[]): number => {
  const kept = differences.filter((d) => d !== 0)
  const sizes = kept.map(Math.abs)
  const rank = (size: number): number =>
    sizes.filter((other) => other < size).length + (sizes.filter((other) => other === size).length + 1) / 2
  const ranks = sizes.map(rank)
  const total = ranks.reduce((sum, r) => sum + r, 0)
  const least = (positive: number): number => Math.min(positive, total - positive)
  const seen = least(ranks.reduce((sum, r, i) => sum + ((kept[i] ?? 0) > 0 ? r : 0), 0))
  let extreme = 0
  for (let signs = 0; signs < 2 ** kept.length; signs++) {
    const positive = ranks.reduce((sum, r, i) => sum + ((signs >> i) & 1 ? r : 0), 0)
    if (least(positive) <= seen) extreme++
  }
  return extreme / 2 ** kept.length
}

describe('the signed-rank test', () => {
  it('counts choices of signs, also with ties and zeros', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -4, max: 4 }), { minLength: 1, maxLength: 10 }), (values) => {
        expect(signedRank(values).p).toBeCloseTo(byTrying(values), 10)
      }),
    )
  })

  it('gives the numbers of tables', () => {
    // Two-sided p of eight differences of one sign is 2 / 2^8.
    expect(signedRank([1, 2, 3, 4, 5, 6, 7, 8]).p).toBeCloseTo(2 / 256, 12)
    // Critical value 8 for n = 10 at 0.05: 2 * 25 / 1024.
    expect(signedRank([-8, 1, 2, 3, 4, 5, 6, 7, 9, 10]).p).toBeCloseTo(50 / 1024, 12)
    const { estimate, low, high } = signedRank([1, 2, 3, 4, 5, 6])
    expect([estimate, low, high]).toEqual([3.5, 1, 6])
  })

  it('is the normal distribution where many differences are told apart', () => {
    const one = Array.from({ length: 50 }, (_, i) => (i % 3 === 0 ? -1 : 1) * (i + 1))
    const two = [...one, 1e-9]
    expect(signedRank(two).p).toBeCloseTo(signedRank(one).p, 2)
  })

  it('has no opinion of which side is which, of scale, or of nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -99, max: 99 }), { minLength: 6, maxLength: 70 }), (values) => {
        const { p, estimate, low, high } = signedRank(values)
        const turned = signedRank(values.map((v) => -3 * v))
        expect(turned.p).toBeCloseTo(p, 9)
        expect(turned.estimate).toBeCloseTo(-3 * estimate, 9)
        expect(turned.low).toBeCloseTo(-3 * high, 9)
        expect(low).toBeLessThanOrEqual(estimate)
        expect(p).toBeGreaterThan(0)
        expect(p).toBeLessThanOrEqual(1)
      }),
    )
    expect(signedRank([]).p).toBe(1)
    expect(signedRank([0, 0, 0]).p).toBe(1)
    expect(signedRank([1, 2]).low).toBe(Number.NEGATIVE_INFINITY)
  })
})

describe("Holm's correction", () => {
  it('multiplies the least p by the number of tests, and never turns the order round', () => {
    expect(holm([0.01, 0.04, 0.03])).toEqual([0.03, 0.06, 0.06])
    expect(holm([])).toEqual([])
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 }), (ps) => {
        const all = holm(ps)
        ps.forEach((p, i) => {
          expect(all[i]).toBeGreaterThanOrEqual(p)
          expect(all[i]).toBeLessThanOrEqual(1)
          ps.forEach((q, j) => {
            if (p < q) expect(all[i]).toBeLessThanOrEqual(all[j] ?? 0)
          })
        })
      }),
    )
  })
})

/** Numbers of a fixed sequence that look random, 0 to 1. */
const random = (seed: number) => {
  let state = seed >>> 0
  return (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A series without a difference, in which each step is like the one before by `like`. */
const noise = (steps: number, like: number, next: () => number): number[] => {
  let last = 0
  return Array.from({ length: steps }, () => {
    const fresh = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
    last = like * last + Math.sqrt(1 - like * like) * fresh
    return last
  })
}

describe('steps that are like the ones before', () => {
  it.each([0, 0.3, 0.6, 0.85])('do not pass for a difference, alike by %f', (like) => {
    const next = random(7)
    const series = Array.from({ length: 400 }, () => batched(noise(400, like, next)))
    const wrong = series.filter(({ values, independent }) => independent && signedRank(values).p <= 0.05)
    // One in twenty by construction, and some room: pieces are never quite apart.
    expect(wrong.length / series.length).toBeLessThan(0.1)
  })

  it('still show a difference that is there', () => {
    const next = random(8)
    const found = Array.from({ length: 50 }, () => batched(noise(400, 0.6, next).map((d) => d + 1))).filter(
      ({ values }) => signedRank(values).p <= 0.05,
    )
    expect(found.length).toBeGreaterThan(45)
  })

  it('are taken one by one where they are apart, and at most as many as asked for', () => {
    const next = random(9)
    expect(batched(noise(24, 0, next)).size).toBe(1)
    expect(batched(noise(5000, 0, next)).values.length).toBeLessThanOrEqual(128)
    const drift = Array.from({ length: 100 }, (_, i) => i)
    expect(batched(drift)).toMatchObject({ independent: false })
    expect(batched([])).toEqual({ values: [], size: 1, independent: true })
  })
})
