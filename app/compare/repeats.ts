import { ratioOf } from '../statistics/sample.ts'
import type { Manifest } from '../trace/manifest.ts'
import { runDifferences } from './configs.ts'
import { MEASURES, type Measure } from './times.ts'

/** A measure over repeats of both runs: every run counts once, by its median, so what differs from run to run is in it. */
export interface RepeatRow {
  readonly measure: Measure
  /** Runs of each side that have it. */
  readonly a: number
  readonly b: number
  /** B over A of the geometric means, and its 95% interval by Welch's test on logarithms, which takes runs for independent. */
  readonly ratio: number
  readonly low: number
  readonly high: number
}

/** Repeats of a run that are read at most. */
export const MOST_REPEATS = 8

/** Whether two runs did the same in the same place, whatever was watched of it: then each is a repeat of the other. */
export const areRepeats = (a: Manifest, b: Manifest): boolean =>
  runDifferences(a, b).every(({ kind }) => kind === 'watch')

/** Compares repeats by the medians of each run; only what at least two runs of both sides have, and spent time in. */
export const acrossRuns = (
  a: readonly ReadonlyMap<Measure, number>[],
  b: readonly ReadonlyMap<Measure, number>[],
): RepeatRow[] =>
  MEASURES.flatMap((measure) => {
    const of = (runs: readonly ReadonlyMap<Measure, number>[]): number[] =>
      runs.flatMap((medians) => {
        const median = medians.get(measure) ?? 0
        return median > 0 ? [median] : []
      })
    const [ofA, ofB] = [of(a), of(b)]
    const { ratio, interval } = ratioOf(ofB, ofA)
    return interval === null
      ? []
      : [{ measure, a: ofA.length, b: ofB.length, ratio, low: interval[0], high: interval[1] }]
  })
