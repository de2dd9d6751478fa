import type { Case } from '../case.ts'
import type { Hypothesis, TablePrediction } from '../hypothesis.ts'
import { ofAllRanks } from '../needs.ts'
import { rightLength } from '../right.ts'
import { constantShift } from './constant-shift.ts'

/** Lengths that are longer by the same number of tokens in all requests of a rank. */
const lengths = (c: Case): TablePrediction[] => {
  const shift = constantShift(c)
  if (shift.size === 0 || [...shift.values()].some((by) => by < 0)) return []
  return [
    {
      detail: 'and too long by the same number of keys in all requests',
      at: (rank, request) => {
        const right = rightLength(c, rank, request)
        const by = shift.get(rank.rank)
        return right === undefined || by === undefined ? undefined : right + by
      },
    },
  ]
}

export const coverageOverlap: Hypothesis = {
  fault: 'coverage-overlap',
  title: 'A token counts twice',
  causes: [
    {
      text: 'local lengths that are rounded up on every rank: over the ranks they have to sum to the global length',
      source: 'sgl-project/sglang, layers/dcp: the lengths of all ranks sum to the global one',
    },
  ],
  captureNext: 'seq_lens_global, seq_lens_local and slot_mapping of all ranks',
  needs: [ofAllRanks('seq_lens_global', 'seq_lens_local')],
  lengths,
}
