import type { RankPart } from './model.ts'

/** A rank's part of the bar of weights; `from` and `size` are shares of the whole bar. */
export interface Segment {
  readonly rank: number
  readonly from: number
  readonly size: number
}

/** Segments of the ranks that have weight, in rank order; together they fill 0 to 1 when any key exists. */
export const segmentsOf = (ranks: readonly RankPart[]): Segment[] => {
  let from = 0
  return ranks
    .filter((r) => r.weight > 0)
    .map((r) => {
      const segment = { rank: r.rank, from, size: r.weight }
      from += r.weight
      return segment
    })
}
