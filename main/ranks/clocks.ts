import type { Manifest } from '../../app/trace/manifest.ts'
import { isOther, measureOffset, type Offset, ROUNDS, uncertaintyOf } from './align.ts'
import type { RankLine } from './rank-line.ts'

/** Finds the ranks that read another clock than the leader. `now` is the leader's; `isOver` ends it early. */
export const alignClocks = async (
  ranks: readonly RankLine[],
  now: () => bigint,
  isOver: () => boolean,
): Promise<void> => {
  // One after the other, since they would wait for each other in this process.
  for (const rank of ranks) {
    const offset = isOver() ? undefined : await measured(rank, now)
    if (offset !== undefined && isOther(offset)) rank.clock = offset
  }
}

/** Within how many nanoseconds the clocks stood to the leader's over the run; 0 where all read one. */
export const clockUncertainty = async (ranks: readonly RankLine[], now: () => bigint): Promise<number> => {
  let worst = 0
  for (const rank of ranks) {
    if (rank.clock === undefined) continue
    const end = await measured(rank, now)
    worst = Math.max(worst, end === undefined ? rank.clock.errorNs : uncertaintyOf(rank.clock, end))
  }
  return Math.ceil(worst)
}

/** Within how much ranks know their own clocks, the worst of them; one that says no more, as when it began. */
export const ownUncertainty = (ranks: readonly RankLine[]): number =>
  Math.max(0, ...ranks.map(({ end, manifest }) => end?.uncertaintyNs ?? manifest?.clock.uncertaintyNs ?? 0))

/** What the manifest says at the beginning; `alignment` is what a rank says of itself. */
export const clocksOf = (ranks: readonly RankLine[], alignment: string): Omit<Manifest['clock'], 'base'> => {
  const others = ranks.flatMap(({ clock }) => clock ?? [])
  const uncertaintyNs = ownUncertainty(ranks)
  if (others.length === 0) return { alignment, uncertaintyNs }
  return {
    alignment:
      `${alignment}; the clocks of ${others.length} of ${ranks.length} ranks are others than rank 0's and were ` +
      `set to it by the quickest of ${ROUNDS} messages there and back, at the beginning and at the end`,
    uncertaintyNs: uncertaintyNs + Math.ceil(Math.max(...others.map(({ errorNs }) => errorNs))),
  }
}

/** Undefined for a rank that is lost. */
const measured = (rank: RankLine, now: () => bigint): Promise<Offset | undefined> =>
  measureOffset(() => rank.readClock(), now).catch(() => undefined)
