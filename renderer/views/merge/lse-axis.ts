import type { RankPart } from './model.ts'

/** A rank's mark on the lse axis; marks that would overlap stand in different lanes. */
export interface Mark {
  readonly rank: number
  readonly x: number
  readonly lane: number
}

export interface LseAxis {
  readonly min: number
  readonly max: number
  readonly marks: readonly Mark[]
  readonly lanes: number
  /** Ranks without a finite lse, which stand beside the axis. */
  readonly off: readonly RankPart[]
  readonly xOf: (lse: number) => number
}

/** Range of the finite values with some air; [-1, 1] when there are none. */
const rangeOf = (values: readonly number[]): [number, number] => {
  const finite = values.filter(Number.isFinite)
  if (finite.length === 0) return [-1, 1]
  const min = Math.min(...finite)
  const max = Math.max(...finite)
  const air = Math.max((max - min) * 0.06, 1e-6 * Math.max(1, Math.abs(max)), max === min ? 0.5 : 0)
  return [min - air, max + air]
}

/** First lane whose last mark is at least `gap` left of x. */
const laneFor = (x: number, ends: number[], gap: number): number => {
  const free = ends.findIndex((end) => x - end >= gap)
  const lane = free < 0 ? ends.length : free
  ends[lane] = x
  return lane
}

/** Places ranks on an axis of `width` pixels; `lines` are other values that must be on it. */
export const lseAxis = (
  ranks: readonly RankPart[],
  lines: readonly (number | null)[],
  width: number,
  gap: number,
): LseAxis => {
  const on = ranks.filter((r) => r.state === 'finite')
  const [min, max] = rangeOf([...on.map((r) => r.lse), ...lines.filter((l) => l !== null)])
  const xOf = (lse: number): number => ((lse - min) / (max - min)) * width
  const ends: number[] = []
  const marks = on
    .toSorted((a, b) => a.lse - b.lse)
    .map((r) => ({ rank: r.rank, x: xOf(r.lse), lane: laneFor(xOf(r.lse), ends, gap) }))
  return {
    min,
    max,
    marks,
    lanes: Math.max(1, ends.length),
    off: ranks.filter((r) => r.state !== 'finite'),
    xOf,
  }
}

/** About `count` round values within [min, max]. */
export const axisTicks = (min: number, max: number, count: number): number[] => {
  const raw = (max - min) / Math.max(1, count)
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = ([1, 2, 5, 10].find((f) => f * power >= raw) ?? 10) * power
  const first = Math.ceil(min / step)
  const last = Math.floor(max / step)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step)
}

/** Digits after the point that tell neighbouring ticks apart. */
export const tickDigits = (ticks: readonly number[]): number => {
  const step = (ticks[1] ?? 1) - (ticks[0] ?? 0)
  return Math.min(6, Math.max(0, -Math.floor(Math.log10(Math.abs(step) || 1) + 1e-9)))
}
