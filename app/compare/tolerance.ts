/** Types of a cache. */
export type CacheType = 'fp32' | 'bf16' | 'fp8' | 'fp8_ds_mla'

/** Half of the distance between neighbouring numbers of a type, relative: the most that rounding to it moves a value. */
const ROUNDING: Readonly<Record<CacheType, number>> = {
  fp32: 2 ** -24,
  bf16: 2 ** -9,
  fp8: 2 ** -4,
  fp8_ds_mla: 2 ** -4,
}

/**
 * How far results of two runs may be apart by rounding alone: the relative norm of outputs, and the natural lse, absolute. With
 * one type of cache both read the same values and differ by the order of sums and by types in between, which is what the check
 * of a run allows; with two, by what the coarser one rounds as well. A cache that is not known counts as bf16.
 */
export const divergenceTolerance = (a: CacheType | undefined, b: CacheType | undefined): number => {
  const [first, second] = [a ?? 'bf16', b ?? 'bf16']
  const sums = first === 'fp32' && second === 'fp32' ? 1e-5 : 1e-2
  return first === second ? sums : Math.max(sums, ROUNDING[first], ROUNDING[second])
}
