import type { Case } from '../case.ts'
import type { Hypothesis, MergePrediction } from '../hypothesis.ts'
import { needs } from '../needs.ts'

/** The slice of heads of the rank that lies `by` further, in the place of each rank's own. */
const merge = (c: Case): MergePrediction[] => {
  const slice = c.heads / c.dcp
  return Array.from({ length: c.dcp - 1 }, (_, i) => ({
    detail: `as the heads of the rank ${i + 1} further`,
    headFor: (head: number): number => (head + (i + 1) * slice) % c.heads,
  }))
}

export const headOrderPermuted: Hypothesis = {
  fault: 'head-order-permuted',
  title: 'Heads arrive in the order of other ranks',
  causes: [
    {
      text: 'the order of ranks in the process group of the collective is not that of the head slices',
      source: 'NVIDIA/TensorRT-LLM#10350',
    },
  ],
  captureNext: 'out, lse and merged of all ranks, and the ranks of the process group in their order',
  needs: [needs('out', 'lse', 'merged')],
  merge,
}
