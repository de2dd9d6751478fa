import { visibleTo } from '../case.ts'
import type { Hypothesis } from '../hypothesis.ts'
import { ALL_PAGES, needs, REFERENCE } from '../needs.ts'

export const pageTableNotLocal: Hypothesis = {
  fault: 'page-table-not-local',
  title: 'The page table is built for global lengths',
  causes: [
    {
      text: 'block table, or the counts from which a kernel takes its bounds (indptr), built from global lengths',
      source: 'vllm-project/vllm#48003',
    },
    { text: 'the same for the table of a sparse indexer', source: 'vllm-project/vllm#54541' },
  ],
  captureNext: 'q, kv with all pages of the table, block_table, both lengths, out and lse of all ranks',
  needs: [needs(...REFERENCE, ALL_PAGES, 'seq_lens_local', 'out or out_kernel or lse or lse_kernel')],
  keys: (c) => [
    {
      detail: 'over as many keys as the whole request has, beyond the columns of the rank,',
      count: (_, row) => {
        const length = c.lengths?.[c.requestOf[row] ?? -1]
        return length === undefined ? undefined : visibleTo(c, row, length)
      },
    },
  ],
}
