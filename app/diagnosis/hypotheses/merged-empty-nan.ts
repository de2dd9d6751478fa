import type { Hypothesis } from '../hypothesis.ts'
import { needs } from '../needs.ts'

export const mergedEmptyNan: Hypothesis = {
  fault: 'merged-empty-nan',
  title: 'A row that no rank has keys for becomes NaN',
  causes: [
    {
      text: 'the merge divides by a sum of weights that is 0 where all ranks are empty',
      source: 'flashinfer-ai/flashinfer#4051',
    },
  ],
  captureNext: 'out, lse and merged of all ranks, of a step in which a row has no keys at all',
  needs: [needs('out', 'lse', 'merged')],
}
