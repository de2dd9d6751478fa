import type { SweepConfig } from '../../app/sweep/config.ts'
import type { Prediction } from '../../app/sweep/cost.ts'
import type { TimeEstimate } from '../../app/sweep/estimate.ts'
import type { SweepPoint } from '../../app/sweep/expand.ts'
import type { MissingPoint } from '../../app/sweep/manifest.ts'
import { Done, type Measurement, measurementsOf } from '../../app/sweep/plan.ts'
import { measuredRow, type PointRow, type SweepLabels } from '../../app/sweep/point-rows.ts'
import type { SweepBundle } from '../store/sweep-bundle.ts'
import type { Signals } from './signals.ts'
import type { SweepEngine } from './sweep-engine.ts'

/** Points in a row whose run fails before the engine counts as broken. */
const FAILURES_IN_A_ROW = 3

export interface LoopProgress {
  readonly done: number
  readonly total: number
  readonly key: string
  readonly repeat: number
  readonly tokensPerSecond: number | undefined
  /** Of all that is left. */
  readonly secondsLeft: number
}

export interface Loop {
  readonly config: SweepConfig
  readonly points: readonly SweepPoint[]
  readonly labels: SweepLabels
  /** With the exchange of the measuring device, by point. */
  readonly predictions: ReadonlyMap<string, Prediction>
  readonly estimate: TimeEstimate
  readonly engine: SweepEngine
  readonly signals: Signals
  readonly bundle: SweepBundle
  /** Rows of the bundle so far; those that are measured are added. */
  readonly rows: PointRow[]
  /** Seconds that the sweep may take; no repeat is begun that would probably end later. */
  readonly seconds: number
  readonly show: (progress: LoopProgress) => void
}

/** How the measuring ended. `broken` has the reason of the last failure. */
export type LoopEnd =
  | { readonly kind: 'complete' | 'stopped' | 'out of time' }
  | { readonly kind: 'broken'; readonly reason: string }

/** Measures what is open of a sweep, point by point. Rejects when the bundle cannot be written. */
export const measurePoints = async (loop: Loop): Promise<LoopEnd> => {
  const begun = performance.now()
  const done = new Done(loop.rows)
  const queue = measurementsOf(loop.points)
  let failures = 0
  let measuredAny = false
  for (const measurement of queue)
    for (const repeat of done.open(measurement, loop.config.repeats)) {
      const [point] = measurement.points
      const expected = loop.estimate.of(point)
      const elapsed = (performance.now() - begun) / 1e3
      // At least one, or a sweep in short slices would never get on.
      if (measuredAny && elapsed + expected > loop.seconds) return { kind: 'out of time' }
      if (loop.signals.asked()) return { kind: 'stopped' }
      loop.show(progressOf(loop, done, queue, measurement, repeat))
      const from = performance.now()
      const outcome = await loop.engine.run(point.run)
      measuredAny = true
      if (outcome.kind === 'stopped') return { kind: 'stopped' }
      if (outcome.kind !== 'measured') {
        noteMissing(loop.bundle, measurement, outcome.kind, outcome.reason)
        failures = outcome.kind === 'failed' ? failures + 1 : 0
        if (failures === FAILURES_IN_A_ROW) return { kind: 'broken', reason: outcome.reason }
        break
      }
      failures = 0
      loop.estimate.took(point, (performance.now() - from) / 1e3)
      const rows = measurement.points
        .filter(({ key }) => !done.has(key, repeat))
        .map((own) => measuredRow(own, loop.labels, repeat, outcome.meter, loop.predictions.get(own.key)))
      loop.bundle.add(rows)
      loop.rows.push(...rows)
      for (const row of rows) done.add(row)
    }
  return { kind: 'complete' }
}

const noteMissing = (
  bundle: SweepBundle,
  { points }: Measurement,
  why: MissingPoint['why'],
  reason: string,
): void => {
  const { sweep } = bundle.manifest
  if (sweep === undefined) return
  bundle.note({ ...sweep, missing: [...sweep.missing, ...points.map(({ key }) => ({ key, why, reason }))] })
}

/** Seconds of all repeats that are open. */
export const secondsLeft = (
  estimate: TimeEstimate,
  done: Done,
  measurements: readonly Measurement[],
  repeats: number,
): number =>
  measurements.reduce(
    (sum, measurement) => sum + estimate.of(measurement.points[0], done.open(measurement, repeats).length),
    0,
  )

const progressOf = (
  { config, points, estimate, rows }: Loop,
  done: Done,
  queue: readonly Measurement[],
  { points: [{ key }] }: Measurement,
  repeat: number,
): LoopProgress => ({
  done: done.whole(points, config.repeats).length,
  total: points.length,
  key,
  repeat,
  tokensPerSecond: rows.findLast((row) => row.repeat >= 0)?.tokensPerSecond,
  secondsLeft: secondsLeft(estimate, done, queue, config.repeats),
})
