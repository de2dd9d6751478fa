import { localLength, owner } from '../dcp/ownership.ts'
import type { DumpGroup } from '../dump/dumps.ts'
import { type Case, dealOf, type RankTables } from './case.ts'
import type { Hypothesis } from './hypothesis.ts'
import { comparedSlots, newToken } from './right.ts'

/** A file whose tables are those of another rank than the one that it says. */
export interface Exchanged {
  readonly file: string
  readonly says: number
  readonly is: number
}

/**
 * Files of ranks that took each other's place: the local lengths and slots of each are those of another one of them, and not its
 * own. No fault leaves that: local lengths never increase with the rank, whatever the interleave. Empty where there is none, or
 * where slots alone would show it and another interleave (`hypotheses`) fits them as well.
 */
export const exchangedRanks = (c: Case, hypotheses: readonly Hypothesis[]): Exchanged[] => {
  const moved = c.ranks.filter((rank) => !fits(c, rank, rank.rank))
  if (c.lengths === undefined || moved.length < 2) return []
  const places = assigned(
    moved,
    moved.map(({ rank }) => rank),
    (rank, place) => fits(c, rank, place),
  )
  if (places === undefined) return []
  const byLengths = moved.some((rank) => rank.local !== undefined && !lengthsFit(c, rank, rank.rank))
  if (!byLengths && isDealtOtherwise(c, moved, hypotheses)) return []
  return moved.map(({ rank, dump }, i) => ({ file: dump.reader.file, says: rank, is: places[i] ?? rank }))
}

/** The same group with files in the places of the ranks that they are of. */
export const withRanks = (group: DumpGroup, exchanged: readonly Exchanged[]): DumpGroup => {
  const placeOf = new Map(exchanged.map(({ says, is }) => [says, is]))
  const ranks = [...group.ranks].map(([rank, dump]) => [placeOf.get(rank) ?? rank, dump] as const)
  return { ...group, ranks: new Map(ranks.sort(([a], [b]) => a - b)) }
}

/** Whether lengths and slots of a rank are those that rank `place` has; so they are where they tell nothing. */
export const fits = (c: Case, rank: RankTables, place: number): boolean =>
  lengthsFit(c, rank, place) && slotsFit(c, rank, place)

const lengthsFit = (c: Case, { local }: RankTables, place: number): boolean =>
  local?.every(
    (length, request) => length === localLength(c.lengths?.[request] ?? 0, place, dealOf(c, request)),
  ) ?? true

const slotsFit = (c: Case, { slots }: RankTables, place: number): boolean =>
  slots?.every((slot, row) => {
    const token = newToken(c, row)
    return token === undefined || (owner(token, dealOf(c, c.requestOf[row] ?? -1)) === place) === slot >= 0
  }) ?? true

/** Another interleave says of every slot of these ranks what is there. */
const isDealtOtherwise = (
  c: Case,
  ranks: readonly RankTables[],
  hypotheses: readonly Hypothesis[],
): boolean =>
  hypotheses
    .flatMap((hypothesis) => hypothesis.slots?.(c) ?? [])
    .some(({ at }) =>
      ranks.every((rank) =>
        comparedSlots(c, rank)?.every((slot, row) => {
          const predicted = at(rank, row)
          return predicted === undefined || predicted === slot
        }),
      ),
    )

/** A place for each, all different, each of which `may` be its; undefined where there is none. */
const assigned = <T>(
  items: readonly T[],
  places: readonly number[],
  may: (item: T, place: number) => boolean,
): number[] | undefined => {
  const holder = new Map<number, number>()
  const settle = (item: number, tried: Set<number>): boolean => {
    for (const place of places) {
      const given = items[item]
      if (tried.has(place) || given === undefined || !may(given, place)) continue
      tried.add(place)
      const other = holder.get(place)
      if (other !== undefined && !settle(other, tried)) continue
      holder.set(place, item)
      return true
    }
    return false
  }
  for (const item of items.keys()) if (!settle(item, new Set())) return undefined
  const found: number[] = []
  for (const [place, item] of holder) found[item] = place
  return found
}
