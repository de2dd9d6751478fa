import { median } from '../statistics/sample.ts'
import { collectivesOf } from './collectives.ts'
import type { PathSegment } from './critical-path.ts'
import { commonLength, type Interval, lengthOf, union } from './intervals.ts'
import { STAGE_FAMILY, STAGES } from './stages.ts'
import { type StepSpan, waitOfSpan } from './step-spans.ts'

/** What one rank did with the time of a step, ns. */
export interface RankBalance {
  readonly rank: number
  /** In stages that are no collectives. */
  readonly workNs: number
  /** In collectives once the last rank had entered. */
  readonly transferNs: number
  /** Of the transfer: at the same time as work. What is left of it is exposed. */
  readonly overlapNs: number
  /** Likewise of recorded kernels, those of stages that communicate; null where none were recorded. */
  readonly kernelOverlapNs: number | null
  /** Waiting for the last rank to enter collectives. */
  readonly waitNs: number
  /** In no span at all, from the start of the step to its end. */
  readonly idleNs: number
  /** On the critical path. */
  readonly pathNs: number
  /** Waiting of the others in collectives that this rank entered last, and how many those were. */
  readonly causedNs: number
  readonly enteredLast: number
}

/** A recorded kernel, ns. */
export interface StepKernel extends Interval {
  readonly rank: number
  readonly stage: number
}

const communicates = (stage: number): boolean => {
  const name = STAGES[stage]
  return name !== undefined && STAGE_FAMILY[name] === 'communication'
}

/** The ranks of a step, each with what it did, in order. */
export const rankBalances = (
  spans: readonly StepSpan[],
  path: readonly PathSegment[],
  kernels: readonly StepKernel[],
): readonly RankBalance[] => {
  const whole = {
    startNs: spans.reduce((least, { startNs }) => Math.min(least, startNs), Number.POSITIVE_INFINITY),
    endNs: spans.reduce((most, { endNs }) => Math.max(most, endNs), Number.NEGATIVE_INFINITY),
  }
  const collectives = [...collectivesOf(spans).values()]
  const ranks = [...new Set(spans.map(({ rank }) => rank))].sort((a, b) => a - b)
  return ranks.map((rank) => {
    const own = spans.filter((span) => span.rank === rank)
    const work = union(own.filter(({ collective }) => collective < 0))
    const meetings = own.filter(({ collective }) => collective >= 0)
    const transfer = union(
      meetings.map(({ startNs, lastEnterNs, endNs }) => ({ startNs: Math.max(startNs, lastEnterNs), endNs })),
    )
    const late = collectives.filter(({ lastRank, waitNs }) => lastRank === rank && waitNs > 0)
    return {
      rank,
      workNs: lengthOf(work),
      transferNs: lengthOf(transfer),
      overlapNs: commonLength(work, transfer),
      kernelOverlapNs: kernelOverlap(kernels.filter((kernel) => kernel.rank === rank)),
      waitNs: meetings.reduce((sum, span) => sum + waitOfSpan(span), 0),
      idleNs: whole.endNs - whole.startNs - lengthOf(union(own)),
      pathNs: lengthOf(path.filter((segment) => segment.rank === rank)),
      causedNs: late.reduce((sum, { waitNs }) => sum + waitNs, 0),
      enteredLast: late.length,
    }
  })
}

const kernelOverlap = (kernels: readonly StepKernel[]): number | null => {
  if (kernels.length === 0) return null
  const [moving, working] = [true, false].map((moves) =>
    union(kernels.filter(({ stage }) => communicates(stage) === moves)),
  )
  return commonLength(moving ?? [], working ?? [])
}

/** The rank that the others waited for, and the stage that made it late. */
export interface SlowestRank {
  readonly rank: number
  readonly causedNs: number
  /** Of all waiting. */
  readonly share: number
  /** The stage by which it lost most: what it took on the rank, and the median of the others; null where it lost by none. */
  readonly stage: { readonly stage: number; readonly ownNs: number; readonly othersNs: number } | null
}

/** Waiting below this share of the ranks' time is noise, and no rank is slow. */
const LEAST_WAIT = 0.01
/** A rank stands out when it caused so many times its even share of the waiting. */
const STANDS_OUT = 1.5

/** The rank that stands out as slow; null where none does. */
export const slowestRank = (
  spans: readonly StepSpan[],
  balances: readonly RankBalance[],
): SlowestRank | null => {
  const waited = balances.reduce((sum, { waitNs }) => sum + waitNs, 0)
  const time = balances.reduce((sum, b) => sum + b.workNs + b.transferNs + b.waitNs, 0)
  const worst = balances.reduce<RankBalance | undefined>(
    (most, balance) => (most === undefined || balance.causedNs > most.causedNs ? balance : most),
    undefined,
  )
  if (worst === undefined || waited < LEAST_WAIT * time) return null
  const share = worst.causedNs / waited
  if (share < Math.min(0.9, STANDS_OUT / balances.length)) return null
  return { rank: worst.rank, causedNs: worst.causedNs, share, stage: lateStage(spans, worst.rank) }
}

const lateStage = (spans: readonly StepSpan[], rank: number): SlowestRank['stage'] => {
  const ranks = [...new Set(spans.map((span) => span.rank))]
  const work = spans.filter(({ collective }) => collective < 0)
  const sumOf = (of: number, stage: number): number =>
    lengthOf(work.filter((span) => span.rank === of && span.stage === stage))
  let found: SlowestRank['stage'] = null
  for (const stage of new Set(work.filter((span) => span.rank === rank).map((span) => span.stage))) {
    const ownNs = sumOf(rank, stage)
    const othersNs = median(ranks.filter((other) => other !== rank).map((other) => sumOf(other, stage)))
    const lost = found === null ? 0 : found.ownNs - found.othersNs
    if (ownNs - othersNs > lost) found = { stage, ownNs, othersNs }
  }
  return found
}
