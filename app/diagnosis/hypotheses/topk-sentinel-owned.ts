import type { Case, RankTables } from '../case.ts'
import type { Hypothesis, TablePrediction } from '../hypothesis.ts'
import { needs } from '../needs.ts'
import { chosenAt, requestAt } from '../right.ts'

/** -1 taken as a token on the last rank: the last place of some page of the request. */
const slots = (c: Case): TablePrediction[] => {
  const { page } = c
  if (page === undefined) return []
  return [
    {
      detail:
        'on the last rank, where the entry for no token became the last place of the last page of its request',
      at: (rank, index) => {
        if (rank.rank !== c.dcp - 1 || chosenAt(c, rank, index) !== -1) return undefined
        const id = lastPage(rank, requestAt(c, rank, index))
        return id === undefined ? undefined : id * page + page - 1
      },
    },
  ]
}

const lastPage = ({ table }: RankTables, request: number): number | undefined => {
  if (table === undefined) return undefined
  const pages = table.values.subarray(request * table.columns, (request + 1) * table.columns)
  return pages.findLast((page) => page >= 0)
}

export const topkSentinelOwned: Hypothesis = {
  fault: 'topk-sentinel-owned',
  title: 'The entry for no token counts as a token',
  causes: [
    {
      text: 'ownership of a chosen id is computed without a guard: (-1) mod c is c - 1 in floored arithmetic, so the last rank seems to own it',
      source: 'sgl-project/sglang, DSA backend: guard of id < 0',
    },
  ],
  captureNext: 'topk, topk_local or topk_slots, out and lse of all ranks',
  needs: [needs('topk', 'topk_slots', 'block_table', 'page_size', 'out', 'lse')],
  topkLocal: (c) => [
    {
      detail: 'on the last rank, where the entry for no token became a key',
      at: (rank, index) =>
        rank.rank === c.dcp - 1 && chosenAt(c, rank, index) === -1
          ? (rank.topkLocal?.values[index] ?? -1)
          : undefined,
    },
  ],
  topkSlots: slots,
}
