import { type Case, loadCase, type RankTables } from '../../../app/diagnosis/case.ts'
import type { Hypothesis, TablePrediction } from '../../../app/diagnosis/hypothesis.ts'
import { hypothesisOf } from '../../../app/diagnosis/registry.ts'
import type { Finding } from '../../../app/diagnosis/result.ts'
import { rightLength, rightSlot } from '../../../app/diagnosis/right.ts'
import type { DumpSet } from '../../../app/dump/dumps.ts'
import type { FaultName } from '../../../app/faults/names.ts'

/**
 * Whether an ambiguous finding is one: `equal`: fault and rival predict the same values for every cell of the tensors that are
 * there; `different`: some cell tells them apart; `open`: one of them predicts no values that these tensors hold, such as what is
 * in memory that nobody wrote, or attention to keys that are not dumped.
 */
export type Ambiguity = 'equal' | 'different' | 'open'

/** Of the fault that really is there against all others that the finding names; the worst of these. */
export const ambiguityOf = async (
  { groups }: DumpSet,
  { fault, ambiguousWith, ranks }: Finding,
  truth: FaultName,
): Promise<Ambiguity> => {
  const found: Ambiguity[] = []
  for (const group of groups) {
    const c = await loadCase(group)
    for (const other of [fault, ...ambiguousWith])
      if (other !== truth) found.push(compare(c, hypothesisOf(truth), hypothesisOf(other), ranks))
  }
  return found.includes('different') ? 'different' : found.includes('open') ? 'open' : 'equal'
}

/** A table in which a hypothesis predicts cells, and what is right there. */
interface Place {
  readonly predictions: (hypothesis: Hypothesis) => readonly TablePrediction[]
  readonly observed: (rank: RankTables) => Float64Array | undefined
  readonly right: (rank: RankTables, index: number) => number | undefined
}

const placesOf = (c: Case): Place[] => [
  {
    predictions: (hypothesis) => hypothesis.lengths?.(c) ?? [],
    observed: ({ local }) => local,
    right: (rank, request) => rightLength(c, rank, request),
  },
  {
    predictions: (hypothesis) => hypothesis.slots?.(c) ?? [],
    observed: ({ slots, table }) => (table === undefined ? undefined : slots),
    right: (rank, row) => rightSlot(c, rank, row),
  },
]

const compare = (c: Case, a: Hypothesis, b: Hypothesis, ranks: readonly number[]): Ambiguity => {
  const of = c.ranks.filter(({ rank }) => ranks.includes(rank))
  const found: Ambiguity[] = []
  for (const place of placesOf(c)) {
    const [first, second] = [a, b].map((one) => nearest(place, of, place.predictions(one)))
    if (first === undefined || second === undefined) continue
    found.push(first.every((value, i) => value === second[i]) ? 'equal' : 'different')
  }
  if (found.length > 0) return found.includes('different') ? 'different' : 'equal'
  // Tables are right; kernels count keys otherwise. Of several ways to do that the two may have one in common.
  if (c.keyWidth === 0 || c.scale === undefined || !of.every(hasKeys)) return 'open'
  const [first = [], second = []] = [a, b].map((one) => countsOf(c, one, of))
  if (first.length === 0 || second.length === 0) return 'open'
  return first.some((one) => second.includes(one)) ? 'equal' : 'different'
}

/** Every cell of all ranks by the prediction that is nearest to what is there; undefined where nothing is wrong. */
const nearest = (
  { observed, right }: Place,
  ranks: readonly RankTables[],
  predictions: readonly TablePrediction[],
): number[] | undefined => {
  const cells = (of: (rank: RankTables, index: number) => number | undefined): number[] =>
    ranks.flatMap((rank) =>
      [...(observed(rank) ?? [])].map((seen, index) => of(rank, index) ?? right(rank, index) ?? seen),
    )
  const seen = ranks.flatMap((rank) => [...(observed(rank) ?? [])])
  const off = (values: readonly number[]): number => values.filter((value, i) => value !== seen[i]).length
  if (off(cells(right)) === 0) return undefined
  return predictions.map(({ at }) => cells(at)).sort((x, y) => off(x) - off(y))[0]
}

/** Keys that kernels attend to in every row, one text for each way to count them. */
const countsOf = (c: Case, hypothesis: Hypothesis, ranks: readonly RankTables[]): string[] =>
  (hypothesis.keys?.(c) ?? []).map(({ count }) =>
    ranks.flatMap((rank) => Array.from({ length: c.rows }, (_, row) => count(rank, row) ?? 'right')).join(),
  )

/** Whether attention to any of its keys can be computed for a rank. */
const hasKeys = ({ table, dump: { reader } }: RankTables): boolean =>
  table !== undefined && (reader.has('kv') || (reader.has('kv_k') && reader.has('kv_v')))
