import { localIndex, localLength, owner } from '../../dcp/ownership.ts'
import { type Case, visibleTo } from '../case.ts'
import type { Hypothesis, KeysPrediction, TablePrediction } from '../hypothesis.ts'
import { needs } from '../needs.ts'
import { newToken, pageAt } from '../right.ts'

const MOST = 1024

/** Other interleaves that an engine could use: powers of two, and the page. */
const others = (c: Case): number[] => {
  const candidates = new Set<number>(c.page === undefined ? [] : [c.page])
  for (let interleave = 1; interleave <= MOST; interleave *= 2) candidates.add(interleave)
  candidates.delete(c.interleave)
  return [...candidates].sort((a, b) => a - b)
}

const lengths = (c: Case): TablePrediction[] =>
  others(c).map((interleave) => ({
    weight: 2,
    detail: `and fit an interleave of ${interleave} instead of ${c.interleave}`,
    at: ({ rank }, request) => {
      const length = c.lengths?.[request]
      return length === undefined ? undefined : localLength(length, rank, { dcp: c.dcp, interleave })
    },
  }))

const slots = (c: Case): TablePrediction[] =>
  others(c).map((interleave) => ({
    weight: 2,
    detail: `and fit an interleave of ${interleave} instead of ${c.interleave}`,
    at: (rank, row) => {
      const token = newToken(c, row)
      if (token === undefined || c.page === undefined) return undefined
      const sharding = { dcp: c.dcp, interleave }
      if (owner(token, sharding) !== rank.rank) return -1
      const local = localIndex(token, sharding)
      const page = pageAt(rank, c.requestOf[row] ?? -1, Math.floor(local / c.page))
      return page === undefined ? undefined : page * c.page + (local % c.page)
    },
  }))

/** Rows of several query tokens, bounded as with interleave 1, which is what some kernels know alone, or with whole pages. */
const keys = (c: Case): KeysPrediction[] =>
  [1, c.page ?? 1]
    .filter((interleave) => interleave !== c.interleave)
    .map((interleave) => ({
      detail: `with rows bounded as by an interleave of ${interleave} instead of ${c.interleave}`,
      count: ({ rank }, row) => {
        const request = c.requestOf[row] ?? -1
        const length = c.lengths?.[request]
        if (length === undefined || (c.queriesOf[request] ?? 1) === 1) return undefined
        const all = localLength(length, rank, c)
        return Math.min(all, localLength(visibleTo(c, row, length), rank, { dcp: c.dcp, interleave }))
      },
    }))

export const interleaveMismatch: Hypothesis = {
  fault: 'interleave-mismatch',
  title: 'Cache and kernel disagree on the interleave',
  causes: [
    {
      text: 'the cache is written with the configured interleave while the kernel masks, or the lengths are computed, for interleave 1',
      source: 'vllm-project/vllm#30309',
    },
  ],
  captureNext:
    'slot_mapping, seq_lens_global and seq_lens_local of all ranks, with q and kv for the keys that the kernel saw',
  needs: [
    needs(
      'seq_lens_global',
      'seq_lens_local',
      'slot_mapping',
      'block_table',
      'kv or kv_k + kv_v',
      'page_size',
    ),
  ],
  lengths,
  written: lengths,
  slots,
  keys,
}
