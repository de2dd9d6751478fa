import type { MeasuringProgress } from '../../app/protocol/sweep.ts'
import type { SweepConfig } from '../../app/sweep/config.ts'
import type { Prediction } from '../../app/sweep/cost.ts'
import type { TimeEstimate } from '../../app/sweep/estimate.ts'
import type { SweepPoint } from '../../app/sweep/expand.ts'
import type { MissingPoint, SweepManifest } from '../../app/sweep/manifest.ts'
import { Done, type Measurement, measurementsOf } from '../../app/sweep/plan.ts'
import { measuredRow, type PointRow, type SweepLabels } from '../../app/sweep/point-rows.ts'
import type { SweepBundle } from '../store/sweep-bundle.ts'
import type { PointOutcome, SweepEngine } from './sweep-engine.ts'

/** Points in a row whose run fails before the engine counts as broken. */
const FAILURES_IN_A_ROW = 3

export interface Loop {
  readonly config: SweepConfig
  readonly points: readonly SweepPoint[]
  readonly labels: SweepLabels
  /** With the exchange of the measuring device, by point. */
  readonly predictions: ReadonlyMap<string, Prediction>
  readonly estimate: TimeEstimate
  readonly engine: SweepEngine
  /** Whether the sweep was asked to stop. */
  readonly asked: () => boolean
  readonly bundle: SweepBundle
  /** Rows of the bundle so far; those that are measured are added. */
  readonly rows: PointRow[]
  /** Seconds that the sweep may take; no repeat is begun that would probably end later. */
  readonly seconds: number
  readonly show: (progress: MeasuringProgress) => void
}

/** How the measuring ended. `broken` has the reason of the last failure. */
export type LoopEnd =
  | { readonly kind: 'complete' | 'stopped' | 'out of time' }
  | { readonly kind: 'broken'; readonly reason: string }

/** Measures what is open of a sweep, point by point. Rejects when the bundle cannot be written. */
export const measurePoints = async (loop: Loop): Promise<LoopEnd> => {
  const begun = performance.now()
  const done = new Done(loop.rows)
  let failures = 0
  let any = false
  for (const measurement of measurementsOf(loop.points))
    for (const repeat of done.open(measurement, loop.config.repeats)) {
      const elapsed = (performance.now() - begun) / 1e3
      // One at least is measured, or a sweep in short slices would never get on.
      if (any && elapsed + loop.estimate.of(measurement.points[0]) > loop.seconds)
        return { kind: 'out of time' }
      if (loop.asked()) return { kind: 'stopped' }
      const outcome = await measureRepeat(loop, done, measurement, repeat)
      any ||= outcome.kind === 'measured'
      if (outcome.kind === 'stopped') return { kind: 'stopped' }
      failures = outcome.kind === 'failed' ? failures + 1 : 0
      if (outcome.kind === 'failed' && failures === FAILURES_IN_A_ROW)
        return { kind: 'broken', reason: outcome.reason }
      // Other repeats would fare no better.
      if (outcome.kind !== 'measured') break
    }
  return { kind: 'complete' }
}

/** Measures one repeat, and writes its rows or why there are none. */
const measureRepeat = async (
  loop: Loop,
  done: Done,
  measurement: Measurement,
  repeat: number,
): Promise<PointOutcome> => {
  const { bundle, estimate, labels, predictions } = loop
  const [point] = measurement.points
  loop.show(progressOf(loop, done, point, repeat))
  const from = performance.now()
  const outcome = await loop.engine.run(point.run)
  if (outcome.kind === 'stopped') return outcome
  if (outcome.kind !== 'measured') {
    noteMissing(bundle, measurement, outcome.kind, outcome.reason)
    return outcome
  }
  estimate.took(point, (performance.now() - from) / 1e3)
  const rows = measurement.points
    .filter(({ key }) => !done.has(key, repeat))
    .map((own) => measuredRow(own, labels, repeat, outcome.meter, predictions.get(own.key)))
  bundle.add(rows)
  loop.rows.push(...rows)
  for (const row of rows) done.add(row)
  return outcome
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

/** Seconds of all repeats of `points` that are open. */
export const secondsLeft = (
  estimate: TimeEstimate,
  done: Done,
  points: readonly SweepPoint[],
  repeats: number,
): number =>
  measurementsOf(points).reduce(
    (sum, measurement) => sum + estimate.of(measurement.points[0], done.open(measurement, repeats).length),
    0,
  )

const progressOf = (
  { config, points, estimate, rows, bundle }: Loop,
  done: Done,
  { key }: SweepPoint,
  repeat: number,
): MeasuringProgress => {
  const { sweep } = bundle.manifest
  const failed = sweep?.missing.filter(({ why }) => why === 'failed') ?? []
  const last = failed.at(-1)
  return {
    phase: 'measuring',
    done: done.whole(points, config.repeats).length,
    total: points.length,
    key,
    repeat,
    repeats: config.repeats,
    tokensPerSecond: rows.findLast((row) => row.repeat >= 0)?.tokensPerSecond,
    failed: failed.length,
    failure: last === undefined ? undefined : `${last.key}: ${last.reason}`,
    secondsLeft: secondsLeft(estimate, done, measurable(points, sweep), config.repeats),
  }
}

/** Points that nothing has kept from being measured so far. */
export const measurable = (
  points: readonly SweepPoint[],
  sweep: Pick<SweepManifest, 'missing'> | undefined,
): SweepPoint[] => {
  const missing = new Set(sweep?.missing.map(({ key }) => key))
  return points.filter(({ key }) => !missing.has(key))
}
