import type { Case } from '../case.ts'
import type { Hypothesis, TablePrediction } from '../hypothesis.ts'
import { ofOneRank } from '../needs.ts'

/** The global length where the local one is meant, as it is or cut to what the page table covers. */
const lengths = (c: Case): TablePrediction[] => [
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
  needs: [ofOneRank('seq_lens_global', 'seq_lens_local')],
  lengths,
}
