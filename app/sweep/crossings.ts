import { ratioOf } from '../statistics/sample.ts'
import { type Axis, arrangementName, type Curve, type Spot } from './spots.ts'

/** Where the curve of an arrangement crosses that of the baseline. */
export interface Crossing {
  /** Place on the axis at which both rates are equal, between two points: straight over the logarithm of the place. */
  readonly at: number
  /** Rate of the baseline there, tokens/s. */
  readonly rate: number
  readonly between: readonly [number, number]
  /** Who is faster from there on. */
  readonly into: 'dcp' | 'tp'
  /** Whether the difference is significant at both points between which it lies. */
  readonly clear: boolean
}

/** One arrangement beside the baseline, along an axis. */
export interface Course {
  /** Name of the arrangement. */
  readonly name: string
  readonly crossings: readonly Crossing[]
  /** Who is faster at the first place that both have; undefined where rates are equal all along. */
  readonly begins: 'dcp' | 'tp' | undefined
  /** The first and the last place that both have. */
  readonly from: number
  readonly to: number
}

/**
 * What tells a difference from noise: the spread of the repeats, or for predictions the factor by which the model is off,
 * as in the summary.
 */
export type Noise = 'repeats' | number

const isClear = (a: Spot, b: Spot, noise: Noise): boolean => {
  const rates = (spot: Spot): number[] => spot.rows.map((row) => row.tokensPerSecond)
  const { ratio, interval } = ratioOf(rates(a), rates(b))
  if (noise !== 'repeats') return Math.max(ratio, 1 / ratio) > noise
  return interval !== null && (interval[0] > 1 || interval[1] < 1)
}

interface Pair {
  readonly x: number
  /** Rate above that of the baseline. */
  readonly lead: number
  readonly spot: Spot
  readonly tp: Spot
}

const pairsOf = (curve: Curve, baseline: Curve, axis: Axis): Pair[] => {
  const known = new Map(baseline.spots.map((spot) => [spot[axis], spot]))
  return curve.spots.flatMap((spot): Pair[] => {
    const tp = known.get(spot[axis])
    if (tp === undefined) return []
    return [{ x: spot[axis], lead: spot.tokensPerSecond - tp.tokensPerSecond, spot, tp }]
  })
}

const crossingOf = (a: Pair, b: Pair, noise: Noise): Crossing => {
  const part = a.lead / (a.lead - b.lead)
  const [before, after] = [a.tp.tokensPerSecond, b.tp.tokensPerSecond]
  return {
    at: a.x * (b.x / a.x) ** part,
    rate: before + (after - before) * part,
    between: [a.x, b.x],
    into: b.lead > 0 ? 'dcp' : 'tp',
    clear: isClear(a.spot, a.tp, noise) && isClear(b.spot, b.tp, noise),
  }
}

/** Every arrangement of one kind beside the baseline of that kind; nothing without a baseline. */
export const coursesOf = (curves: readonly Curve[], axis: Axis, noise: Noise): Course[] => {
  const baseline = curves.find(({ mode }) => mode === 'tp')
  if (baseline === undefined) return []
  return curves.flatMap((curve): Course[] => {
    const pairs = curve === baseline ? [] : pairsOf(curve, baseline, axis)
    const [first, last] = [pairs[0], pairs.at(-1)]
    if (first === undefined || last === undefined) return []
    // Where both are as fast, nobody has passed yet.
    const apart = pairs.filter(({ lead }) => lead !== 0)
    const crossings = apart.slice(1).flatMap((pair, i) => {
      const before = apart[i]
      return before === undefined || before.lead > 0 === pair.lead > 0
        ? []
        : [crossingOf(before, pair, noise)]
    })
    const lead = apart[0]?.lead
    const begins = lead === undefined ? undefined : lead > 0 ? 'dcp' : 'tp'
    return [{ name: arrangementName(curve), crossings, begins, from: first.x, to: last.x }]
  })
}
