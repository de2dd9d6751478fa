import type { Case } from '../case.ts'
import type { Hypothesis, TablePrediction } from '../hypothesis.ts'
import { needs } from '../needs.ts'
import { chosenAt, FIRST_PAGE, pageAt, requestAt } from '../right.ts'

const local = (c: Case): TablePrediction[] => [
  { detail: 'and are the global ids of the indexer', at: (rank, index) => chosenAt(c, rank, index) },
]

const slots = (c: Case): TablePrediction[] => [
  {
    detail: 'and are those of the global ids of the indexer, taken for local ones',
    at: (rank, index) => {
      const id = chosenAt(c, rank, index)
      if (id === undefined || id < 0 || c.page === undefined) return id
      const page = pageAt(rank, requestAt(c, rank, index), Math.floor(id / c.page))
      return (page ?? FIRST_PAGE) * c.page + (id % c.page)
    },
  },
  {
    detail: 'and are the global ids of the indexer themselves',
    at: (rank, index) => chosenAt(c, rank, index),
  },
]

export const topkNotLocalised: Hypothesis = {
  fault: 'topk-not-localised',
  title: 'Chosen token ids used as they come from the indexer',
  causes: [
    {
      text: 'the sparse kernel gets the ids of the indexer, which are global, without the filter that keeps those of the rank and makes them local',
      source: 'vllm-project/vllm#54541',
    },
  ],
  captureNext: 'topk, topk_local or topk_slots, block_table and seq_lens_global of all ranks',
  needs: [needs('topk', 'topk_local'), needs('topk', 'topk_slots', 'block_table', 'page_size')],
  topkLocal: local,
  topkSlots: slots,
}
