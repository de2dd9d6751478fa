/** Vertical scale of a plot: values from min to max. */
export interface Range {
  readonly min: number
  readonly max: number
}

/** Range of the finite values of all vectors, with some air; [-1, 1] when there are none. */
export const rangeOf = (vectors: readonly ArrayLike<number>[]): Range => {
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (const vector of vectors)
    for (let i = 0; i < vector.length; i++) {
      const value = vector[i] ?? Number.NaN
      if (!Number.isFinite(value)) continue
      min = Math.min(min, value)
      max = Math.max(max, value)
    }
  if (min > max) return { min: -1, max: 1 }
  const air = (max - min) * 0.05 || Math.max(1e-12, Math.abs(max) * 0.1)
  return { min: min - air, max: max + air }
}

/** Consecutive entries without a finite value: [first, end). */
export interface Gap {
  readonly first: number
  readonly end: number
}

export const gapsOf = (vector: ArrayLike<number>): Gap[] => {
  const gaps: Gap[] = []
  let first = -1
  for (let i = 0; i <= vector.length; i++) {
    const bad = i < vector.length && !Number.isFinite(vector[i] ?? Number.NaN)
    if (bad && first < 0) first = i
    if (!bad && first >= 0) {
      gaps.push({ first, end: i })
      first = -1
    }
  }
  return gaps
}

/** Signed difference of each value from the reference, and the largest finite magnitude. */
export const signedErrors = (
  values: ArrayLike<number>,
  reference: ArrayLike<number>,
): { errors: Float64Array; limit: number } => {
  const errors = Float64Array.from(
    { length: values.length },
    (_, i) => (values[i] ?? Number.NaN) - (reference[i] ?? Number.NaN),
  )
  const limit = errors.reduce((most, e) => (Number.isFinite(e) ? Math.max(most, Math.abs(e)) : most), 0)
  return { errors, limit }
}

/** Entry under pixel `x` of a plot of `count` entries over `width` pixels; null outside. */
export const entryAt = (x: number, width: number, count: number): number | null => {
  const entry = Math.floor((x / width) * count)
  return entry >= 0 && entry < count ? entry : null
}
