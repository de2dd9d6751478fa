import { localLength } from './ownership.ts'
import type { RankId, Sharding } from './types.ts'

/** One rank over a whole batch. */
export interface RankLoad {
  readonly rank: RankId
  /** Keys of all requests: what its attention reads. */
  readonly tokens: number
  /** Requests of which it holds no key. */
  readonly empty: number
}

/** How a batch lies on the ranks. */
export interface Balance {
  readonly ranks: readonly RankLoad[]
  readonly requests: number
  readonly tokens: number
  /** Keys of the fullest and the emptiest rank. */
  readonly most: number
  readonly least: number
  /** Mean of the ranks over the fullest: how much of the time of the slowest rank all ranks work, 0 to 1; 1 of no tokens. */
  readonly share: number
  /** Ranks without a key of any request. */
  readonly idle: readonly RankId[]
}

/** Balance of requests of these lengths; `prompts` where generated tokens are dealt out anew behind each. */
export const balanceOf = (
  lens: readonly number[],
  sharding: Omit<Sharding, 'prompt'>,
  prompts: readonly number[] | null = null,
): Balance => {
  const ranks = Array.from({ length: sharding.dcp }, (_, rank): RankLoad => {
    let tokens = 0
    let empty = 0
    lens.forEach((len, request) => {
      const prompt = prompts?.[request]
      const held = localLength(len, rank, { dcp: sharding.dcp, interleave: sharding.interleave, prompt })
      tokens += held
      if (held === 0) empty++
    })
    return { rank, tokens, empty }
  })
  const all = ranks.map(({ tokens }) => tokens)
  const total = all.reduce((sum, tokens) => sum + tokens, 0)
  const most = Math.max(...all)
  return {
    ranks,
    requests: lens.length,
    tokens: total,
    most,
    least: Math.min(...all),
    share: most === 0 ? 1 : total / sharding.dcp / most,
    idle: ranks.flatMap(({ rank, tokens }) => (tokens === 0 ? [rank] : [])),
  }
}
