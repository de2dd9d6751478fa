/** A part of time, ns. */
export interface Interval {
  readonly startNs: number
  readonly endNs: number
}

/** The same time as intervals that rise and do not touch. */
export const union = (intervals: readonly Interval[]): readonly Interval[] => {
  const sorted = intervals
    .filter(({ startNs, endNs }) => endNs > startNs)
    .sort((a, b) => a.startNs - b.startNs)
  const joined: { startNs: number; endNs: number }[] = []
  for (const { startNs, endNs } of sorted) {
    const last = joined.at(-1)
    if (last !== undefined && startNs <= last.endNs) last.endNs = Math.max(last.endNs, endNs)
    else joined.push({ startNs, endNs })
  }
  return joined
}

export const lengthOf = (intervals: readonly Interval[]): number =>
  intervals.reduce((sum, { startNs, endNs }) => sum + endNs - startNs, 0)

/** Time that lies in both; each as `union` gives it. */
export const commonLength = (a: readonly Interval[], b: readonly Interval[]): number => {
  let [i, j, sum] = [0, 0, 0]
  for (;;) {
    const [one, other] = [a[i], b[j]]
    if (one === undefined || other === undefined) return sum
    sum += Math.max(0, Math.min(one.endNs, other.endNs) - Math.max(one.startNs, other.startNs))
    if (one.endNs < other.endNs) i++
    else j++
  }
}
