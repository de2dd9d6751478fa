/** How far the steady clock of another machine is from this one's: add `offsetNs` to this one's time. */
export interface Offset {
  readonly offsetNs: bigint
  /** Half of the shortest way there and back: the offset is known within it. */
  readonly errorNs: number
}

export const ROUNDS = 100

/** Whether it is another clock, and not this one read from afar. */
export const isOther = ({ offsetNs, errorNs }: Offset): boolean => Math.abs(Number(offsetNs)) > errorNs

/**
 * Reads another clock `rounds` times and believes the reading that took the shortest way. `read` gives the time there,
 * `now` the time here, both in nanoseconds.
 */
export const measureOffset = async (
  read: () => Promise<bigint>,
  now: () => bigint,
  rounds = ROUNDS,
): Promise<Offset> => {
  let best: Offset | undefined
  for (let i = 0; i < rounds; i++) {
    const begin = now()
    const there = await read()
    const end = now()
    const errorNs = Number(end - begin) / 2
    if (best === undefined || errorNs < best.errorNs) best = { offsetNs: there - (begin + end) / 2n, errorNs }
  }
  if (best === undefined) throw new Error('a clock that is never read cannot be aligned')
  return best
}

/** Within how much a clock stood to this one over a run: what was measured at begin and end, and how it moved between. */
export const uncertaintyOf = (begin: Offset, end: Offset): number => {
  const moved = end.offsetNs - begin.offsetNs
  return Math.ceil(Math.max(begin.errorNs, end.errorNs + Math.abs(Number(moved))))
}
