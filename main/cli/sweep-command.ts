import type { SweepProgress } from '../../app/protocol/sweep.ts'
import { TimeEstimate } from '../../app/sweep/estimate.ts'
import { type Expansion, expand } from '../../app/sweep/expand.ts'
import { Done } from '../../app/sweep/plan.ts'
import { predictionsOf } from '../../app/sweep/predictions.ts'
import { pointsOf } from '../sweep/begin.ts'
import type { EngineLine } from '../sweep/engine-line.ts'
import { SweepFailure } from '../sweep/failure.ts'
import { measurable } from '../sweep/loop.ts'
import { failedPoints, reportOf, type SweepReport } from '../sweep/report.ts'
import { measureSweep } from '../sweep/session.ts'
import { SweepEngine } from '../sweep/sweep-engine.ts'
import type { BegunSweep, SweepTask } from '../sweep/task.ts'
import { startEngine } from './engine-process.ts'
import { badInput, CliFailure, EXIT, type ExitCode } from './failure.ts'
import { liveLine } from './live-line.ts'
import { watchSignals } from './signals.ts'
import { type TaskSource, taskOf } from './sweep-task.ts'
import { progressText, sweepDocument, sweepText } from './sweep-text.ts'

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
  const report = await measured(distDir, task, seconds).catch(told)
  return result(report, options.json === true)
}

const secondsOf = (minutes: string | undefined): number => {
  if (minutes === undefined) return Number.POSITIVE_INFINITY
  const value = Number(minutes)
  if (minutes.trim() === '' || !(value > 0))
    throw badInput(`--max-minutes: must be a number above 0, got ${JSON.stringify(minutes)}`)
  return value * 60
}

/** The report of a sweep of which nothing is left to measure, which needs no device: it may have been another machine's. */
const settledReport = async ({ config, folder, begun }: SweepTask): Promise<SweepReport | undefined> => {
  if (begun?.manifest.status !== 'complete' || failedPoints(begun.manifest).length > 0) return undefined
  const { sweep } = begun
  const expansion = expand(config, sweep)
  const rows = await pointsOf(folder.path)
  if (!isSettled(begun, expansion, new Done(rows))) return undefined
  const estimate = new TimeEstimate(sweep.device, predictionsOf(expansion.points, sweep.rates))
  const known = { config, bundle: folder.path, manifest: begun.manifest, expansion, rows, estimate }
  return reportOf(known, { kind: 'complete' })
}

/** Whether every point has all its repeats, or is one that the device does not hold. */
const isSettled = ({ sweep }: BegunSweep, { points }: Expansion, done: Done): boolean => {
  const wanted = measurable(points, sweep)
  return done.whole(wanted, sweep.config.repeats).length === wanted.length
}

const measured = async (distDir: string, task: SweepTask, seconds: number): Promise<SweepReport> =>
  (await settledReport(task)) ?? (await measuredNow(distDir, task, seconds))

const measuredNow = async (distDir: string, task: SweepTask, seconds: number): Promise<SweepReport> => {
  const signals = watchSignals()
  const { asked } = signals
  const fork = (): EngineLine => {
    const engine = startEngine(distDir)
    signals.endWith(engine)
    return engine
  }
  const engine = new SweepEngine(fork, asked)
  const line = liveLine(process.stderr)
  const show = (progress: SweepProgress): void => line.show(progressText(progress))
  try {
    return await measureSweep({ ...task, engine, asked, show, seconds })
  } finally {
    line.close()
    signals.release()
    await engine.close()
  }
}

/** A failure in the words and with the exit code of the command. */
const told = (error: unknown): never => {
  if (!(error instanceof SweepFailure)) throw error
  switch (error.problem) {
    case 'bundle':
      throw badInput(`--out: ${error.message}`)
    case 'points':
      throw badInput(error.message)
    case 'engine':
      throw new CliFailure(EXIT.engineFailed, error.message)
    case 'stopped':
      throw new CliFailure(EXIT.interrupted, error.message)
  }
}

const result = (report: SweepReport, json: boolean): SweepResult => {
  const { end, manifest, bundle } = report
  const stdout = json ? JSON.stringify(sweepDocument(report)) : sweepText(report)
  if (end.kind === 'broken')
    return {
      exitCode: EXIT.engineFailed,
      stdout,
      complaint: `the sweep ended after several failures in a row: ${end.reason}; what was measured until then is in ${bundle}`,
    }
  if (end.kind === 'stopped') return { exitCode: EXIT.interrupted, stdout }
  const [first, ...others] = failedPoints(manifest)
  if (first === undefined) return { exitCode: EXIT.fine, stdout }
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return {
    exitCode: EXIT.engineFailed,
    stdout,
    complaint: `the engine failed in ${first.key}${more}: ${first.reason}`,
  }
}
