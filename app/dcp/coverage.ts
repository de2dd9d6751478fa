import { globalIndex, localLengths, owner } from './ownership.ts'
import type { RankId, Sharding, Slot, TokenIndex } from './types.ts'

/** What must hold of how one request lies on its ranks. */
export const COVERAGE_CHECKS = ['sum', 'grows', 'overlap', 'gap'] as const
export type CoverageCheckName = (typeof COVERAGE_CHECKS)[number]

export interface CoverageCheck {
  readonly name: CoverageCheckName
  /** What holds when it is fine. */
  readonly rule: string
  readonly state: 'holds' | 'broken' | 'unknown'
  /** Tokens that break it. */
  readonly count: number
  /** What was found, or what is missing to tell. */
  readonly detail: string
  /** The first token that breaks it, and the rank that it is wrong on. */
  readonly token: TokenIndex | null
  readonly rank: RankId | null
}

/** What was counted of one request at a step. */
export interface Counted {
  /** Tokens of the request. */
  readonly len: number
  /** Keys that each rank counts. */
  readonly local: readonly number[]
}

/** Where a token was stored, by rank, where that was captured. */
export interface Written {
  readonly token: TokenIndex
  readonly places: readonly { readonly rank: RankId; readonly slot: Slot }[]
}

const RULES: Readonly<Record<CoverageCheckName, string>> = {
  sum: 'sums to the length',
  grows: 'grows in turn',
  overlap: 'no token twice',
  gap: 'no token lost',
}

type Verdict = Omit<CoverageCheck, 'name' | 'rule'>

const holds = (detail: string): Verdict => ({ state: 'holds', count: 0, detail, token: null, rank: null })
const unknown = (detail: string): Verdict => ({ ...holds(detail), state: 'unknown' })

const tokens = (count: number): string => `${count} ${count === 1 ? 'token' : 'tokens'}`

/**
 * Judges what ranks counted of a request against the rule that deals it out; `before` is the step before, null where there is
 * none, and `written` who stored the newest token, null where that was not captured. One verdict for each of COVERAGE_CHECKS.
 */
export const coverageChecks = (
  now: Counted,
  sharding: Sharding,
  before: Counted | null,
  written: Written | null,
): CoverageCheck[] => {
  const verdicts: Readonly<Record<CoverageCheckName, Verdict>> = {
    sum: sumOf(now),
    grows: before === null ? unknown('needs the step before') : growth(before, now, sharding),
    overlap: overlap(now, sharding, written),
    gap: gap(now, sharding, written),
  }
  return COVERAGE_CHECKS.map((name) => ({ name, rule: RULES[name], ...verdicts[name] }))
}

const sumOf = ({ len, local }: Counted): Verdict => {
  const sum = local.reduce((all, count) => all + count, 0)
  if (sum === len) return holds(`the ranks count ${len} keys together`)
  return {
    state: 'broken',
    count: Math.abs(sum - len),
    detail: `the ranks count ${sum} keys together, of ${tokens(len)}`,
    token: len > 0 ? len - 1 : null,
    rank: null,
  }
}

/** Every new token makes its owner grow by one key, and no other rank. */
const growth = (before: Counted, now: Counted, sharding: Sharding): Verdict => {
  const [from, to] = [localLengths(before.len, sharding), localLengths(now.len, sharding)]
  const wrong = now.local.flatMap((count, rank) => {
    const [grew, right] = [count - (before.local[rank] ?? 0), (to[rank] ?? 0) - (from[rank] ?? 0)]
    return grew === right ? [] : [{ rank, grew, right }]
  })
  const [first] = wrong
  if (first === undefined)
    return holds(
      `${tokens(now.len - before.len)} came, and only ${now.len - before.len === 1 ? 'its owner' : 'their owners'} grew`,
    )
  const { rank, grew, right } = first
  return {
    state: 'broken',
    count: wrong.reduce((sum, one) => sum + Math.abs(one.grew - one.right), 0),
    detail: `rank ${rank} grew by ${grew} where ${right} of the ${tokens(now.len - before.len)} that came ${right === 1 ? 'is' : 'are'} its own`,
    token: now.len > 0 ? now.len - 1 : null,
    rank,
  }
}

const overlap = ({ len, local }: Counted, sharding: Sharding, written: Written | null): Verdict => {
  const right = localLengths(len, sharding)
  const extra = local.map((count, rank) => Math.max(0, count - (right[rank] ?? 0)))
  const count = extra.reduce((sum, more) => sum + more, 0)
  const rank = extra.findIndex((more) => more > 0)
  if (written !== null && written.places.length > 1) {
    const own = owner(written.token, sharding)
    const ranks = written.places.map((place) => place.rank)
    return {
      state: 'broken',
      count: Math.max(count, ranks.length - 1),
      detail: `token ${written.token} is stored on ranks ${ranks.join(', ')}; its owner is rank ${own}`,
      token: written.token,
      rank: ranks.find((one) => one !== own) ?? own,
    }
  }
  if (count === 0)
    return holds(
      written === null
        ? 'no rank counts more keys than it owns tokens'
        : `no rank counts more keys than it owns tokens, and token ${written.token} is stored once`,
    )
  return {
    state: 'broken',
    count,
    detail: `rank ${rank} counts ${local[rank]} keys and owns ${tokens(right[rank] ?? 0)}: it counts what another rank owns, the newest token unless a capture of this step (slot_mapping) says otherwise`,
    token: len > 0 ? len - 1 : null,
    rank,
  }
}

/** A rank sees its first keys, so what it does not count are the last of its own. */
const gap = ({ len, local }: Counted, sharding: Sharding, written: Written | null): Verdict => {
  const right = localLengths(len, sharding)
  const lost = local.flatMap((count, rank) =>
    count < (right[rank] ?? 0) ? [{ rank, token: globalIndex(count, rank, sharding) }] : [],
  )
  const count = local.reduce((sum, held, rank) => sum + Math.max(0, (right[rank] ?? 0) - held), 0)
  const first = lost.reduce<(typeof lost)[number] | undefined>(
    (best, one) => (best === undefined || one.token < best.token ? one : best),
    undefined,
  )
  if (first !== undefined)
    return {
      state: 'broken',
      count,
      detail: `rank ${first.rank} counts ${local[first.rank]} of its ${tokens(right[first.rank] ?? 0)}: token ${first.token} is the first that no rank counts`,
      token: first.token,
      rank: first.rank,
    }
  if (written !== null && written.places.length === 0)
    return {
      state: 'broken',
      count: 1,
      detail: `token ${written.token} is stored on no rank; its owner is rank ${owner(written.token, sharding)}`,
      token: written.token,
      rank: owner(written.token, sharding),
    }
  return holds('every rank counts all that it owns')
}
