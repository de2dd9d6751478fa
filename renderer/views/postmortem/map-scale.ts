import type { Measure } from '../../../app/dump/survey.ts'

/** Ends of the ramp; between them linear, or by powers of ten. */
export interface MapScale {
  readonly from: number
  readonly to: number
  readonly log: boolean
  readonly infinite: boolean
  readonly nan: boolean
}

/** From this ratio of the largest to the smallest size on colours go by powers of ten. */
const LOG_FROM = 100

/** One scale for the maps of all ranks, so that the same colour is the same number. */
export const mapScale = (maps: readonly ArrayLike<number>[], measure: Measure): MapScale => {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  let leastAbove0 = Number.POSITIVE_INFINITY
  let infinite = false
  let nan = false
  for (const cells of maps)
    for (let i = 0; i < cells.length; i++) {
      const value = cells[i] ?? 0
      if (Number.isNaN(value)) nan = true
      else if (!Number.isFinite(value)) infinite = true
      else {
        least = Math.min(least, value)
        most = Math.max(most, value)
        if (value > 0) leastAbove0 = Math.min(leastAbove0, value)
      }
    }
  if (most < least) return { from: 0, to: 1, log: false, infinite, nan }
  const sizes = measure === 'absmax' || measure === 'norm'
  if (sizes && most / leastAbove0 >= LOG_FROM) {
    const from = Math.max(Math.floor(Math.log10(leastAbove0)), Math.ceil(Math.log10(most)) - 12)
    return { from: 10 ** from, to: 10 ** Math.ceil(Math.log10(most)), log: true, infinite, nan }
  }
  const from = measure === 'value' ? least : 0
  return { from, to: most > from ? most : from + 1, log: false, infinite, nan }
}

/** Place of a value on the ramp, 0 to 1; null for NaN and infinities, which have textures. */
export const placeOn = ({ from, to, log }: MapScale, value: number): number | null => {
  if (!Number.isFinite(value)) return null
  if (!log) return Math.min(1, Math.max(0, (value - from) / (to - from)))
  if (value <= from) return 0
  return Math.min(1, Math.log(value / from) / Math.log(to / from))
}
