import { mean, median } from '../statistics/sample.ts'

/** A series as medians of equally long pieces that follow each other: a disturbance of some steps then is in one or two of them. */
export interface Batches {
  readonly values: readonly number[]
  /** Steps of a piece. */
  readonly size: number
  /** Whether neighbouring pieces are no more alike than chance makes them. */
  readonly independent: boolean
}

/** Pieces of which there are at least so many are joined in pairs. */
const LEAST = 10

/**
 * Joins steps until neighbouring pieces are no longer alike, while enough pieces are left; at most `most` of them. Steps behind
 * the last whole piece are left out.
 */
export const batched = (series: readonly number[], most = 128): Batches => {
  let size = Math.max(1, Math.ceil(series.length / most))
  for (;;) {
    const values = pieces(series, size)
    const independent = !isCorrelated(values)
    if (independent || Math.floor(series.length / (2 * size)) < LEAST) return { values, size, independent }
    size *= 2
  }
}

const pieces = (series: readonly number[], size: number): number[] =>
  size === 1
    ? [...series]
    : Array.from({ length: Math.floor(series.length / size) }, (_, i) =>
        median(series.slice(i * size, (i + 1) * size)),
      )

/** Whether values are more like the ones before them than the values of a shuffled series, one in six of which are. */
const isCorrelated = (values: readonly number[]): boolean => {
  const middle = mean(values)
  let own = 0
  let next = 0
  values.forEach((value, i) => {
    own += (value - middle) ** 2
    if (i > 0) next += (value - middle) * ((values[i - 1] ?? middle) - middle)
  })
  return own > 0 && values.length >= LEAST && next / own > 1 / Math.sqrt(values.length)
}
