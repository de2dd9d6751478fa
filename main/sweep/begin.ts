import { type Calibrated, calibrations, ratesOf } from '../../app/sweep/calibrate.ts'
import type { SweepMachine, SweepPoint } from '../../app/sweep/expand.ts'
import type { PointRow } from '../../app/sweep/point-rows.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import { messageOf } from '../process/message-of.ts'
import type { SweepBundle } from '../store/sweep-bundle.ts'
import { SweepFailure } from './failure.ts'
import type { SweepSession } from './session.ts'

/** The bundle, begun behind the short runs that tell the rates of the device, or opened once more. */
export const bundleOf = async (
  session: SweepSession,
  points: readonly SweepPoint[],
  machine: SweepMachine,
): Promise<SweepBundle> => {
  const { SweepBundle } = await import('../store/sweep-bundle.ts')
  const { path } = session.folder
  if (session.begun !== undefined) return SweepBundle.resume(path).catch(refused)
  const manifest = await calibrate(session, points, machine)
  if (session.asked()) throw nothingWritten()
  return SweepBundle.begin(path, manifest).catch(refused)
}

const readPoints = async (bundle: string): Promise<PointRow[]> => {
  const store = await import('../store/sweep-bundle.ts')
  return store.readPoints(bundle)
}

/** The rows of a sweep's bundle, or a SweepFailure that says what is wrong with it. */
export const pointsOf = (bundle: string): Promise<PointRow[]> => readPoints(bundle).catch(refused)

/** What a bundle that was opened holds by now; nobody else adds to it any more. */
export const rowsOf = async (bundle: SweepBundle): Promise<PointRow[]> => {
  try {
    return await readPoints(bundle.folder)
  } catch (error) {
    await bundle.end('failed', messageOf(error))
    return refused(error)
  }
}

const refused = (error: unknown): never => {
  throw new SweepFailure('bundle', messageOf(error))
}

const nothingWritten = (): SweepFailure =>
  new SweepFailure('stopped', 'the sweep was stopped before it began; nothing was written')

const calibrate = async (
  { config, folder, engine, asked, show }: SweepSession,
  points: readonly SweepPoint[],
  { device, memoryBytes, gpus }: SweepMachine,
): Promise<Manifest> => {
  const runs = calibrations(points, device)
  const calibrated: Calibrated[] = []
  const manifests: Manifest[] = []
  let problem = ''
  for (const [done, calibration] of runs.entries()) {
    if (asked()) throw nothingWritten()
    show({ phase: 'calibrating', done, total: runs.length })
    const outcome = await engine.run(calibration.run)
    if (outcome.kind === 'stopped') throw nothingWritten()
    if (outcome.kind === 'measured') {
      calibrated.push({ ...calibration, meter: outcome.meter })
      manifests.push(outcome.manifest)
    } else problem = outcome.reason
  }
  const [first] = manifests
  if (first === undefined) throw new SweepFailure('engine', problem)
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
