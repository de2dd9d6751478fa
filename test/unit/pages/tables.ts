import type { RankTable } from '../../../app/pages/rank-table.ts'

/** A table of given rows, on 2 ranks in pages of 4 tokens unless said otherwise; what is not given is not known. */
export const tableOf = (
  rows: readonly (readonly number[])[],
  more: Partial<Omit<RankTable, 'ids' | 'begin'>> = {},
): RankTable => {
  const begin = new Int32Array(rows.length + 1)
  rows.forEach((row, i) => {
    begin[i + 1] = (begin[i] ?? 0) + row.length
  })
  return {
    rank: 0,
    sharding: { dcp: 2, interleave: 1 },
    prompts: null,
    page: 4,
    requests: rows.length,
    batch: rows.length,
    begin,
    ids: Float64Array.from(rows.flat()),
    width: null,
    globalLens: null,
    localLens: null,
    maxLen: null,
    poolPages: null,
    taken: null,
    slots: null,
    newTokens: null,
    ...more,
  }
}

export const lens = (...lengths: number[]): Float64Array => Float64Array.from(lengths)
