/**
 * Log-sum-exp (lse) of a partial: log_b of the sum of exp of its scaled scores. Which base b a kernel uses is
 * the kernel's choice (FlashMLA and FA3 e, FlashInfer and trtllm-gen 2); taking one for the other raises no
 * error and no NaN, it weights a rank by Z^0.693 or Z^1.443 instead of Z.
 */
export type LseBase = 'e' | '2'

export const LSE_BASES: readonly LseBase[] = ['e', '2']

/** lse of a partial without keys; with an output of 0 it is the neutral element of the merge. */
export const EMPTY_LSE = Number.NEGATIVE_INFINITY

/** The same sum in another base; infinities and NaN stay what they are. */
export const convertLse = (lse: number, from: LseBase, to: LseBase): number => {
  if (from === to) return lse
  return from === 'e' ? lse * Math.LOG2E : lse * Math.LN2
}

/** b^x. */
export const power = (x: number, base: LseBase): number => (base === 'e' ? Math.exp(x) : 2 ** x)

/** log_b x. */
export const logarithm = (x: number, base: LseBase): number => (base === 'e' ? Math.log(x) : Math.log2(x))

/** What merges read: NaN and +inf mean "no keys" like -inf, since several kernels write those for empty rows. */
export const cleanLse = (lse: number): number =>
  Number.isNaN(lse) || lse === Number.POSITIVE_INFINITY ? EMPTY_LSE : lse
