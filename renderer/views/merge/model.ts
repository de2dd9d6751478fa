import { convertLse, type LseBase } from '../../../app/lse/base.ts'
import { type VectorError, vectorError } from '../../../app/lse/error.ts'
import { mergePartials, mergeWeights } from '../../../app/lse/merge.ts'
import type { StoreResult } from '../../../app/protocol/store.ts'

export type CaptureShape = StoreResult<'capture'>
export type MergeInput = StoreResult<'mergeRow'>

/** How a rank's lse reads: a number, or one of the three ways of saying "no keys". */
export type LseState = 'finite' | 'empty' | 'nan' | 'plusInf'

/** One rank's part in the merge of one row and head. */
export interface RankPart {
  readonly rank: number
  readonly lse: number
  readonly state: LseState
  /** b^(lse - LSE), 0 to 1. */
  readonly weight: number
  /** Euclidean norm of the partial; NaN when a value is NaN. */
  readonly norm: number
  /** Keys that the row sees on this rank; null while the bundle has no row statistics of the step. */
  readonly visibleKeys: number | null
  /** What is odd about it: keys without an lse, an lse without keys, NaN that has weight. */
  readonly trouble: string | null
}

export interface MergeModel {
  readonly ranks: readonly RankPart[]
  readonly weightSum: number
  /** Merged log-sum-exp of our recomputation, in the base of the capture. */
  readonly lse: number
  readonly referenceLse: number | null
  /** Merge of the captured partials, recomputed here in fp64. */
  readonly recomputed: Float64Array
  readonly merged: Float32Array
  readonly reference: Float64Array | null
  readonly mergedRank: number
  /** The engine's merged vector against our recomputation: rounding on the wire, or a wrong merge. */
  readonly againstRecomputed: VectorError
  /** The engine's merged vector against the unsharded reference; null without one. */
  readonly againstReference: VectorError | null
  /** Our recomputation against the reference: the error that the partials themselves bring. */
  readonly partialsAgainstReference: VectorError | null
}

const stateOf = (lse: number): LseState =>
  Number.isNaN(lse)
    ? 'nan'
    : lse === Number.POSITIVE_INFINITY
      ? 'plusInf'
      : lse === Number.NEGATIVE_INFINITY
        ? 'empty'
        : 'finite'

const normOf = (values: ArrayLike<number>, from: number, count: number): number => {
  let sum = 0
  for (let i = from; i < from + count; i++) sum += (values[i] ?? Number.NaN) ** 2
  return Math.sqrt(sum)
}

/** Without keys a partial must be neutral: out 0, and an lse that merges read as nothing. */
const troubleOf = (
  state: LseState,
  weight: number,
  norm: number,
  visibleKeys: number | null,
): string | null => {
  if (weight > 0 && Number.isNaN(norm)) return 'NaN goes into the result'
  if (visibleKeys === null) return null
  if (visibleKeys === 0) {
    if (state === 'finite') return 'an lse without keys'
    return norm === 0 ? null : 'out is not 0 without keys'
  }
  if (state === 'nan') return 'lse is NaN: its keys are lost'
  return state === 'finite' ? null : 'keys, but no lse'
}

const partsOf = (
  { lse, out }: MergeInput,
  capture: CaptureShape,
  row: number,
  weights: Float64Array,
): RankPart[] =>
  Array.from(lse, (value, rank) => {
    const state = stateOf(value)
    const weight = weights[rank] ?? 0
    const norm = normOf(out, rank * capture.width, capture.width)
    const known = capture.visibleKeys[rank * capture.rows + row] ?? -1
    const visibleKeys = known < 0 ? null : known
    return {
      rank,
      lse: value,
      state,
      weight,
      norm,
      visibleKeys,
      trouble: troubleOf(state, weight, norm, visibleKeys),
    }
  })

/** Everything that the view says about one row and head of a capture. */
export const mergeModel = (input: MergeInput, capture: CaptureShape, row: number): MergeModel => {
  const { lse, out, merged, reference } = input
  const { width, lseBase: base } = capture
  const weights = mergeWeights(lse, base)
  const recomputed = mergePartials({ lse, out, width, base })
  return {
    ranks: partsOf(input, capture, row, weights),
    weightSum: weights.reduce((sum, w) => sum + w, 0),
    lse: recomputed.lse,
    referenceLse: input.referenceLse,
    recomputed: recomputed.out,
    merged,
    reference,
    mergedRank: input.mergedRank,
    againstRecomputed: vectorError(merged, recomputed.out),
    againstReference: reference === null ? null : vectorError(merged, reference),
    partialsAgainstReference: reference === null ? null : vectorError(recomputed.out, reference),
  }
}

/** A rank's share of the merged vector: weight times partial, 0 where the weight is. */
export const shareOf = ({ out }: MergeInput, width: number, rank: number, weight: number): Float64Array =>
  Float64Array.from({ length: width }, (_, d) =>
    weight === 0 ? 0 : weight * (out[rank * width + d] ?? Number.NaN),
  )

/** The same with every lse in another base; weights and errors are of numbers that do not change. */
export const inBase = (model: MergeModel, from: LseBase, to: LseBase): MergeModel =>
  from === to
    ? model
    : {
        ...model,
        ranks: model.ranks.map((part) => ({ ...part, lse: convertLse(part.lse, from, to) })),
        lse: convertLse(model.lse, from, to),
        referenceLse: model.referenceLse === null ? null : convertLse(model.referenceLse, from, to),
      }
