import type { LseBase } from '../../lse/base.ts'
import { mergeWeights } from '../../lse/merge.ts'
import { type Case, weighsOwn } from '../case.ts'
import type { Hypothesis, MergeInput, MergePrediction } from '../hypothesis.ts'
import { needs, REFERENCE } from '../needs.ts'

export const otherBase = (base: LseBase): LseBase => (base === 'e' ? '2' : 'e')

const flipped = ({ lse, baseOf }: MergeInput, rank: number): Float64Array =>
  mergeWeights(lse, otherBase(baseOf(rank)))

const merge = (c: Case): MergePrediction[] =>
  weighsOwn(c)
    ? [
        {
          detail: 'with the lse taken for the other base than the dump says',
          weights: (input, weights) => {
            for (let rank = 0; rank < weights.length; rank++) weights[rank] = flipped(input, rank)[rank] ?? 0
          },
        },
        ...c.ranks.map(({ rank }) => ({
          detail: `with the lse taken for the other base than the dump says on rank ${rank} alone`,
          rank,
          weights: (input: MergeInput, weights: Float64Array): void => {
            weights[rank] = flipped(input, rank)[rank] ?? 0
          },
        })),
      ]
    : [
        {
          detail: 'with the lse taken for the other base than the dump says',
          weights: (input, weights) => weights.set(flipped(input, input.keeper)),
        },
      ]

export const lseBaseMismatch: Hypothesis = {
  fault: 'lse-base-mismatch',
  title: 'LSE in another base than the merge takes it for',
  causes: [
    {
      text: 'the merge picks its base by the name of the back-end or a flag of its class, and the kernel that really runs has the other one',
      source: 'sgl-project/sglang#33064',
    },
    {
      text: 'a kernel that returns base 2 under a class that says base e',
      source: 'vllm-project/vllm#47079',
    },
    {
      text: 'the base of the returned lse differs between kernels of one wrapper',
      source: 'flashinfer-ai/flashinfer#4485',
    },
  ],
  captureNext:
    'q, kv, block_table, seq_lens_global, out, lse and merged of all ranks, and lse_base as the merge assumes it',
  needs: [needs(...REFERENCE, 'out', 'lse', 'merged', 'lse_base')],
  merge,
}
