import { isSparse } from '../case.ts'
import type { Hypothesis } from '../hypothesis.ts'
import { needs } from '../needs.ts'

export const emptyRowNotNeutralised: Hypothesis = {
  fault: 'empty-row-not-neutralised',
  title: 'Rows without keys reach the merge as they are',
  causes: [
    {
      text: 'the kernel leaves rows without keys unwritten or NaN, and nothing sets them to (0, -inf) before the merge; 0 times NaN is NaN',
      source: 'vllm-project/vllm#38416',
    },
    {
      text: 'a kernel that writes garbage for requests without local keys',
      source: 'flashinfer-ai/flashinfer#2883',
    },
    { text: 'the same for rows all of whose chosen ids are -1', source: 'flashinfer-ai/flashinfer#4975' },
  ],
  captureNext: 'out, lse, out_kernel, lse_kernel and lengths (or topk) of all ranks',
  needs: [
    needs('out', 'lse', 'seq_lens_global', 'seq_lens_local'),
    needs('out', 'lse', 'topk', 'topk_slots or topk_local'),
  ],
  applies: (c) => c.dcp > 1 || isSparse(c),
}
