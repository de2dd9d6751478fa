/** Difference of a merged vector from its reference, over one (row, head). */
export interface VectorError {
  /** Largest |value - reference|; NaN when a value is NaN. */
  readonly maxAbs: number
  /** Index of that largest difference, or of the first NaN; -1 for an empty vector. */
  readonly at: number
  /** Norm of the difference over the norm of the reference; 0 when both vanish, NaN when a value is NaN. */
  readonly relative: number
}

/** Compares two vectors of equal length; RangeError otherwise. */
export const vectorError = (values: ArrayLike<number>, reference: ArrayLike<number>): VectorError => {
  if (values.length !== reference.length)
    throw new RangeError(
      `values must be as long as the reference (${reference.length}), got ${values.length}`,
    )
  let maxAbs = -1
  let at = -1
  let difference = 0
  let norm = 0
  for (let i = 0; i < values.length; i++) {
    const truth = reference[i] ?? Number.NaN
    const d = Math.abs((values[i] ?? Number.NaN) - truth)
    difference += d * d
    norm += truth * truth
    if (d > maxAbs || (Number.isNaN(d) && !Number.isNaN(maxAbs))) {
      maxAbs = d
      at = i
    }
  }
  return { maxAbs: Math.max(maxAbs, 0), at, relative: difference === 0 ? 0 : Math.sqrt(difference / norm) }
}
