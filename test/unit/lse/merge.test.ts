import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanLse, convertLse, LSE_BASES, type LseBase } from '../../../app/lse/base.ts'
import { correctPartial, mergeLse, mergePartials, mergeWeights } from '../../../app/lse/merge.ts'

const WIDTH = 3
const bases = fc.constantFrom<LseBase>(...LSE_BASES)
const finite = (max: number) => fc.double({ min: -max, max, noNaN: true })

/** Keys of one rank: a score and a value vector each; a rank may have none. */
interface Key {
  score: number
  value: number[]
}
const keys = fc.array(
  fc.record({ score: finite(30), value: fc.array(finite(4), { minLength: WIDTH, maxLength: WIDTH }) }),
  { maxLength: 6 },
)
const ranks = fc.array(keys, { minLength: 1, maxLength: 8 })

interface One {
  lse: number
  out: number[]
}

/** Softmax over the keys, directly: the definition that merges are held against. */
const attend = (rank: readonly Key[], base: LseBase): One => {
  const max = Math.max(...rank.map((k) => k.score))
  const mass = rank.map((k) => Math.exp(k.score - max))
  const sum = mass.reduce((a, b) => a + b, 0)
  const out = Array.from({ length: WIDTH }, (_, d) =>
    rank.reduce((total, k, i) => total + ((mass[i] ?? 0) / sum) * (k.value[d] ?? 0), 0),
  )
  if (rank.length === 0) return { lse: Number.NEGATIVE_INFINITY, out: out.map(() => 0) }
  return { lse: convertLse(max + Math.log(sum), 'e', base), out }
}

const merge = (partials: readonly One[], base: LseBase): One => {
  const merged = mergePartials({
    lse: partials.map((p) => p.lse),
    out: partials.flatMap((p) => p.out),
    width: WIDTH,
    base,
  })
  return { lse: merged.lse, out: [...merged.out] }
}

const expectClose = (got: One, wanted: One): void => {
  if (wanted.lse === Number.NEGATIVE_INFINITY) expect(got.lse).toBe(wanted.lse)
  else expect(got.lse).toBeCloseTo(wanted.lse, 9)
  for (const [d, value] of wanted.out.entries()) expect(got.out[d]).toBeCloseTo(value, 9)
}

describe('a merge of partials', () => {
  it('equals the softmax over the union of the keys, in either base', () => {
    fc.assert(
      fc.property(ranks, bases, (shards, base) => {
        expectClose(
          merge(
            shards.map((s) => attend(s, base)),
            base,
          ),
          attend(shards.flat(), base),
        )
      }),
    )
  })

  it('does not depend on the order of the ranks', () => {
    fc.assert(
      fc.property(ranks, bases, fc.integer(), (shards, base, seed) => {
        const partials = shards.map((s) => attend(s, base))
        const shuffled = partials
          .map((p, i) => ({ p, key: Math.imul(i + 1, seed | 1) }))
          .sort((a, b) => a.key - b.key)
          .map(({ p }) => p)
        expectClose(merge(shuffled, base), merge(partials, base))
      }),
    )
  })

  it('may be done in groups', () => {
    fc.assert(
      fc.property(ranks, ranks, bases, (left, right, base) => {
        const a = left.map((s) => attend(s, base))
        const b = right.map((s) => attend(s, base))
        expectClose(merge([merge(a, base), merge(b, base)], base), merge([...a, ...b], base))
      }),
    )
  })

  it('gives weights that sum to 1, or none when every rank is empty', () => {
    fc.assert(
      fc.property(ranks, bases, (shards, base) => {
        const weights = mergeWeights(
          shards.map((s) => attend(s, base).lse),
          base,
        )
        const sum = weights.reduce((a, b) => a + b, 0)
        if (shards.flat().length === 0) expect(sum).toBe(0)
        else expect(sum).toBeCloseTo(1, 12)
      }),
    )
  })

  it('is the sum of the shares that each rank scales by itself', () => {
    fc.assert(
      fc.property(ranks, bases, (shards, base) => {
        const partials = shards.map((s) => attend(s, base))
        const merged = merge(partials, base)
        const shares = partials.map((p) => correctPartial(p.out, p.lse, merged.lse, base))
        const sum = merged.out.map((_, d) => shares.reduce((total, s) => total + (s[d] ?? 0), 0))
        expectClose({ lse: merged.lse, out: sum }, merged)
      }),
    )
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'ignores the garbage of a rank whose lse is %d',
    (lse) => {
      const one = { lse: 2, out: [1, 2, 3] }
      const empty = { lse, out: [Number.NaN, Number.POSITIVE_INFINITY, 7] }
      expect(merge([one, empty], 'e')).toEqual(one)
      expect([...correctPartial(empty.out, lse, 2, 'e')]).toEqual([0, 0, 0])
    },
  )

  it('is (0, -inf) when every rank is empty, not NaN', () => {
    const empty = { lse: Number.NaN, out: [Number.NaN, Number.NaN, Number.NaN] }
    const nothing = { lse: Number.NEGATIVE_INFINITY, out: [0, 0, 0] }
    expect(merge([empty, empty], '2')).toEqual(nothing)
    expect(merge([], '2')).toEqual(nothing)
    expect([...correctPartial(empty.out, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 'e')]).toEqual([
      0, 0, 0,
    ])
  })

  it('lets NaN through from a rank that has weight', () => {
    const bad = { lse: 1, out: [Number.NaN, 1, 1] }
    expect(merge([{ lse: 1, out: [1, 1, 1] }, bad], '2').out).toEqual([Number.NaN, 1, 1])
  })

  it('does not overflow where the sum would', () => {
    expect(mergeLse([2000, 2000], '2')).toBe(2001)
    expect(mergeLse([-2000, -2000], '2')).toBe(-1999)
  })

  it('refuses payloads that do not fit the ranks', () => {
    const call = () => mergePartials({ lse: [1, 2], out: [1, 2, 3], width: 2, base: 'e' })
    expect(call).toThrow(RangeError)
    expect(call).toThrow('out must hold 2 partials of width 2, got 3 values')
  })
})

describe('the base of lse', () => {
  const toy = (given: LseBase, taken: LseBase): number =>
    mergePartials({
      lse: [2, 8].map((z) => convertLse(Math.log(z), 'e', given)),
      out: [0, 10],
      width: 1,
      base: taken,
    }).out[0] ?? Number.NaN

  it.each([
    ['e', 'e', 8],
    ['2', '2', 8],
    ['e', '2', 7.23303],
    ['2', 'e', 8.80797],
  ] as const)('shows in no NaN when mixed up: base %s merged as base %s gives %d', (given, taken, value) => {
    expect(toy(given, taken)).toBeCloseTo(value, 5)
  })

  it('converts there and back, and leaves what is not a number alone', () => {
    fc.assert(
      fc.property(finite(1e6), (x) => {
        expect(convertLse(convertLse(x, 'e', '2'), '2', 'e')).toBeCloseTo(x, 6)
      }),
    )
    expect(convertLse(Number.NEGATIVE_INFINITY, 'e', '2')).toBe(Number.NEGATIVE_INFINITY)
    expect(convertLse(Number.NaN, '2', 'e')).toBeNaN()
    expect(convertLse(1, 'e', '2')).toBeCloseTo(Math.LOG2E, 12)
  })

  it('reads NaN and +inf as no keys', () => {
    expect([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 3].map(cleanLse)).toEqual([
      Number.NEGATIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      3,
    ])
  })
})
