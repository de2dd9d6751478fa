import { localIndex, localLength, owner } from '../../dcp/ownership.ts'
import { NO_SLOT } from '../../dcp/pages.ts'
import { type Case, dealOf, visibleTo } from '../case.ts'
import type { Hypothesis, KeysPrediction, TablePrediction } from '../hypothesis.ts'
import { needs } from '../needs.ts'
import { newToken, slotIn } from '../right.ts'

const MOST = 1024

/** Other interleaves that an engine could use: powers of two, and the page, of which it is a part where its size is known. */
const others = ({ interleave: own, page }: Case): number[] => {
  const candidates = new Set<number>(page === undefined ? [] : [page])
  for (let interleave = 1; interleave <= MOST; interleave *= 2)
    if (page === undefined || page % interleave === 0) candidates.add(interleave)
  candidates.delete(own)
  return [...candidates].sort((a, b) => a - b)
}

const lengths = (c: Case): TablePrediction[] =>
  others(c).map((interleave) => ({
    weight: 2,
    detail: `and fit an interleave of ${interleave} instead of ${c.interleave}`,
    at: ({ rank }, request) => {
      const length = c.lengths?.[request]
      return length === undefined
        ? undefined
        : localLength(length, rank, { ...dealOf(c, request), interleave })
    },
  }))

const slots = (c: Case): TablePrediction[] =>
  others(c).map((interleave) => ({
    weight: 2,
    detail: `and fit an interleave of ${interleave} instead of ${c.interleave}`,
    at: (rank, row) => {
      const token = newToken(c, row)
      if (token === undefined || c.page === undefined) return undefined
      const sharding = { ...dealOf(c, c.requestOf[row] ?? -1), interleave }
      if (owner(token, sharding) !== rank.rank) return NO_SLOT
      const local = localIndex(token, sharding)
      return slotIn(c, rank, c.requestOf[row] ?? -1, Math.floor(local / c.page), local % c.page)
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
        const all = localLength(length, rank, dealOf(c, request))
        return Math.min(
          all,
          localLength(visibleTo(c, row, length), rank, { ...dealOf(c, request), interleave }),
        )
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
