import { checkInt, checkLength, checkRank, checkSharding } from './checks.ts'
import { localLength } from './ownership.ts'
import type { RankId, Sharding } from './types.ts'

/** What a step computes: one token a request, the verification of drafted ones, or the draft model's own catching up. */
export type Branch = 'decode' | 'targetVerify' | 'draftExtend'

export interface LengthViews {
  /** Tokens of each request that count in this branch, [requests]. */
  readonly global: readonly number[]
  /** Keys of them that the rank holds, [requests]; what its kernel reads. */
  readonly local: readonly number[]
  /** Bound of the local lengths that the launch is planned for: at least 1, as kernels cannot be launched for none. */
  readonly localMax: number
}

/**
 * Both views of the lengths of a batch, as they must stand in the metadata of every branch, be it built eagerly, for the
 * capture of a graph or for its replay (sgl-project/sglang#33926). `lens` are tokens in the cache before the drafted
 * ones, [requests]; `draftTokens` those that a verification adds. Throws RangeError on arguments out of range.
 */
export const lengthViews = (
  branch: Branch,
  lens: readonly number[],
  draftTokens: number,
  rank: RankId,
  sharding: Sharding,
): LengthViews => {
  checkSharding(sharding)
  checkRank(rank, sharding)
  checkInt('draftTokens', draftTokens, 0, 1 << 20)
  lens.forEach(checkLength)
  const global = branch === 'targetVerify' ? lens.map((len) => len + draftTokens) : [...lens]
  const local = global.map((len) => localLength(len, rank, sharding))
  return { global, local, localMax: Math.max(1, ...local) }
}
