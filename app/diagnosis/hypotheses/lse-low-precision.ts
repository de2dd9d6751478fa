import type { Hypothesis } from '../hypothesis.ts'
import { needs, REFERENCE } from '../needs.ts'

/** Compared in sites/low-precision.ts: what bf16 leaves of an lse is no prediction of one value. */
export const lseLowPrecision: Hypothesis = {
  fault: 'lse-low-precision',
  title: 'LSE stored in bf16',
  causes: [
    {
      text: 'a kernel returns the lse in the type of the queries: an lse of magnitude 8 to 16 in bf16 is up to 3.2% of a weight off',
      source: 'vllm-project/vllm#47800',
    },
  ],
  captureNext: 'q, kv, block_table, seq_lens_global, out and lse of all ranks',
  needs: [needs(...REFERENCE, 'lse', 'out')],
}
