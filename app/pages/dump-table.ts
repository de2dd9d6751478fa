import type { Case } from '../diagnosis/case.ts'
import { newToken } from '../diagnosis/right.ts'
import type { NewTokens, RankTable } from './rank-table.ts'

/** What a run knows beside the tensors that it captured. */
export interface BesideDump {
  readonly poolPages: number
  /** Step at which a page was taken, -1 unknown. */
  readonly takenOf: (page: number) => number
}

/**
 * The block table of a rank as the tensors of one step and layer have it; `lacks` says in one line why there is none.
 * Without `beside` the pool is what `kv` holds, where nothing says that it holds other pages.
 */
export const tableOfDump = (
  c: Case,
  rank: number,
  beside: BesideDump | null,
): { readonly table: RankTable } | { readonly lacks: string } => {
  const tables = c.byRank.get(rank)
  if (tables === undefined) return { lacks: `no file of this step and layer is of rank ${rank}` }
  const { table, global, local, slots, dump } = tables
  if (table === undefined)
    return {
      lacks: `the file of rank ${rank} has no block_table; record it, with seq_lens_global, to see pages`,
    }
  const { rows: requests, columns, values } = table
  return {
    table: {
      rank,
      sharding: { dcp: c.dcp, interleave: c.interleave },
      prompts: c.prompts ?? null,
      page: c.page ?? null,
      requests,
      batch: Math.min(requests, c.batch),
      begin: Int32Array.from({ length: requests + 1 }, (_, i) => i * columns),
      ids: values,
      width: columns,
      globalLens: c.lengths ?? global ?? null,
      localLens: local ?? null,
      maxLen: dump.info.maxLen ?? null,
      poolPages: beside?.poolPages ?? poolOf(c, rank),
      taken:
        beside === null ? null : Int32Array.from(values, (page) => (page < 0 ? -1 : beside.takenOf(page))),
      slots: slots ?? null,
      newTokens: c.lengths === undefined ? null : newTokensOf(c),
    },
  }
}

const poolOf = (c: Case, rank: number): number | null => {
  const reader = c.byRank.get(rank)?.dump.reader
  const cache = ['kv', 'kv_k'].find((name) => reader?.has(name))
  if (reader === undefined || cache === undefined || reader.has('page_ids')) return null
  return reader.tensor(cache).shape[0] ?? null
}

const newTokensOf = (c: Case): NewTokens => ({
  request: c.requestOf,
  token: Float64Array.from(c.requestOf, (_, row) => newToken(c, row) ?? -1),
})
