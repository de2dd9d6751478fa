import { checkInt, checkLength, checkRank, checkSharding, checkToken, MAX_TOKENS } from './checks.ts'
import type { LocalIndex, RankId, Sharding, TokenIndex } from './types.ts'

/**
 * Which rank holds which token. With c = dcp and I = interleave, blocks of I tokens go to the ranks in turn.
 * SGLang (layers/dcp/layout.py, I = 1) and vLLM (v1/worker/block_table.py and get_dcp_local_seq_lens, any I
 * that divides the page) are this one formula; so is Helix, once for the prompt and once more for what is
 * generated behind it. Every function throws RangeError on arguments out of range.
 */

/** What is dealt out in one go: the prompt, or what begins anew behind it. */
interface Part {
  readonly begin: TokenIndex
  /** Position within it. */
  readonly at: number
}

const partOf = (token: TokenIndex, { prompt }: Sharding): Part =>
  prompt === undefined || token < prompt ? { begin: 0, at: token } : { begin: prompt, at: token - prompt }

/** Rank that holds `token`: (t // I) mod c. */
export const owner = (token: TokenIndex, sharding: Sharding): RankId => {
  checkSharding(sharding)
  checkToken(token)
  return Math.floor(partOf(token, sharding).at / sharding.interleave) % sharding.dcp
}

/** Position of `token` among the keys of its owner: (t // (c*I))*I + t mod I, behind those of the prompt. */
export const localIndex = (token: TokenIndex, sharding: Sharding): LocalIndex => {
  const rank = owner(token, sharding)
  const { dcp, interleave } = sharding
  const { begin, at } = partOf(token, sharding)
  const within = Math.floor(at / (dcp * interleave)) * interleave + (at % interleave)
  return within + (begin === 0 ? 0 : held(begin, rank, sharding))
}

/** Token of which `rank` holds the key `local`; inverse of (owner, localIndex): (l // I)*c*I + r*I + l mod I. */
export const globalIndex = (local: LocalIndex, rank: RankId, sharding: Sharding): TokenIndex => {
  checkSharding(sharding)
  checkRank(rank, sharding)
  checkInt('local', local, 0, MAX_TOKENS - 1)
  const { dcp, interleave, prompt } = sharding
  const ofPrompt = prompt === undefined ? Number.POSITIVE_INFINITY : held(prompt, rank, sharding)
  const [begin, at] = prompt === undefined || local < ofPrompt ? [0, local] : [prompt, local - ofPrompt]
  return begin + Math.floor(at / interleave) * dcp * interleave + rank * interleave + (at % interleave)
}

/** Of `len` tokens that are dealt out in one go: (L // (c*I))*I + clamp(L mod (c*I) - r*I, 0, I). */
const held = (len: number, rank: RankId, { dcp, interleave }: Sharding): number => {
  const round = dcp * interleave
  const rest = (len % round) - rank * interleave
  return Math.floor(len / round) * interleave + Math.min(Math.max(rest, 0), interleave)
}

/**
 * Keys that `rank` holds of a request of `len` tokens. Over the ranks they sum to `len` and never increase with
 * the rank; without a prompt they differ by at most the interleave, with one by at most twice that.
 */
export const localLength = (len: number, rank: RankId, sharding: Sharding): number => {
  checkSharding(sharding)
  checkRank(rank, sharding)
  checkLength(len)
  const { prompt = len } = sharding
  return len <= prompt
    ? held(len, rank, sharding)
    : held(prompt, rank, sharding) + held(len - prompt, rank, sharding)
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
