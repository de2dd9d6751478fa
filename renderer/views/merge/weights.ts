import type { LseBase } from '../../../app/lse/base.ts'
import { mergeWeights } from '../../../app/lse/merge.ts'

/** How much of each row and head comes from which rank. */
export interface Weights {
  readonly ranks: number
  readonly rows: number
  readonly heads: number
  /** Weight of (rank, row, head), [c * T * H]; those of a row and head sum to 1, or are all 0 where it has no key. */
  readonly weight: Float32Array
  /** Whether a rank handed on NaN for (row, head), [T * H]. */
  readonly isNan: Uint8Array
}

/** Weights from the lse that the ranks handed on, [c * T * H]. */
export const weightsOf = (
  lse: Float32Array,
  { ranks, rows, heads, lseBase }: { ranks: number; rows: number; heads: number; lseBase: LseBase },
): Weights => {
  const cells = rows * heads
  const weight = new Float32Array(ranks * cells)
  const isNan = new Uint8Array(cells)
  const own = new Float32Array(ranks)
  for (let cell = 0; cell < cells; cell++) {
    for (let rank = 0; rank < ranks; rank++) own[rank] = lse[rank * cells + cell] ?? Number.NaN
    const weights = mergeWeights(own, lseBase)
    for (let rank = 0; rank < ranks; rank++) weight[rank * cells + cell] = weights[rank] ?? 0
    isNan[cell] = own.some(Number.isNaN) ? 1 : 0
  }
  return { ranks, rows, heads, weight, isNan }
}

/** Weight of a rank in a row and head. */
export const weightAt = ({ weight, rows, heads }: Weights, rank: number, row: number, head: number): number =>
  weight[(rank * rows + row) * heads + head] ?? 0

/** The rank from which most of a row and head comes, and how much; null where no rank has a key. */
export const heaviest = (
  weights: Weights,
  row: number,
  head: number,
): { readonly rank: number; readonly weight: number } | null => {
  let best: { rank: number; weight: number } | null = null
  for (let rank = 0; rank < weights.ranks; rank++) {
    const weight = weightAt(weights, rank, row, head)
    if (weight > (best?.weight ?? 0)) best = { rank, weight }
  }
  return best
}

/** Mean weight of each rank over all rows and heads that have keys, [c]. */
export const meanWeights = ({ ranks, rows, heads, weight }: Weights): number[] => {
  const cells = rows * heads
  const sums = Array.from({ length: ranks }, (_, rank) =>
    weight.subarray(rank * cells, (rank + 1) * cells).reduce((sum, one) => sum + one, 0),
  )
  const all = sums.reduce((sum, one) => sum + one, 0)
  return sums.map((sum) => (all === 0 ? 0 : sum / all))
}
