import { LSE_BASES, logarithm, power } from '../../lse/base.ts'
import type { Case, RankTables } from '../case.ts'
import { readRow } from '../rows.ts'

/**
 * What a row holds that should be neutral: `zeros`: attention to several keys of zeros, which weigh all the same; `zero`: to one,
 * or memory of zeros; `garbage`: what no attention gives; `keys`: what attention to some keys may give, or what was in memory.
 */
export type EmptyContent = 'zeros' | 'zero' | 'garbage' | 'keys'

/** Distance of an lse from the logarithm of a whole number that arithmetic makes, and up to which number that tells something. */
const OFF_WHOLE = 1e-5
const MOST_KEYS = 1 << 13

/** Of a row of a rank; with one head nothing tells values that all heads share. */
export const emptyContent = async (c: Case, rank: RankTables, row: number): Promise<EmptyContent> => {
  const lse = (rank.lse ?? rank.lseKernel)?.subarray(row * c.heads, (row + 1) * c.heads)
  const out = (await readRow(c, rank.rank, 'out', row)) ?? (await readRow(c, rank.rank, 'out_kernel', row))
  const values = out ?? new Float64Array()
  if (![...values, ...(lse ?? [])].every(Number.isFinite)) return 'garbage'
  const isZero = values.every((value) => value === 0)
  if (lse !== undefined && isAlike(lse) && isZero) {
    const count = wholeOf(lse[0] ?? 0)
    if (count !== undefined) return count > 1 ? 'zeros' : 'zero'
  }
  if (c.heads < 2) return 'keys'
  // Every head has queries of its own, and so other scores; and no vector of values is one number throughout.
  const isAttention = lse === undefined || !isAlike(lse)
  return isAttention && (isZero || !isAlike(values)) ? 'keys' : 'garbage'
}

const isAlike = (values: Float64Array): boolean =>
  values.every((value) => Math.abs(value - (values[0] ?? 0)) <= Math.abs(value) * 1e-6)

/** Of how many keys with scores of 0 an lse is; undefined where it is that of none. */
const wholeOf = (lse: number): number | undefined => {
  for (const base of LSE_BASES) {
    const count = Math.round(power(lse, base))
    if (count >= 1 && count <= MOST_KEYS && Math.abs(logarithm(count, base) - lse) <= OFF_WHOLE) return count
  }
  return undefined
}
