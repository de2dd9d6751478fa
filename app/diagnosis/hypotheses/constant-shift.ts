import type { Case, RankTables } from '../case.ts'
import { rightLength } from '../right.ts'

/** By how much the local lengths of a rank differ; `isOpen`: all that differ fell to 0, where there was at most so much to lose. */
interface Shift {
  readonly by: number
  readonly isOpen: boolean
}

const shiftOf = (c: Case, rank: RankTables): Shift | undefined => {
  const counts = new Map<number, number>()
  const open: number[] = []
  rank.local?.forEach((observed, request) => {
    const right = rightLength(c, rank, request)
    if (right === undefined || observed === right) return
    const by = observed - right
    if (observed === 0) open.push(by)
    else counts.set(by, (counts.get(by) ?? 0) + 1)
  })
  const [most] = [...counts].sort((a, b) => b[1] - a[1] || Math.abs(b[0]) - Math.abs(a[0]))
  if (most !== undefined) return { by: most[0], isOpen: false }
  return open.length === 0 ? undefined : { by: Math.min(...open), isOpen: true }
}

/**
 * By how much the local lengths of a rank differ from what is right, for ranks where they do: the most common difference of
 * requests that keep keys. Where none keeps any, that of the other ranks, if it takes as much.
 */
export const constantShift = (c: Case): ReadonlyMap<number, number> => {
  const shifts = c.ranks.flatMap((rank) => {
    const shift = shiftOf(c, rank)
    return shift === undefined ? [] : [{ rank: rank.rank, ...shift }]
  })
  const known = new Set(shifts.filter(({ isOpen }) => !isOpen).map(({ by }) => by))
  const least = Math.min(...(known.size === 1 ? known : shifts.map(({ by }) => by)))
  const isOne = known.size <= 1 && shifts.every(({ by, isOpen }) => !isOpen || by >= least)
  return new Map(shifts.map(({ rank, by }) => [rank, isOne ? least : by]))
}

/** The same on all ranks that it is of: one number to choose, not one a rank. */
export const isUniform = (shift: ReadonlyMap<number, number>): boolean => new Set(shift.values()).size === 1
