import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { convertLse } from '../../../app/lse/base.ts'
import { counterfactual, mistakesOf } from '../../../app/lse/counterfactual.ts'
import { mergePartials, type Partials } from '../../../app/lse/merge.ts'

/** Two ranks with softmax masses 2 and 8 whose values are 0 and 10: right is 8. */
const toy = (base: 'e' | '2'): Partials => ({
  lse: [2, 8].map((mass) => (base === 'e' ? Math.log(mass) : Math.log2(mass))),
  out: [0, 10],
  width: 1,
  base,
})

describe('a merge with a mistake', () => {
  it('gives the numbers of the worked example for a wrong base', () => {
    expect(counterfactual(toy('e'), { kind: 'base' }).out[0]).toBeCloseTo(7.23303, 5)
    expect(counterfactual(toy('2'), { kind: 'base' }).out[0]).toBeCloseTo(8.80797, 5)
    expect(counterfactual(toy('e'), { kind: 'base' }).error.relative).toBeCloseTo((8 - 7.23303) / 8, 5)
  })

  it('without a rank is the merge of the others, and with equal weights their mean', () => {
    expect(counterfactual(toy('e'), { kind: 'dropped', rank: 1 }).out[0]).toBe(0)
    const dropped = counterfactual(toy('e'), { kind: 'dropped', rank: 0 })
    expect([...dropped.weights, dropped.out[0]]).toEqual([0, 1, 10])
    expect(counterfactual(toy('e'), { kind: 'equal' }).out[0]).toBeCloseTo(5)
  })

  it('of the base of one rank changes nothing where that rank is alone, and is undone by converting back', () => {
    const { lse, out, width, base } = toy('e')
    const one = counterfactual({ lse, out, width, base }, { kind: 'rankBase', rank: 1 })
    const undone = mergePartials({ lse: [lse[0] ?? 0, convertLse(lse[1] ?? 0, 'e', '2')], out, width, base })
    expect([...one.out]).toEqual([...undone.out])
    const alone = { lse: [3], out: [7, 8], width: 2, base: 'e' as const }
    expect(counterfactual(alone, { kind: 'rankBase', rank: 0 }).error.relative).toBe(0)
  })

  it('makes no NaN of a rank without keys, and keeps weights that sum to 1', () => {
    const values = fc.double({ min: -20, max: 20, noNaN: true })
    fc.assert(
      fc.property(
        fc.array(fc.option(values, { nil: Number.NEGATIVE_INFINITY }), { minLength: 2, maxLength: 6 }),
        (lse) => {
          const out = lse.map((value, rank) => (value === Number.NEGATIVE_INFINITY ? Number.NaN : rank + 1))
          for (const mistake of mistakesOf(lse.length)) {
            // With equal weights a rank without keys is not left out: that is what is wrong with it.
            if (mistake.kind === 'equal') continue
            const { weights, out: merged } = counterfactual({ lse, out, width: 1, base: 'e' }, mistake)
            const sum = weights.reduce((all, weight) => all + weight, 0)
            expect(sum === 0 || Math.abs(sum - 1) < 1e-9).toBe(true)
            expect(merged[0]).not.toBeNaN()
          }
        },
      ),
    )
    expect(mistakesOf(1)).toEqual([])
    expect(mistakesOf(3)).toHaveLength(8)
  })
})
