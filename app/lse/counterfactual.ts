import { convertLse, EMPTY_LSE, type LseBase } from './base.ts'
import { type VectorError, vectorError } from './error.ts'
import { mergePartials, mergeWeights, type Partials } from './merge.ts'

/** What could go wrong in a merge whose partials are right. */
export type Mistake =
  /** The lse are taken for those of the other base. */
  | { readonly kind: 'base' }
  /** Those of one rank come in the other base. */
  | { readonly kind: 'rankBase'; readonly rank: number }
  /** A rank has no say. */
  | { readonly kind: 'dropped'; readonly rank: number }
  /** No lse at all: every rank has the same weight. */
  | { readonly kind: 'equal' }

/** What a merge with a mistake makes of partials. */
export interface Counterfactual {
  readonly mistake: Mistake
  readonly weights: Float64Array
  readonly out: Float64Array
  /** Against the right merge of the same partials. */
  readonly error: VectorError
}

const otherBase = (base: LseBase): LseBase => (base === 'e' ? '2' : 'e')

/** lse and base as the mistaken merge takes them. */
const mistaken = ({ lse, base }: Partials, mistake: Mistake): { lse: Float64Array; base: LseBase } => {
  const all = Float64Array.from(lse)
  switch (mistake.kind) {
    case 'base':
      return { lse: all, base: otherBase(base) }
    case 'rankBase':
      return {
        lse: all.map((value, rank) =>
          rank === mistake.rank ? convertLse(value, base, otherBase(base)) : value,
        ),
        base,
      }
    case 'dropped':
      return { lse: all.map((value, rank) => (rank === mistake.rank ? EMPTY_LSE : value)), base }
    case 'equal':
      return { lse: all.map(() => 0), base }
  }
}

/** Merges partials with a mistake; RangeError as mergePartials. */
export const counterfactual = (partials: Partials, mistake: Mistake): Counterfactual => {
  const right = mergePartials(partials)
  const taken = mistaken(partials, mistake)
  const { out } = mergePartials({ ...partials, ...taken })
  return { mistake, weights: mergeWeights(taken.lse, taken.base), out, error: vectorError(out, right.out) }
}

/** Every mistake that can be made with so many ranks. */
export const mistakesOf = (ranks: number): readonly Mistake[] =>
  ranks < 2
    ? []
    : [
        { kind: 'base' },
        { kind: 'equal' },
        ...Array.from({ length: ranks }, (_, rank): Mistake => ({ kind: 'dropped', rank })),
        ...Array.from({ length: ranks }, (_, rank): Mistake => ({ kind: 'rankBase', rank })),
      ]
