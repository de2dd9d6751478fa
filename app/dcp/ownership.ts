import { checkInt, checkLength, checkRank, checkSharding, checkToken, MAX_TOKENS } from './checks.ts'
import type { LocalIndex, RankId, Sharding, TokenIndex } from './types.ts'

/**
 * Which rank holds which token. With c = dcp and I = interleave, blocks of I tokens go to the ranks in turn.
 * SGLang (layers/dcp/layout.py, I = 1) and vLLM (v1/worker/block_table.py and get_dcp_local_seq_lens, any I
 * that divides the page) are this one formula. Every function throws RangeError on arguments out of range.
 */

/** Rank that holds `token`: (t // I) mod c. */
export const owner = (token: TokenIndex, sharding: Sharding): RankId => {
  checkSharding(sharding)
  checkToken(token)
  return Math.floor(token / sharding.interleave) % sharding.dcp
}

/** Position of `token` among the keys of its owner: (t // (c*I))*I + t mod I. */
export const localIndex = (token: TokenIndex, sharding: Sharding): LocalIndex => {
  checkSharding(sharding)
  checkToken(token)
  const { dcp, interleave } = sharding
  return Math.floor(token / (dcp * interleave)) * interleave + (token % interleave)
}

/** Token of which `rank` holds the key `local`; inverse of (owner, localIndex): (l // I)*c*I + r*I + l mod I. */
export const globalIndex = (local: LocalIndex, rank: RankId, sharding: Sharding): TokenIndex => {
  checkSharding(sharding)
  checkRank(rank, sharding)
  checkInt('local', local, 0, MAX_TOKENS - 1)
  const { dcp, interleave } = sharding
  return Math.floor(local / interleave) * dcp * interleave + rank * interleave + (local % interleave)
}

/**
 * Keys that `rank` holds of a request of `len` tokens: (L // (c*I))*I + clamp(L mod (c*I) - r*I, 0, I).
 * Over the ranks they sum to `len`, never increase with the rank, and differ by at most the interleave.
 */
export const localLength = (len: number, rank: RankId, sharding: Sharding): number => {
  checkSharding(sharding)
  checkRank(rank, sharding)
  checkLength(len)
  const { dcp, interleave } = sharding
  const round = dcp * interleave
  const rest = (len % round) - rank * interleave
  return Math.floor(len / round) * interleave + Math.min(Math.max(rest, 0), interleave)
}

/** Local lengths of all ranks, [dcp] tokens. */
export const localLengths = (len: number, sharding: Sharding): number[] => {
  checkSharding(sharding)
  return Array.from({ length: sharding.dcp }, (_, rank) => localLength(len, rank, sharding))
}

/** Rank that holds the newest token of a request of `len` tokens; null when there is none. */
export const newestOwner = (len: number, sharding: Sharding): RankId | null => {
  checkSharding(sharding)
  checkLength(len)
  return len === 0 ? null : owner(len - 1, sharding)
}
