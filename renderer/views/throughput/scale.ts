import { scaleLinear } from 'd3'

/** Bounds of an axis and where its labels stand. */
export interface Extent {
  readonly domain: readonly [number, number]
  readonly ticks: readonly number[]
}

const NOTHING: Extent = { domain: [0, 1], ticks: [0, 1] }

/** Rates from zero on. */
const linear = (most: number): Extent => {
  const scale = scaleLinear([0, most], [0, 1]).nice(5)
  const [low = 0, high = 1] = scale.domain()
  return { domain: [low, high], ticks: scale.ticks(5) }
}

/** 1, 2 and 5 times every power of ten from below `least` to above `most`. */
const roundNumbers = (least: number, most: number): { readonly value: number; readonly isTen: boolean }[] => {
  const [low, high] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))]
  return Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)).flatMap((ten) =>
    [1, 2, 5].map((times) => ({ value: times * ten, isTen: times === 1 })),
  )
}

/** The least range between round numbers that holds all rates, so that little of it is empty. */
const logarithmic = (least: number, most: number): Extent => {
  const round = roundNumbers(least, most)
  const low = round.findLast(({ value }) => value <= least)?.value ?? least
  const high = round.find(({ value }) => value >= most && value > low)?.value ?? most
  const inside = round.filter(({ value }) => value >= low && value <= high)
  const tens = inside.filter(({ isTen }) => isTen)
  const shown = inside.length > 8 && tens.length > 2 ? tens : inside
  return { domain: [low, high], ticks: shown.map(({ value }) => value) }
}

/** An axis for rates, which lie above 0; those that do not are left to the edge. */
export const rateExtent = (rates: readonly number[], log: boolean): Extent => {
  const known = rates.filter((rate) => Number.isFinite(rate) && rate > 0)
  if (known.length === 0) return NOTHING
  const [least, most] = [Math.min(...known), Math.max(...known)]
  return log ? logarithmic(least, most) : linear(most)
}

/** Lines on which spans, given by their ends and rising, do not touch: for each the first that is free. */
export const lanesOf = (spans: readonly (readonly [from: number, to: number])[]): number[] => {
  const ends: number[] = []
  return spans.map(([from, to]) => {
    const free = ends.findIndex((end) => end <= from)
    const lane = free < 0 ? ends.length : free
    ends[lane] = to
    return lane
  })
}

/** An axis for contexts or concurrencies, which are told apart by their ratio; never without width. */
export const placeExtent = (values: readonly number[]): Extent => {
  const ticks = [...new Set(values)].filter((value) => value > 0).sort((a, b) => a - b)
  const [least, most] = [ticks[0], ticks.at(-1)]
  if (least === undefined || most === undefined) return { domain: [1, 2], ticks: [] }
  return { domain: least === most ? [least / 2, most * 2] : [least, most], ticks }
}
