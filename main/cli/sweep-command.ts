import type { CudaInfo } from '../../app/run/machine.ts'
import { type Calibrated, calibrations, ratesOf } from '../../app/sweep/calibrate.ts'
import { TimeEstimate } from '../../app/sweep/estimate.ts'
import { type Expansion, expand, type SweepMachine, type SweepPoint } from '../../app/sweep/expand.ts'
import type { SweepManifest } from '../../app/sweep/manifest.ts'
import { Done, measurementsOf } from '../../app/sweep/plan.ts'
import type { SweepLabels } from '../../app/sweep/point-rows.ts'
import { isPrediction, predictedRows, predictionKey, predictionsOf } from '../../app/sweep/predictions.ts'
import { summarise } from '../../app/sweep/summary.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import { runLabel } from '../process/runs-folder.ts'
import { readManifest } from '../store/manifest-file.ts'
import { badInput, CliFailure, EXIT, type ExitCode, messageOf } from './failure.ts'
import { type LiveLine, liveLine } from './live-line.ts'
import { type Signals, watchSignals } from './signals.ts'
import { type Ready, SweepEngine } from './sweep-engine.ts'
import { type LoopEnd, measurePoints, secondsLeft } from './sweep-loop.ts'
import { type SweepTask, type TaskSource, taskOf } from './sweep-task.ts'
import { progressText, type SweepReport, sweepDocument, sweepText } from './sweep-text.ts'

export interface SweepOptions extends Omit<TaskSource, 'file'> {
  readonly maxMinutes?: string
  readonly json?: boolean
}

export interface SweepResult {
  readonly exitCode: ExitCode
  readonly stdout: string
  /** One line for stderr. */
  readonly complaint?: string
}

/** Measures a sweep to its end, its time or a Ctrl-C, and gives the summary. `distDir` holds the built scripts. */
export const sweepCommand = async (
  distDir: string,
  file: string | undefined,
  options: SweepOptions,
): Promise<SweepResult> => {
  const seconds = secondsOf(options.maxMinutes)
  const task = await taskOf({ ...options, file })
  const signals = watchSignals()
  const engine = new SweepEngine(distDir, signals)
  const line = liveLine(process.stderr)
  try {
    const report = await sweep({ ...task, engine, signals, line, seconds })
    return result(report, options.json === true)
  } finally {
    line.close()
    signals.release()
    await engine.close()
  }
}

const secondsOf = (minutes: string | undefined): number => {
  if (minutes === undefined) return Number.POSITIVE_INFINITY
  const value = Number(minutes)
  if (minutes.trim() === '' || !(value > 0))
    throw badInput(`--max-minutes: must be a number above 0, got ${JSON.stringify(minutes)}`)
  return value * 60
}

interface Session extends SweepTask {
  readonly engine: SweepEngine
  readonly signals: Signals
  readonly line: LiveLine
  readonly seconds: number
}

const nothingWritten = (): CliFailure =>
  new CliFailure(EXIT.interrupted, 'the sweep was stopped before it began; nothing was written')

const sweep = async (session: Session): Promise<SweepReport> => {
  const { config, folder, engine, signals, line, seconds } = session
  const began = performance.now()
  const ready = await readyOf(engine)
  const machine = machineOf(session, ready)
  const expansion = expand(config, machine)
  demandPoints(expansion)
  const { SweepBundle, readPoints } = await import('../store/sweep-bundle.ts')
  const old = session.begun === undefined ? [] : await readPoints(folder.path).catch(rethrown)
  const rates = session.begun?.rates ?? undefined
  const calibrated = rates === undefined ? await calibrate(session, expansion.points, machine) : undefined
  if (signals.asked() && session.begun === undefined) throw nothingWritten()
  const bundle = await (calibrated === undefined
    ? SweepBundle.resume(folder.path)
    : SweepBundle.begin(folder.path, calibrated.manifest)
  ).catch(rethrown)
  let end: LoopEnd
  const { sweep } = bundle.manifest
  if (sweep === undefined) throw new Error('the bundle of a sweep has lost it')
  const rows = [...old]
  const labels = labelsOf(bundle.manifest)
  const predictions = predictionsOf(expansion.points, sweep.rates)
  const estimate = new TimeEstimate(machine.device, predictions)
  try {
    // What could not be measured before is tried again.
    if (sweep.missing.length > 0) bundle.note({ ...sweep, missing: [] })
    const predicted = predictedRows(expansion.points, labels, sweep.rates, config)
    const known = new Set(old.filter(isPrediction).map(predictionKey))
    const missing = predicted.filter((row) => !known.has(predictionKey(row)))
    if (missing.length > 0) bundle.add(missing)
    rows.push(...missing)
    end = await measurePoints({
      config,
      points: expansion.points,
      labels,
      predictions,
      estimate,
      engine,
      signals,
      bundle,
      rows,
      seconds: seconds - (performance.now() - began) / 1e3,
      show: (progress) => line.show(progressText(progress, config.repeats)),
    })
  } catch (error) {
    await bundle.end('failed', messageOf(error)).catch(() => {
      // The first error is the one that is told.
    })
    throw new CliFailure(EXIT.engineFailed, messageOf(error))
  }
  await bundle.end(...statusOf(end)).catch(failedToWrite)
  const done = new Done(rows)
  return {
    bundle: folder.path,
    manifest: bundle.manifest,
    end,
    points: expansion.points.length,
    measured: done.whole(expansion.points, config.repeats).length,
    leftOut: expansion.leftOut,
    secondsLeft: secondsLeft(estimate, done, measurementsOf(expansion.points), config.repeats),
    summary: summarise(rows),
  }
}

const statusOf = (end: LoopEnd): ['complete' | 'stopped' | 'failed', string?] =>
  end.kind === 'complete' ? ['complete'] : end.kind === 'broken' ? ['failed', end.reason] : ['stopped']

const rethrown = (error: unknown): never => {
  throw badInput(`--out: ${messageOf(error)}`)
}

const failedToWrite = (error: unknown): never => {
  throw new CliFailure(EXIT.engineFailed, messageOf(error))
}

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
  { config, begun, folder }: Session,
  { cuda, memoryAvailableBytes }: Ready,
): SweepMachine => {
  const [gpu] = cuda?.available === true ? cuda.devices : []
  const asked = config.base.engine.device
  const device = begun?.device ?? (asked === 'auto' ? (gpu === undefined ? 'cpu' : 'cuda') : asked)
  if (device === 'cuda' && gpu === undefined) throw noGpu(cuda)
  if (begun !== undefined) {
    const before = readManifest(folder.path).devices[0]?.name
    if (device === 'cuda' && before !== gpu?.name)
      throw badInput(`--out: ${folder.path} was measured on ${before}, and here is ${gpu?.name}`)
    return { device, memoryBytes: begun.memoryBytes }
  }
  return { device, memoryBytes: device === 'cuda' ? (gpu?.memoryBytes ?? 0) : memoryAvailableBytes }
}

const demandPoints = ({ points, leftOut }: Expansion): void => {
  if (points.length > 0) return
  const [first] = leftOut
  throw badInput(`no point of the sweep can be measured: ${first?.key}: ${first?.reason}`)
}

/** The short runs that tell the rates of the device, and the manifest of the sweep that begins with them. */
const calibrate = async (
  { config, folder, engine, line, signals }: Session,
  points: readonly SweepPoint[],
  { device, memoryBytes }: SweepMachine,
): Promise<{ manifest: Manifest }> => {
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
  const emulated = manifests.find((manifest) => manifest.emulated !== undefined)?.emulated
  const sweep: SweepManifest = {
    config,
    device,
    memoryBytes,
    rates: ratesOf(calibrated, device),
    missing: [],
  }
  const { emulated: _, ...manifest } = first
  return {
    manifest: {
      ...manifest,
      ...(emulated === undefined ? {} : { emulated }),
      name: folder.name,
      config: config.base,
      clock: { ...first.clock, alignment: 'each point is a run with a clock of its own', uncertaintyNs: 0 },
      sweep,
    },
  }
}

const labelsOf = ({ devices, config }: Manifest): SweepLabels => ({
  gpu: devices[0]?.name ?? 'unknown',
  model: runLabel(config),
})

const result = (report: SweepReport, json: boolean): SweepResult => {
  const { end, manifest, bundle } = report
  const failed = manifest.sweep?.missing.filter(({ why }) => why === 'failed') ?? []
  const stdout = json ? JSON.stringify(sweepDocument(report)) : sweepText(report)
  if (end.kind === 'broken')
    return {
      exitCode: EXIT.engineFailed,
      stdout,
      complaint: `the sweep ended after several failures in a row: ${end.reason}; what was measured until then is in ${bundle}`,
    }
  if (end.kind === 'stopped') return { exitCode: EXIT.interrupted, stdout }
  const [first] = failed
  if (first === undefined) return { exitCode: EXIT.fine, stdout }
  const others = failed.length === 1 ? '' : ` and ${failed.length - 1} more`
  return {
    exitCode: EXIT.engineFailed,
    stdout,
    complaint: `the engine failed in ${first.key}${others}: ${first.reason}`,
  }
}
