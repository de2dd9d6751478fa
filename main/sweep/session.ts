import type { SweepProgress } from '../../app/protocol/sweep.ts'
import { TimeEstimate } from '../../app/sweep/estimate.ts'
import { type Expansion, expand } from '../../app/sweep/expand.ts'
import type { PointRow, SweepLabels } from '../../app/sweep/point-rows.ts'
import { isPrediction, predictedRows, predictionKey, predictionsOf } from '../../app/sweep/predictions.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import { messageOf } from '../process/message-of.ts'
import { runLabel } from '../process/runs-folder.ts'
import type { SweepBundle } from '../store/sweep-bundle.ts'
import { bundleOf, rowsOf } from './begin.ts'
import { SweepFailure } from './failure.ts'
import { type Loop, type LoopEnd, measurePoints } from './loop.ts'
import { machineOf, type Ready } from './machine.ts'
import { reportOf, type SweepReport, sweepOf } from './report.ts'
import type { SweepEngine } from './sweep-engine.ts'
import type { SweepTask } from './task.ts'

/** A sweep that is measured now. */
export interface SweepSession extends SweepTask {
  readonly engine: SweepEngine
  /** Whether it was asked to stop. */
  readonly asked: () => boolean
  readonly show: (progress: SweepProgress) => void
  /** That it may take. */
  readonly seconds: number
}

/** Measures what is open of a sweep, and closes its bundle. Rejects with SweepFailure. */
export const measureSweep = async (session: SweepSession): Promise<SweepReport> => {
  const begun = performance.now()
  const { config, folder } = session
  const machine = machineOf(session, await readyOf(session.engine))
  const expansion = expand(config, machine)
  demandPoints(expansion)
  const bundle = await bundleOf(session, expansion.points, machine)
  const rows = await rowsOf(bundle)
  const predictions = predictionsOf(expansion.points, sweepOf(bundle.manifest).rates)
  const estimate = new TimeEstimate(machine.device, predictions)
  const seconds = session.seconds - (performance.now() - begun) / 1e3
  const end = await measured({ ...session, seconds }, bundle, {
    points: expansion.points,
    rows,
    predictions,
    estimate,
  })
  return reportOf({ config, bundle: folder.path, manifest: bundle.manifest, expansion, rows, estimate }, end)
}

const readyOf = async (engine: SweepEngine): Promise<Ready> => {
  try {
    return await engine.ready()
  } catch (error) {
    throw new SweepFailure('engine', messageOf(error))
  }
}

const demandPoints = ({ points, leftOut }: Expansion): void => {
  if (points.length > 0) return
  const [first] = leftOut
  throw new SweepFailure('points', `no point of the sweep can be measured: ${first?.key}: ${first?.reason}`)
}

/** Adds to `rows` what is measured, and closes the bundle however that ends. */
const measured = async (
  { config, engine, asked, show, seconds }: SweepSession,
  bundle: SweepBundle,
  work: Pick<Loop, 'points' | 'rows' | 'predictions' | 'estimate'>,
): Promise<LoopEnd> => {
  const sweep = sweepOf(bundle.manifest)
  const labels = labelsOf(bundle.manifest)
  try {
    // What could not be measured before is tried again.
    if (sweep.missing.length > 0) bundle.note({ ...sweep, missing: [] })
    addPredictions(bundle, predictedRows(work.points, labels, sweep.rates, config), work.rows)
    const end = await measurePoints({ ...work, config, labels, engine, asked, bundle, seconds, show })
    await bundle.end(...statusOf(end))
    return end
  } catch (error) {
    await bundle.end('failed', messageOf(error)).catch(() => {
      // The first error is the one that is told.
    })
    throw new SweepFailure('engine', messageOf(error))
  }
}

/** Those that an earlier part of the sweep has not written yet. */
const addPredictions = (bundle: SweepBundle, predicted: readonly PointRow[], rows: PointRow[]): void => {
  const known = new Set(rows.filter(isPrediction).map(predictionKey))
  const missing = predicted.filter((row) => !known.has(predictionKey(row)))
  if (missing.length === 0) return
  bundle.add(missing)
  rows.push(...missing)
}

const statusOf = (end: LoopEnd): ['complete' | 'stopped' | 'failed', string?] =>
  end.kind === 'complete' ? ['complete'] : end.kind === 'broken' ? ['failed', end.reason] : ['stopped']

const labelsOf = ({ devices, config }: Manifest): SweepLabels => ({
  gpu: devices[0]?.name ?? 'unknown',
  model: runLabel(config),
})
