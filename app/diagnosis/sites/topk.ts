import type { Case, RankTables } from '../case.ts'
import type { Claim } from '../claim.ts'
import type { Hypothesis } from '../hypothesis.ts'
import { chosenAt, requestAt, rightLocalId, slotOfLocal } from '../right.ts'
import { type TableSite, tableClaims } from './tables.ts'

/** What a rank makes of the ids that the indexer chose, against the rule of ownership. */
export const topkClaims = (c: Case, hypotheses: readonly Hypothesis[]): Claim[] => [
  ...tableClaims(c, hypotheses, {
    ...common(c),
    name: 'local ids of chosen keys',
    unit: 'local id',
    observed: ({ topkLocal }) => topkLocal?.values,
    expected: (rank, index) => rightIdAt(c, rank, index),
    predictions: (hypothesis) => hypothesis.topkLocal?.(c) ?? [],
  }),
  ...tableClaims(c, hypotheses, {
    ...common(c),
    name: 'slots of chosen keys',
    unit: 'slot',
    observed: ({ topkSlots }) => topkSlots?.values,
    expected: (rank, index) => {
      const local = rightIdAt(c, rank, index)
      return local === undefined ? undefined : slotOfLocal(c, rank, requestAt(c, rank, index), local)
    },
    predictions: (hypothesis) => hypothesis.topkSlots?.(c) ?? [],
  }),
]

const rightIdAt = (c: Case, rank: RankTables, index: number): number | undefined => {
  const id = chosenAt(c, rank, index)
  return id === undefined ? undefined : rightLocalId(c, rank.rank, id)
}

const common = (c: Case): Pick<TableSite, 'rowsOf' | 'label' | 'otherwise'> => {
  const columns =
    c.ranks.map(({ topkLocal, topkSlots }) => topkLocal ?? topkSlots).find(Boolean)?.columns ?? 1
  return {
    rowsOf: (index) => [Math.floor(index / columns)],
    label: (index) => `row ${Math.floor(index / columns)}, place ${index % columns}`,
    otherwise: () => undefined,
  }
}
