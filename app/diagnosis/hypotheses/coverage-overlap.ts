import { owner } from '../../dcp/ownership.ts'
import { type Case, columnsOf, dealOf, type RankTables } from '../case.ts'
import type { Hypothesis, TablePrediction } from '../hypothesis.ts'
import { needs } from '../needs.ts'
import { newToken, rightLength, slotIn } from '../right.ts'
import { constantShift } from './constant-shift.ts'

/** Lengths that are longer by the same number of tokens in all requests of a rank. */
const lengths = (c: Case): TablePrediction[] => {
  const newest: TablePrediction = {
    detail: 'and count the newest token also where another rank holds it',
    at: (rank, request) => {
      const right = rightLength(c, rank, request)
      return right === undefined || doubledSlot(c, rank, request) === undefined ? right : right + 1
    },
  }
  const shift = constantShift(c)
  if (shift.size === 0) return []
  if ([...shift.values()].some((by) => by < 0)) return [newest]
  return [
    newest,
    {
      weight: 0.9,
      detail: 'and too long by the same number of keys in all requests',
      at: (rank, request) => {
        const right = rightLength(c, rank, request)
        const by = shift.get(rank.rank)
        return right === undefined || by === undefined ? undefined : right + by
      },
    },
  ]
}

/** Where a rank would also keep the newest token of a request that another one holds; undefined where it has no room. */
const doubledSlot = (c: Case, rank: RankTables, request: number): number | undefined => {
  const length = c.lengths?.[request]
  const right = rightLength(c, rank, request)
  if (
    !length ||
    right === undefined ||
    request >= c.batch ||
    owner(length - 1, dealOf(c, request)) === rank.rank
  )
    return undefined
  // Without a size of pages nothing says where, but still that.
  if (c.page === undefined) return 0
  const column = Math.floor(right / c.page)
  // Without a table it is as wide as the request needs it.
  if (rank.table === undefined && column >= columnsOf(c, c.page, length, request)) return undefined
  return slotIn(c, rank, request, column, right % c.page)
}

const slots = (c: Case): TablePrediction[] => [
  {
    detail: 'and those of the newest token are given also where another rank holds it',
    at: (rank, row) => {
      const request = c.requestOf[row] ?? -1
      // A rank that keeps a token twice also counts it.
      const local = rank.local?.[request]
      if (local !== undefined && local !== (rightLength(c, rank, request) ?? 0) + 1) return undefined
      const isNewest = (c.queryIndex[row] ?? 0) === (c.queriesOf[request] ?? 1) - 1
      return isNewest && newToken(c, row) !== undefined ? doubledSlot(c, rank, request) : undefined
    },
  },
]

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
  needs: [needs('seq_lens_global', 'seq_lens_local')],
  lengths,
  slots,
}
