import { checkLength } from './checks.ts'
import { owner } from './ownership.ts'
import type { Sharding } from './types.ts'

/** Runs of tokens that are looked at at most; rules that fit together only after more are not counted. */
const MOST_RUNS = 1 << 20

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))

/**
 * Tokens of `len` that another rank owns by the second rule than by the first; null where that would take too long to count.
 * Both rules repeat after the least common multiple of their rounds, behind the prompt anew.
 */
export const movedTokens = (len: number, a: Sharding, b: Sharding): number | null => {
  checkLength(len)
  const [roundA, roundB] = [a.dcp * a.interleave, b.dcp * b.interleave]
  const period = (roundA / divisor(roundA, roundB)) * roundB
  const split = Math.min(len, a.prompt ?? len, b.prompt ?? len)
  let moved = 0
  for (const [begin, count] of [
    [0, split],
    [split, len - split],
  ] as const) {
    const whole = Math.floor(count / period)
    const inPeriod = countMoved(begin, whole > 0 ? period : count, a, b)
    const inRest = whole > 0 ? countMoved(begin, count % period, a, b) : 0
    if (inPeriod === null || inRest === null) return null
    moved += Math.max(1, whole) * inPeriod + inRest
  }
  return moved
}

/** Of `count` tokens from `begin` on, where both rules begin a round: from border to border of both, as owners change nowhere else. */
const countMoved = (begin: number, count: number, a: Sharding, b: Sharding): number | null => {
  if (count / a.interleave + count / b.interleave > MOST_RUNS) return null
  let moved = 0
  for (let at = 0; at < count; ) {
    const borders = [a, b].map(({ interleave }) => (Math.floor(at / interleave) + 1) * interleave)
    const next = Math.min(count, ...borders)
    if (owner(begin + at, a) !== owner(begin + at, b)) moved += next - at
    at = next
  }
  return moved
}
