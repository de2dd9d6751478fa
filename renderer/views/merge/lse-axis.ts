import type { RankPart } from './model.ts'

/** A rank's mark on the lse axis; marks that would overlap stand in different lanes. */
export interface Mark {
  readonly rank: number
  readonly x: number
  readonly lane: number
  /** Whether it is wide enough for its number. */
  readonly labelled: boolean
}

/** Widths of marks in pixels, the air between two, and how many lanes have the height of a number. */
export interface MarkRoom {
  readonly label: number
  readonly gap: number
  readonly lanes: number
}

export interface LseAxis {
  readonly min: number
  readonly max: number
  readonly marks: readonly Mark[]
  readonly lanes: number
  /** Width of marks without a number. */
  readonly slim: number
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

/** Widths of marks without a number, the last ones hardly more than lines. */
const SLIM = [6, 4, 2, 1] as const
const THINNEST = 1

interface Place {
  readonly rank: number
  readonly x: number
}

/** First of `high` neighbouring lanes that are free from `left` on; they are then taken up to `right`. */
const laneFor = (left: number, right: number, high: number, ends: number[]): number => {
  let lane = 0
  for (let next = 0; next < lane + high; next++) if (left < (ends[next] ?? left)) lane = next + 1
  for (let next = lane; next < lane + high; next++) ends[next] = right
  return lane
}

/** Marks in as many lanes as they take; those with a number are `high` lanes high. */
const marksOf = (
  places: readonly Place[],
  { label, gap }: MarkRoom,
  slim: number,
  labelled: ReadonlySet<number>,
  high: number,
): { marks: Mark[]; lanes: number } => {
  const ends: number[] = []
  const marks = places.map(({ rank, x }) => {
    const named = labelled.has(rank)
    const half = (named ? label : slim) / 2
    // Thin marks stand closer.
    const air = named ? gap : Math.min(gap, slim / 2)
    const lane = laneFor(x - half, x + half + air, named ? high : 1, ends)
    return { rank, x, lane, labelled: named }
  })
  return { marks, lanes: Math.max(1, ends.length) }
}

/** How soon a rank gets its number: multiples of 32 first, then those of 16, 8 and so on. */
const precedence = (rank: number): number => (rank === 0 ? 2 ** 30 : rank & -rank)

/**
 * Marks with numbers as far as they fit: all, or where there are too many, those of every 2nd, 4th and so on, and
 * others that have room. Where marks need more lanes than `room` has, all are lower, and a number takes several.
 */
const numbered = (
  places: readonly Place[],
  room: MarkRoom,
): { marks: Mark[]; lanes: number; slim: number } => {
  const bare = (slim: number) => ({ ...marksOf(places, room, slim, new Set(), 1), slim })
  const base = SLIM.map(bare).find(({ lanes }) => lanes <= room.lanes) ?? bare(THINNEST)
  const most = Math.max(room.lanes, base.lanes)
  const high = Math.ceil(most / room.lanes)
  const labelled = new Set<number>()
  let best = base
  const ranks = places.map(({ rank }) => rank).toSorted((a, b) => precedence(b) - precedence(a) || a - b)
  for (const rank of ranks) {
    labelled.add(rank)
    const next = marksOf(places, room, base.slim, labelled, high)
    if (next.lanes > most) labelled.delete(rank)
    else best = { ...next, slim: base.slim }
  }
  return best
}

/** Places ranks on an axis of `width` pixels; `lines` are other values that must be on it. */
export const lseAxis = (
  ranks: readonly RankPart[],
  lines: readonly (number | null)[],
  width: number,
  room: MarkRoom,
): LseAxis => {
  const on = ranks.filter((r) => r.state === 'finite')
  const [min, max] = rangeOf([...on.map((r) => r.lse), ...lines.filter((l) => l !== null)])
  const xOf = (lse: number): number => ((lse - min) / (max - min)) * width
  const places = on.toSorted((a, b) => a.lse - b.lse).map((r) => ({ rank: r.rank, x: xOf(r.lse) }))
  return { min, max, ...numbered(places, room), off: ranks.filter((r) => r.state !== 'finite'), xOf }
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
