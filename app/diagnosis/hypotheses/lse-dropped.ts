import { cleanLse, EMPTY_LSE } from '../../lse/base.ts'
import { type Case, weighsOwn } from '../case.ts'
import type { Hypothesis, MergeInput, MergePrediction } from '../hypothesis.ts'
import { needs } from '../needs.ts'

const merge = (c: Case): MergePrediction[] => {
  const count = ({ lse }: MergeInput): number =>
    lse.reduce((ranks, value) => ranks + (cleanLse(value) === EMPTY_LSE ? 0 : 1), 0)
  const rules: { detail: string; of: (input: MergeInput) => number }[] = [
    { detail: 'as the plain mean of the partials', of: () => 1 / c.dcp },
    { detail: 'as the plain sum of the partials', of: () => 1 },
    {
      detail: 'as the plain mean of the partials that have keys',
      of: (input) => 1 / Math.max(1, count(input)),
    },
  ]
  const alone = weighsOwn(c) ? c.ranks.map(({ rank }) => rank) : []
  return [
    ...rules.map(({ detail, of }) => ({
      detail,
      weights: (input: MergeInput, weights: Float64Array): void => {
        weights.fill(of(input))
      },
    })),
    ...rules.slice(0, 2).flatMap(({ detail, of }) =>
      alone.map((rank) => ({
        detail: `${detail} on rank ${rank} alone`,
        rank,
        weights: (input: MergeInput, weights: Float64Array): void => {
          weights[rank] = of(input)
        },
      })),
    ),
  ]
}

export const lseDropped: Hypothesis = {
  fault: 'lse-dropped',
  title: 'The LSE is lost on its way to the merge',
  causes: [
    {
      text: 'a layer that delegates to another kernel does not pass return_lse on, so that partials are averaged or summed',
      source: 'sgl-project/sglang, cutedsl_mla backend: delegation has to forward return_lse',
    },
  ],
  captureNext: 'out, lse and merged of all ranks',
  needs: [needs('out', 'lse', 'merged')],
  merge,
}
