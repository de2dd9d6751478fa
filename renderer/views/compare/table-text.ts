import type { TimeRow } from '../../../app/compare/times.ts'
import type { Table } from '../../../app/messages/csv.ts'

/** Times of both sides, exact, to be saved: a line a measure, and a rank where it is of one. */
export const timeTable = (rows: readonly TimeRow[]): Table => ({
  header: [
    'measure',
    'rank',
    'a_ns',
    'b_ns',
    'difference_ns',
    'low_95_ns',
    'high_95_ns',
    'steps_slower',
    'steps_faster',
    'p',
    'verdict',
  ],
  rows: rows.map((row) => [
    row.measure,
    row.rank,
    row.aNs,
    row.bNs,
    row.difference?.ns ?? null,
    row.difference?.lowNs ?? null,
    row.difference?.highNs ?? null,
    row.slower,
    row.faster,
    row.p,
    row.verdict,
  ]),
})
