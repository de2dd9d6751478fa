import type { Case } from '../case.ts'
import type { Hypothesis, TablePrediction } from '../hypothesis.ts'
import { needs } from '../needs.ts'
import { rightLength } from '../right.ts'
import { constantShift, isUniform } from './constant-shift.ts'

/** Weight where each rank has a number of its own, which fits nearly anything. */
const ONE_A_RANK = 0.4

/** Lengths that are shorter by the same number of tokens in all requests of a rank. */
const lengths = (c: Case): TablePrediction[] => {
  const shift = constantShift(c)
  if (shift.size === 0 || [...shift.values()].some((by) => by > 0)) return []
  return [
    {
      weight: isUniform(shift) ? 1 : ONE_A_RANK,
      detail: 'and too short by the same number of keys in all requests',
      at: (rank, request) => {
        const right = rightLength(c, rank, request)
        const by = shift.get(rank.rank)
        return right === undefined || by === undefined ? undefined : Math.max(0, right + by)
      },
    },
  ]
}

export const coverageGap: Hypothesis = {
  fault: 'coverage-gap',
  title: 'A token is counted by nobody',
  causes: [
    {
      text: 'local lengths that are rounded down or computed before the new tokens were counted: over the ranks they have to sum to the global length',
      source: 'sgl-project/sglang, layers/dcp: the lengths of all ranks sum to the global one',
    },
    {
      text: 'a rank that has keys and returns (0, -inf), such as a kernel that takes a short shard for an empty one',
      source: 'vllm-project/vllm#38416',
    },
  ],
  captureNext: 'seq_lens_global and seq_lens_local of all ranks, and lse, in two steps one after the other',
  needs: [needs('seq_lens_global', 'seq_lens_local', 'lse')],
  lengths,
}
