import fc from 'fast-check'
import type { Paging } from '../../../app/dcp/types.ts'

/** dcp up to 16, page up to 64, interleave a divisor of the page. */
export const pagings: fc.Arbitrary<Paging> = fc
  .record({ dcp: fc.integer({ min: 1, max: 16 }), page: fc.integer({ min: 1, max: 64 }) })
  .chain(({ dcp, page }) => {
    const divisors = Array.from({ length: page }, (_, i) => i + 1).filter((d) => page % d === 0)
    return fc.constantFrom(...divisors).map((interleave) => ({ dcp, page, interleave }))
  })

export const lengths = fc.integer({ min: 0, max: 10_000 })

/** [0, 1, ..., n - 1] */
export const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i)
