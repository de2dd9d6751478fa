import { MAX_Q_LEN } from '../run/config.ts'
import { checkInt, checkLength } from './checks.ts'
import { localLength } from './ownership.ts'
import type { RankId, Sharding } from './types.ts'

/**
 * Keys that a query row may see when a request brings several query tokens (speculative verify). The causal
 * bound is global; on a rank it is the local length of that bound. It is not "all but the last k local keys",
 * because local(L - k) differs from local(L) - k: a mask aligned to the end of the local keys hides too many.
 */

/**
 * Global positions that query row `q` of `qLen` sees, as a count from 0: max(0, L - (qLen - 1) + q), where
 * `len` is the global length including the newest token. RangeError on arguments out of range.
 */
export const visibleTokens = (len: number, qLen: number, q: number): number => {
  checkLength(len)
  checkInt('qLen', qLen, 1, MAX_Q_LEN)
  checkInt('q', q, 0, qLen - 1)
  return Math.max(0, len - (qLen - 1) + q)
}

/** Keys of `rank` that the row sees: its first so many local keys, for any interleave. */
export const visibleKeys = (len: number, qLen: number, q: number, rank: RankId, sharding: Sharding): number =>
  localLength(visibleTokens(len, qLen, q), rank, sharding)
