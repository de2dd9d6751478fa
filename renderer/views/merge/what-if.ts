import { counterfactual, type Mistake, mistakesOf } from '../../../app/lse/counterfactual.ts'
import { type VectorError, vectorError } from '../../../app/lse/error.ts'
import type { CaptureShape, MergeInput, MergeModel } from './model.ts'

/** A mistake on the real partials of a row and head. */
export interface WhatIf {
  readonly mistake: Mistake
  readonly text: string
  readonly weights: Float64Array
  /** Against the right merge of the same partials. */
  readonly error: VectorError
  /** Whether the engine's result is what this mistake makes, and not what a right merge does. */
  readonly isEngine: boolean
}

/** Relative error up to which two merges are the same but for rounding in flight. */
const SAME = 1e-2

const textOf = (mistake: Mistake, base: CaptureShape['lseBase']): string => {
  const other = base === 'e' ? '2' : 'e'
  switch (mistake.kind) {
    case 'base':
      return `all lse taken for base ${other}`
    case 'rankBase':
      return `lse of rank ${mistake.rank} in base ${other}`
    case 'dropped':
      return `rank ${mistake.rank} dropped`
    case 'equal':
      return 'lse ignored, equal weights'
  }
}

/** Every mistake on these partials. */
export const whatIfs = (input: MergeInput, capture: CaptureShape, model: MergeModel): readonly WhatIf[] => {
  const partials = { lse: input.lse, out: input.out, width: capture.width, base: capture.lseBase }
  const isWrong = !(model.againstRecomputed.relative <= SAME)
  return mistakesOf(input.lse.length).map((mistake) => {
    const { weights, out, error } = counterfactual(partials, mistake)
    return {
      mistake,
      text: textOf(mistake, capture.lseBase),
      weights,
      error,
      // Mistakes that change nothing explain nothing.
      isEngine: isWrong && error.relative > SAME && vectorError(model.merged, out).relative <= SAME,
    }
  })
}
