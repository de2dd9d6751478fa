import type { StoreResult } from '../../../app/protocol/store.ts'

export type Histogram = StoreResult<'tensorHistogram'>

/** A bar: values from `from` to below `to` (the last: to `to`). */
export interface Bar {
  readonly from: number
  readonly to: number
  readonly count: number
}

/** Bars of equal steps, from the least to the largest value. */
export const linearBars = ({ linear, counts }: Histogram): Bar[] => {
  const { least, most } = counts
  const whole = linear.length > 1 && most - least + 1 === linear.length && Number.isInteger(least)
  const step = whole ? 1 : (most - least) / linear.length
  return Array.from(linear, (count, i) => ({
    from: least + i * step,
    to: least + (i + 1) * step,
    count,
  }))
}

/** Bars of powers of two: negative ones from the largest size on, then positive ones. */
export const octaveBars = ({ leastExponent, negative, positive }: Histogram): Bar[] => {
  const size = (i: number): number => 2 ** (leastExponent + i)
  const below = Array.from(negative, (count, i) => ({ from: -2 * size(i), to: -size(i), count })).reverse()
  const above = Array.from(positive, (count, i) => ({ from: size(i), to: 2 * size(i), count }))
  const some = (bars: readonly Bar[]): boolean => bars.some(({ count }) => count > 0)
  return [...(some(below) ? below : []), ...(some(above) ? above : [])]
}

/** Bar under a point of the plot; null outside. */
export const barAt = (bars: readonly Bar[], x: number, width: number): Bar | null =>
  x < 0 || x >= width ? null : (bars[Math.floor((x / width) * bars.length)] ?? null)
