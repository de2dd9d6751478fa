import type { ColourMode } from './look.ts'

/** What of a used page tells its colour. */
export interface Shaded {
  readonly request: number
  /** Keys in it, as a share of its slots. */
  readonly fill: number
  /** Step at which it was taken, -1 unknown. */
  readonly taken: number
}

/** Neighbouring numbers get lightnesses that are far apart, and a number always the same. */
const GOLDEN = 0.618_033_988_75

const spread = (request: number): number => (0.35 + request * GOLDEN) % 1

/** Place on the ramp, 0 to 1; `taken` is the first and last step at which pages were taken. */
export const shadeOf = (
  { request, fill, taken }: Shaded,
  mode: ColourMode,
  range: readonly [number, number] | null,
): number => {
  switch (mode) {
    case 'owner':
      return 0.2 + 0.6 * spread(request)
    case 'fill':
      return 0.15 + 0.75 * Math.min(1, fill)
    case 'age': {
      if (range === null || taken < 0) return 0.3
      const [first, last] = range
      return last === first ? 0.3 : 0.15 + 0.75 * ((taken - first) / (last - first))
    }
  }
}
