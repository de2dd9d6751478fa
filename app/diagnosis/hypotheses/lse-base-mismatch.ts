import { LSE_BASES, type LseBase } from '../../lse/base.ts'
import { mergeWeights } from '../../lse/merge.ts'
import type { Case } from '../case.ts'
import type { Hypothesis, MergePrediction } from '../hypothesis.ts'
import { ofAllRanks, REFERENCE } from '../needs.ts'

export const otherBase = (base: LseBase): LseBase => (base === 'e' ? '2' : 'e')

const merge = (c: Case): MergePrediction[] => [
  {
    detail: `with the lse taken for base ${otherBase(c.lseBase ?? LSE_BASES[0] ?? 'e')}`,
    weights: ({ lse, base }, weights) => weights.set(mergeWeights(lse, otherBase(base))),
  },
  ...Array.from({ length: c.comm === 'a2a' || c.comm === 'p2p' || c.dcp === 1 ? 0 : c.dcp }, (_, rank) => ({
    detail: `with the lse taken for base ${otherBase(c.lseBase ?? 'e')} on rank ${rank} alone`,
    rank,
    weights: ({ lse, base }: { lse: Float64Array; base: LseBase }, weights: Float64Array): void => {
      weights[rank] = mergeWeights(lse, otherBase(base))[rank] ?? 0
    },
  })),
]

export const lseBaseMismatch: Hypothesis = {
  fault: 'lse-base-mismatch',
  title: 'LSE in another base than the merge takes it for',
  causes: [
    {
      text: 'the merge picks its base by the name of the back-end or a flag of its class, and the kernel that really runs has the other one',
      source: 'sgl-project/sglang#33064',
    },
    { text: 'a kernel that returns base 2 under a class that says base e', source: 'vllm-project/vllm#47079' },
    { text: 'the base of the returned lse differs between kernels of one wrapper', source: 'flashinfer-ai/flashinfer#4485' },
  ],
  captureNext: 'q, kv, block_table, seq_lens_global, out, lse and merged of all ranks, and lse_base as the merge assumes it',
  needs: [ofAllRanks(...REFERENCE, 'out', 'lse', 'merged', 'lse_base')],
  merge,
}
