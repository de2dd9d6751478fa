import { usableGpus } from '../../app/run/gpus.ts'
import type { CudaInfo } from '../../app/run/machine.ts'
import { type Calibrated, calibrations, ratesOf } from '../../app/sweep/calibrate.ts'
import type { SweepConfig } from '../../app/sweep/config.ts'
import { TimeEstimate } from '../../app/sweep/estimate.ts'
import { type Expansion, expand, type SweepMachine, type SweepPoint } from '../../app/sweep/expand.ts'
import type { MissingPoint, SweepManifest } from '../../app/sweep/manifest.ts'
import { Done } from '../../app/sweep/plan.ts'
import type { PointRow, SweepLabels } from '../../app/sweep/point-rows.ts'
import { isPrediction, predictedRows, predictionKey, predictionsOf } from '../../app/sweep/predictions.ts'
import { summarise } from '../../app/sweep/summary.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import { cpuName } from '../process/cpu-name.ts'
import { runLabel } from '../process/runs-folder.ts'
import type { SweepBundle } from '../store/sweep-bundle.ts'
import { badInput, CliFailure, EXIT, messageOf } from './failure.ts'
import type { LiveLine } from './live-line.ts'
import type { Signals } from './signals.ts'
import type { Ready, SweepEngine } from './sweep-engine.ts'
import { type Loop, type LoopEnd, measurable, measurePoints, secondsLeft } from './sweep-loop.ts'
import type { SweepTask } from './sweep-task.ts'
import { progressText, type SweepReport } from './sweep-text.ts'

/** A sweep that is measured now. */
export interface SweepSession extends SweepTask {
  readonly engine: SweepEngine
  readonly signals: Signals
  readonly line: LiveLine
  /** That it may take. */
  readonly seconds: number
}

/** Measures what is open of a sweep, and closes its bundle. */
export const measureSweep = async (session: SweepSession): Promise<SweepReport> => {
  const begun = performance.now()
  const { config, folder } = session
  const ready = await readyOf(session.engine)
  const machine = machineOf(session, ready)
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

const readPoints = async (bundle: string): Promise<PointRow[]> => {
  const store = await import('../store/sweep-bundle.ts')
  return store.readPoints(bundle)
}

/** The rows of a sweep's bundle, or a CliFailure that says what is wrong with it. */
export const pointsOf = (bundle: string): Promise<PointRow[]> => readPoints(bundle).catch(refused)

/** What a bundle that was opened holds by now; nobody else adds to it any more. */
const rowsOf = async (bundle: SweepBundle): Promise<PointRow[]> => {
  try {
    return await readPoints(bundle.folder)
  } catch (error) {
    await bundle.end('failed', messageOf(error))
    return refused(error)
  }
}

export const failedPoints = ({ sweep }: Manifest): readonly MissingPoint[] =>
  sweep?.missing.filter(({ why }) => why === 'failed') ?? []

const sweepOf = ({ sweep }: Manifest): SweepManifest => {
  if (sweep === undefined) throw new Error('the bundle of a sweep has lost it')
  return sweep
}

const refused = (error: unknown): never => {
  throw badInput(`--out: ${messageOf(error)}`)
}

const nothingWritten = (): CliFailure =>
  new CliFailure(EXIT.interrupted, 'the sweep was stopped before it began; nothing was written')

const readyOf = async (engine: SweepEngine): Promise<Ready> => {
  try {
    return await engine.ready()
  } catch (error) {
    throw new CliFailure(EXIT.engineFailed, messageOf(error))
  }
}

const noGpu = (cuda: CudaInfo | undefined): CliFailure =>
  new CliFailure(EXIT.engineFailed, cuda?.reason ?? 'the engine can use no GPU here')

/** What measures: what the configuration asks for, and in a sweep that goes on what measured before. */
const machineOf = (
  { config, begun, folder }: SweepSession,
  { cuda, memoryAvailableBytes }: Ready,
): SweepMachine => {
  const count = usableGpus(cuda)
  const gpu = count === 0 ? undefined : cuda?.devices[0]
  const asked = config.base.engine.device
  const device =
    begun?.sweep.device ?? (asked === 'auto' ? (count < wantedGpus(config) ? 'cpu' : 'cuda') : asked)
  if (device === 'cuda' && gpu === undefined) throw noGpu(cuda)
  const gpus = device === 'cuda' && config.base.engine.ranks === 'processes' ? count : undefined
  if (begun === undefined) {
    const memoryBytes = device === 'cuda' ? (gpu?.memoryBytes ?? 0) : memoryAvailableBytes
    return { device, memoryBytes, gpus }
  }
  const before = deviceText(begun.manifest.devices[0]?.name, begun.sweep.gpus)
  const here = deviceText(device === 'cuda' ? gpu?.name : cpuName(), gpus)
  if (before !== here) throw badInput(`--out: ${folder.path} was measured on ${before}, and here is ${here}`)
  return begun.sweep
}

/** GPUs that every point of a sweep finds enough. */
const wantedGpus = ({ base, mode, dcp }: SweepConfig): number =>
  base.engine.ranks === 'processes' && mode.includes('dcp') ? Math.max(...dcp) : 1

const deviceText = (name = 'unknown', gpus: number | undefined): string =>
  gpus === undefined ? name : `${gpus} x ${name}`

const demandPoints = ({ points, leftOut }: Expansion): void => {
  if (points.length > 0) return
  const [first] = leftOut
  throw badInput(`no point of the sweep can be measured: ${first?.key}: ${first?.reason}`)
}

/** The bundle, begun behind the short runs that tell the rates of the device, or opened once more. */
const bundleOf = async (
  session: SweepSession,
  points: readonly SweepPoint[],
  machine: SweepMachine,
): Promise<SweepBundle> => {
  const { SweepBundle } = await import('../store/sweep-bundle.ts')
  const { path } = session.folder
  if (session.begun !== undefined) return SweepBundle.resume(path).catch(refused)
  const manifest = await calibrate(session, points, machine)
  if (session.signals.asked()) throw nothingWritten()
  return SweepBundle.begin(path, manifest).catch(refused)
}

const calibrate = async (
  { config, folder, engine, line, signals }: SweepSession,
  points: readonly SweepPoint[],
  { device, memoryBytes, gpus }: SweepMachine,
): Promise<Manifest> => {
  const runs = calibrations(points, device)
  const calibrated: Calibrated[] = []
  const manifests: Manifest[] = []
  let problem = ''
  for (const [i, calibration] of runs.entries()) {
    if (signals.asked()) throw nothingWritten()
    line.show(`measuring the rates of the device ${i + 1}/${runs.length}`)
    const outcome = await engine.run(calibration.run)
    if (outcome.kind === 'stopped') throw nothingWritten()
    if (outcome.kind === 'measured') {
      calibrated.push({ ...calibration, meter: outcome.meter })
      manifests.push(outcome.manifest)
    } else problem = outcome.reason
  }
  const [first] = manifests
  if (first === undefined) throw new CliFailure(EXIT.engineFailed, problem)
  // Runs of one rank happened as they are shown; a sweep has others as well.
  const emulated = manifests.find((manifest) => manifest.emulated !== undefined)?.emulated
  // Those of one point only.
  const { processes: _, ...rest } = first
  return {
    ...rest,
    ...(emulated === undefined ? {} : { emulated }),
    name: folder.name,
    config: config.base,
    clock: { ...first.clock, alignment: 'each point is a run with a clock of its own', uncertaintyNs: 0 },
    sweep: {
      config,
      device,
      memoryBytes,
      ...(gpus === undefined ? {} : { gpus }),
      rates: ratesOf(calibrated, device),
      missing: [],
    },
  }
}

/** Adds to `rows` what is measured, and closes the bundle however that ends. */
const measured = async (
  session: SweepSession,
  bundle: SweepBundle,
  work: Pick<Loop, 'points' | 'rows' | 'predictions' | 'estimate'>,
): Promise<LoopEnd> => {
  const { config, engine, signals, line, seconds } = session
  const sweep = sweepOf(bundle.manifest)
  const labels = labelsOf(bundle.manifest)
  try {
    // What could not be measured before is tried again.
    if (sweep.missing.length > 0) bundle.note({ ...sweep, missing: [] })
    addPredictions(bundle, predictedRows(work.points, labels, sweep.rates, config), work.rows)
    const end = await measurePoints({
      ...work,
      config,
      labels,
      engine,
      signals,
      bundle,
      seconds,
      show: (progress) => line.show(progressText(progress, config.repeats)),
    })
    await bundle.end(...statusOf(end))
    return end
  } catch (error) {
    await bundle.end('failed', messageOf(error)).catch(() => {
      // The first error is the one that is told.
    })
    throw new CliFailure(EXIT.engineFailed, messageOf(error))
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

/** What is known of a sweep when its command ends. */
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
