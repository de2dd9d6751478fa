import type { RunSummary } from '../../app/trace/manifest.ts'
import { formatPercent } from './format.ts'

type ObserverCost = NonNullable<RunSummary['observerCost']>

/** By how much of an untraced step the traced one is longer; below 0 where it was shorter. */
export const observerShare = ({ tracedUs, untracedUs }: ObserverCost): number =>
  untracedUs > 0 ? tracedUs / untracedUs - 1 : Number.NaN

/** The observer's cost with its sign: `+0.4 %`. */
export const observerText = (cost: ObserverCost): string => {
  const text = formatPercent(observerShare(cost))
  return observerShare(cost) > 0 ? `+${text}` : text
}
