import { localLength } from '../../dcp/ownership.ts'
import { type Case, dealOf } from '../case.ts'
import type { Hypothesis, KeysPrediction } from '../hypothesis.ts'
import { needs, REFERENCE } from '../needs.ts'

const keys = (c: Case): KeysPrediction[] => {
  const all = (rank: number, row: number): number | undefined => {
    const request = c.requestOf[row] ?? -1
    const length = c.lengths?.[request]
    return length === undefined ? undefined : localLength(length, rank, dealOf(c, request))
  }
  return [
    {
      detail: 'with rows masked at the end of the local keys',
      count: ({ rank }, row) => {
        const local = all(rank, row)
        const queries = c.queriesOf[c.requestOf[row] ?? -1] ?? 1
        return local === undefined ? undefined : Math.max(0, local - (queries - 1) + (c.queryIndex[row] ?? 0))
      },
    },
    { detail: 'with every row seeing all local keys', count: ({ rank }, row) => all(rank, row) },
  ]
}

export const causalEndAligned: Hypothesis = {
  fault: 'causal-end-aligned',
  title: 'Several query tokens masked on local keys',
  causes: [
    {
      text: 'the kernel masks several query tokens by the end of the keys that it has, and no global bound is passed',
      source: 'vllm-project/vllm, trtllm-gen decode under DCP keeps the reorder threshold at 1',
    },
  ],
  captureNext: 'q, kv, block_table, seq_lens_global, out and lse of all ranks',
  applies: (c) => c.dcp > 1 && c.queriesOf.some((queries) => queries > 1),
  needs: [needs(...REFERENCE, 'out or out_kernel or lse or lse_kernel')],
  keys,
}
