import { cleanLse, EMPTY_LSE, type LseBase, logarithm, power } from './base.ts'

/**
 * Merge of partial attention results, in fp64. LSE = log_b sum_r b^(lse_r); out = sum_r b^(lse_r - LSE) * out_r.
 * NaN and +inf in lse count as -inf. A payload of weight 0 is skipped, never multiplied: 0 * NaN is NaN, and
 * rows without keys hold garbage in several kernels. NaN in a payload that has weight passes through.
 * Rules as in vLLM's correct_attn_out and dcp_a2a_lse_reduce.
 */

/** Partials of one row and head: `lse` [n], `out` [n * width] row major, `base` the base of lse. */
export interface Partials {
  readonly lse: ArrayLike<number>
  readonly out: ArrayLike<number>
  readonly width: number
  readonly base: LseBase
}

/** Result of a merge: `out` [width], `lse` in the base of the partials; (0, -inf) without any key. */
export interface Merged {
  readonly out: Float64Array
  readonly lse: number
}

/** LSE over n partials; -inf when all are empty. */
export const mergeLse = (lse: ArrayLike<number>, base: LseBase): number => {
  let max = EMPTY_LSE
  for (let r = 0; r < lse.length; r++) max = Math.max(max, cleanLse(lse[r] ?? EMPTY_LSE))
  if (max === EMPTY_LSE) return EMPTY_LSE
  let sum = 0
  for (let r = 0; r < lse.length; r++) sum += power(cleanLse(lse[r] ?? EMPTY_LSE) - max, base)
  return max + logarithm(sum, base)
}

/** Factor on a partial's output, b^(lse - merged): 0 for a partial without keys, whatever it wrote as lse. */
export const mergeWeight = (lse: number, merged: number, base: LseBase): number => {
  const clean = cleanLse(lse)
  return clean === EMPTY_LSE || merged === EMPTY_LSE ? 0 : power(clean - merged, base)
}

/** Factors of n partials; they sum to 1, or are all 0 when every partial is empty. */
export const mergeWeights = (lse: ArrayLike<number>, base: LseBase): Float64Array => {
  const merged = mergeLse(lse, base)
  return Float64Array.from(lse, (value) => mergeWeight(value, merged, base))
}

/** Adds `weight` times `out[from, from + sum.length)` to `sum`; a weight of 0 adds nothing, not 0 * NaN. */
const accumulate = (sum: Float64Array, weight: number, out: ArrayLike<number>, from: number): void => {
  if (weight === 0) return
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + weight * (out[from + i] ?? Number.NaN)
}

/** Merges n partials. RangeError when `out` is not lse.length * width long. */
export const mergePartials = ({ lse, out, width, base }: Partials): Merged => {
  if (!Number.isInteger(width) || width < 0)
    throw new RangeError(`width must be a whole number from 0 on, got ${width}`)
  if (out.length !== lse.length * width)
    throw new RangeError(`out must hold ${lse.length} partials of width ${width}, got ${out.length} values`)
  const merged = mergeLse(lse, base)
  const sum = new Float64Array(width)
  for (let r = 0; r < lse.length; r++)
    accumulate(sum, mergeWeight(lse[r] ?? EMPTY_LSE, merged, base), out, r * width)
  return { out: sum, lse: merged }
}

/**
 * One rank's share of the result, as `ag_rs` scales it between the all-gather of lse and the reduce-scatter:
 * b^(lse - merged) * out, exactly 0 where the factor is 0. The shares of all ranks sum to the merged output.
 */
export const correctPartial = (
  out: ArrayLike<number>,
  lse: number,
  merged: number,
  base: LseBase,
): Float64Array => {
  const share = new Float64Array(out.length)
  accumulate(share, mergeWeight(lse, merged, base), out, 0)
  return share
}
