/** How a person has arranged the lanes of a run. */
export interface LaneArrangement {
  /** Ranks from the top, where they were moved; those that are missing follow in their order. */
  readonly order: readonly number[]
  /** Ranks that stay at the top while the others scroll. */
  readonly pinned: readonly number[]
  readonly folded: readonly number[]
}

export const FIRST_ARRANGEMENT: LaneArrangement = { order: [], pinned: [], folded: [] }

/** All ranks as their lanes lie: the pinned ones first, each part in the order that was chosen. */
export const laneOrder = ({ order, pinned }: LaneArrangement, ranks: number): readonly number[] => {
  const chosen = [...new Set(order)].filter((rank) => rank >= 0 && rank < ranks)
  const all = [
    ...chosen,
    ...Array.from({ length: ranks }, (_, rank) => rank).filter((rank) => !chosen.includes(rank)),
  ]
  return [...all.filter((rank) => pinned.includes(rank)), ...all.filter((rank) => !pinned.includes(rank))]
}

/** With the lane of `rank` at a place of the order; it stays among the pinned ones, or among the others. */
export const movedTo = (
  arrangement: LaneArrangement,
  ranks: number,
  rank: number,
  slot: number,
): LaneArrangement => {
  const order = laneOrder(arrangement, ranks)
  const pinned = order.filter((one) => arrangement.pinned.includes(one)).length
  const isPinned = arrangement.pinned.includes(rank)
  const [least, most] = isPinned ? [0, pinned - 1] : [pinned, ranks - 1]
  const place = Math.min(most, Math.max(least, slot))
  const others = order.filter((one) => one !== rank)
  const next = [...others.slice(0, place), rank, ...others.slice(place)]
  return { ...arrangement, order: next }
}

/** With the lane of `rank` one place lower (1) or higher (-1). */
export const movedBy = (
  arrangement: LaneArrangement,
  ranks: number,
  rank: number,
  by: 1 | -1,
): LaneArrangement => movedTo(arrangement, ranks, rank, laneOrder(arrangement, ranks).indexOf(rank) + by)

const toggled = (ranks: readonly number[], rank: number): readonly number[] =>
  ranks.includes(rank) ? ranks.filter((one) => one !== rank) : [...ranks, rank]

export const togglePinned = (arrangement: LaneArrangement, rank: number): LaneArrangement => ({
  ...arrangement,
  pinned: toggled(arrangement.pinned, rank),
})

export const toggleFolded = (arrangement: LaneArrangement, rank: number): LaneArrangement => ({
  ...arrangement,
  folded: toggled(arrangement.folded, rank),
})

/** Folds all lanes, or unfolds them where all are folded. */
export const toggleAllFolded = (arrangement: LaneArrangement, ranks: number): LaneArrangement => ({
  ...arrangement,
  folded: arrangement.folded.length >= ranks ? [] : Array.from({ length: ranks }, (_, rank) => rank),
})

/** Whether the lanes lie otherwise than they did at first. */
export const isArranged = (arrangement: LaneArrangement, ranks: number): boolean =>
  arrangement.pinned.length > 0 ||
  arrangement.folded.length > 0 ||
  laneOrder(arrangement, ranks).some((rank, slot) => rank !== slot)

const isRanks = (value: unknown): value is number[] =>
  Array.isArray(value) &&
  value.length <= 4096 &&
  value.every((rank) => Number.isSafeInteger(rank) && rank >= 0)

/** An arrangement that was kept; null for anything else. */
export const parsedArrangement = (value: unknown): LaneArrangement | null => {
  if (typeof value !== 'object' || value === null) return null
  const [order, pinned, folded] = ['order', 'pinned', 'folded'].map((key): unknown => Reflect.get(value, key))
  return isRanks(order) && isRanks(pinned) && isRanks(folded) ? { order, pinned, folded } : null
}
