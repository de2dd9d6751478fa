import type { TimeRange } from './range.ts'

export interface Ticks {
  /** Distance between ticks, ns: 1, 2 or 5 times a power of ten. */
  readonly stepNs: number
  readonly at: readonly number[]
}

/** Round times about `apart` pixels from each other, none closer. */
export const timeTicks = (range: TimeRange, width: number, apart: number): Ticks => {
  const rough = ((range.endNs - range.startNs) * apart) / Math.max(1, width)
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)))
  const stepNs = [1, 2, 5, 10].map((m) => m * power).find((step) => step >= rough) ?? 10 * power
  const first = Math.ceil(range.startNs / stepNs)
  const last = Math.floor(range.endNs / stepNs)
  return { stepNs, at: Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * stepNs) }
}

const UNITS = [
  { ns: 1e9, name: 's' },
  { ns: 1e6, name: 'ms' },
  { ns: 1e3, name: 'µs' },
  { ns: 1, name: 'ns' },
] as const

/** A tick's time with just the digits that tell it from its neighbours: `12.34 ms` where ticks are 10 µs apart. */
export const tickLabel = (ns: number, stepNs: number): string => {
  const unit = UNITS.find((u) => Math.abs(ns) >= u.ns || (ns === 0 && stepNs >= u.ns)) ?? {
    ns: 1,
    name: 'ns',
  }
  const digits = Math.max(0, -Math.floor(Math.log10(stepNs / unit.ns) + 1e-9))
  return `${(ns / unit.ns).toFixed(digits)}\u2009${unit.name}`
}

/** A time with the digits that tell the ends of a range apart to a thousandth of it. */
export const timeText = (ns: number, { startNs, endNs }: TimeRange): string =>
  tickLabel(ns, 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, (endNs - startNs) / 1000)))))
