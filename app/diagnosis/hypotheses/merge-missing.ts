import type { Hypothesis } from '../hypothesis.ts'
import { needs } from '../needs.ts'

export const mergeMissing: Hypothesis = {
  fault: 'merge-missing',
  title: 'Every rank keeps its own partial',
  causes: [
    {
      text: 'a path (prefill in the known case) that attends to the shard of the rank and never merges',
      source: 'vllm-project/vllm, FlashInfer prefill under DCP falls back to the native path',
    },
  ],
  captureNext: 'out, lse and merged of all ranks',
  needs: [needs('out', 'lse', 'merged')],
  merge: () => [
    {
      detail: "as the rank's own partial",
      weights: ({ keeper }, weights) => {
        weights.fill(0)
        weights[keeper] = 1
      },
    },
  ],
}
