import type { Case } from '../case.ts'
import { rightLength } from '../right.ts'

/**
 * By how much the local lengths of a rank differ from what is right, for ranks where they do; the most common difference of
 * requests that keep keys (a length cannot fall below 0).
 */
export const constantShift = (c: Case): ReadonlyMap<number, number> => {
  const found = new Map<number, number>()
  for (const rank of c.ranks) {
    const counts = new Map<number, number>()
    const counted = rank.local?.length ?? 1
    rank.local?.forEach((observed, request) => {
      const right = rightLength(c, rank, request)
      if (right === undefined || observed === right) return
      const by = observed - right
      // Where nothing is left, more may have been taken away than there was.
      counts.set(by, (counts.get(by) ?? 0) + (observed > 0 ? counted : 1))
    })
    const [most] = [...counts].sort((a, b) => b[1] - a[1] || Math.abs(b[0]) - Math.abs(a[0]))
    if (most !== undefined) found.set(rank.rank, most[0])
  }
  return found
}

/** The same on all ranks that it is of: one number to choose, not one a rank. */
export const isUniform = (shift: ReadonlyMap<number, number>): boolean => new Set(shift.values()).size === 1

/** Shifts of ranks are taken for one where nothing speaks against it: a length that fell to 0 may have lost more. */
export const levelled = (c: Case, shift: ReadonlyMap<number, number>): ReadonlyMap<number, number> => {
  const least = Math.min(...shift.values())
  const isOne = c.ranks.every((rank) => {
    const own = shift.get(rank.rank)
    return (
      own === undefined ||
      own === least ||
      rank.local?.every((observed, request) => {
        const right = rightLength(c, rank, request)
        return right === undefined || observed === Math.max(0, right + least)
      }) === true
    )
  })
  return isOne ? new Map([...shift.keys()].map((rank) => [rank, least])) : shift
}
