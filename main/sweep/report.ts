import type { SweepConfig } from '../../app/sweep/config.ts'
import type { TimeEstimate } from '../../app/sweep/estimate.ts'
import type { Expansion, LeftOut } from '../../app/sweep/expand.ts'
import type { MissingPoint, SweepManifest } from '../../app/sweep/manifest.ts'
import { Done } from '../../app/sweep/plan.ts'
import type { PointRow } from '../../app/sweep/point-rows.ts'
import { predictionsOf } from '../../app/sweep/predictions.ts'
import { type SweepSummary, summarise } from '../../app/sweep/summary.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import { type LoopEnd, measurable, secondsLeft } from './loop.ts'

/** Everything that a sweep has to say when its measuring ends. */
export interface SweepReport {
  readonly bundle: string
  readonly manifest: Manifest
  readonly end: LoopEnd
  /** Points of the sweep, and those of them that have all their repeats. */
  readonly points: number
  readonly measured: number
  readonly leftOut: readonly LeftOut[]
  /** Points that the cost model says nothing of, since runs that tell its rates failed. */
  readonly unpredicted: number
  /** What the rest would take. */
  readonly secondsLeft: number
  readonly summary: SweepSummary
}

/** What is known of a sweep when its measuring ends. */
interface Known {
  readonly config: SweepConfig
  readonly bundle: string
  readonly manifest: Manifest
  readonly expansion: Expansion
  readonly rows: readonly PointRow[]
  readonly estimate: TimeEstimate
}

export const reportOf = (known: Known, end: LoopEnd): SweepReport => {
  const { config, bundle, manifest, expansion, rows, estimate } = known
  const { points, leftOut } = expansion
  const done = new Done(rows)
  return {
    bundle,
    manifest,
    end,
    points: points.length,
    measured: done.whole(points, config.repeats).length,
    leftOut,
    unpredicted: points.length - predictionsOf(points, sweepOf(manifest).rates).size,
    secondsLeft: secondsLeft(estimate, done, measurable(points, manifest.sweep), config.repeats),
    summary: summarise(rows),
  }
}

export const failedPoints = ({ sweep }: Manifest): readonly MissingPoint[] =>
  sweep?.missing.filter(({ why }) => why === 'failed') ?? []

export const sweepOf = ({ sweep }: Manifest): SweepManifest => {
  if (sweep === undefined) throw new Error('the bundle of a sweep has lost it')
  return sweep
}
