import { localLength } from '../../dcp/ownership.ts'
import { type Case, dealOf } from '../case.ts'
import type { Hypothesis, TablePrediction } from '../hypothesis.ts'
import { needs } from '../needs.ts'
import { rightLength } from '../right.ts'

/** One view where the other is meant: the global length as it is or cut to what the page table covers, or the local one twice. */
const lengths = (c: Case): TablePrediction[] => [
  {
    detail: 'and are the part of the rank, taken once more of its own part',
    at: (rank, request) => {
      const own = rightLength(c, rank, request)
      // Then the rank also has its part for the whole.
      const whole = rank.global?.[request]
      if (whole !== undefined && whole !== own) return undefined
      return own === undefined ? undefined : localLength(own, rank.rank, dealOf(c, request))
    },
  },
  {
    detail: 'and are the global ones',
    at: (_, request) => c.lengths?.[request],
  },
  {
    detail: 'and are the global ones, cut to what the page table covers',
    at: ({ table }, request) => {
      const length = c.lengths?.[request]
      if (length === undefined || table === undefined || c.page === undefined) return undefined
      return Math.min(length, table.columns * c.page)
    },
  },
]

export const lengthViewsSwapped: Hypothesis = {
  fault: 'length-views-swapped',
  title: 'Global lengths where local ones are meant',
  causes: [
    {
      text: 'a branch of the metadata (draft extend above all) that fills one buffer of lengths for both views',
      source: 'sgl-project/sglang, trtllm_mla backend: draft extend keeps a global and a local view',
    },
  ],
  captureNext:
    'seq_lens_global, seq_lens_local and block_table of all ranks, in decode, target verify and draft extend',
  needs: [needs('seq_lens_global', 'seq_lens_local')],
  lengths,
  globals: (c) => [
    { detail: 'and are the local ones', at: (rank, request) => rightLength(c, rank, request) },
  ],
}
