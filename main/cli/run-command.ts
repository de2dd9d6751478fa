import { randomUUID } from 'node:crypto'
import type { EngineCommand, EngineEvent } from '../../app/protocol/engine.ts'
import type { RunConfig } from '../../app/run/config.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import { runLabel } from '../process/runs-folder.ts'
import { type BundleFolder, chooseBundle } from './bundle-folder.ts'
import { type EngineProcess, startEngine } from './engine-process.ts'
import { CliFailure, EXIT, type ExitCode } from './failure.ts'
import { joinRun, launcherNote, ownSeat } from './join-command.ts'
import { liveLine } from './live-line.ts'
import { type ConfigSource, readConfig } from './read-config.ts'
import { progressText, summaryText } from './run-text.ts'
import { type Signals, watchSignals } from './signals.ts'
import { openStore, type StoreSession } from './store-session.ts'

export interface RunOptions extends Omit<ConfigSource, 'file'> {
  readonly out?: string
  readonly json?: boolean
}

export interface CommandResult {
  readonly exitCode: ExitCode
  readonly stdout: string
}

/** What a run says at its end: for one that is part of more, and for a person. */
export interface RunReport {
  readonly exitCode: ExitCode
  readonly document: object
  readonly text: string
}

type Start = Extract<EngineCommand, { type: 'start' }>
type Ended = Pick<Extract<EngineEvent, { type: 'ended' }>, 'status' | 'error' | 'code'>

/** Runs a configuration to its end, or to a Ctrl-C, and gives the summary. `distDir` holds the built scripts. */
export const runCommand = async (
  distDir: string,
  file: string | undefined,
  options: RunOptions,
): Promise<CommandResult> => {
  const { preset, device, ranks } = options
  const config = await readConfig({ file, preset, device, ranks })
  const inProcesses = config.engine.ranks === 'processes'
  const seat = inProcesses ? ownSeat(config) : undefined
  const note = inProcesses ? undefined : launcherNote()
  if (note !== undefined) process.stderr.write(`dcpscope: ${note}\n`)
  if (seat !== undefined && seat.rank > 0) return joinRun(distDir, seat, config)
  const report = await runInto(distDir, chooseBundle(options.out, runLabel(config)), config, seat)
  return {
    exitCode: report.exitCode,
    stdout: options.json === true ? JSON.stringify(report.document) : report.text,
  }
}

/** Runs a configuration that nothing keeps from running into a bundle. */
export const runInto = async (
  distDir: string,
  bundle: BundleFolder,
  config: RunConfig,
  seat?: Start['seat'],
): Promise<RunReport> => {
  const store = await openStore()
  // Before the engine's process is there, or a signal that comes while it is made would end this one alone.
  const signals = watchSignals()
  try {
    const engine = startEngine(distDir)
    signals.endWith(engine)
    const { path, name } = bundle
    const start: Start = { type: 'start', runId: randomUUID(), bundle: path, name, config, seat }
    const ended = await drive(engine, store, signals, start).finally(async () => {
      signals.release()
      await engine.close()
      await store.close()
    })
    // Only now nothing writes to the bundle any more.
    return report(ended, store.manifestOf(bundle.path), bundle)
  } finally {
    signals.release()
  }
}

const drive = async (
  engine: EngineProcess,
  store: StoreSession,
  signals: Signals,
  start: Start,
): Promise<Ended> => {
  const line = liveLine(process.stderr)
  store.onProgress((progress) => line.show(progressText(progress)))
  store.attachEngine(engine.data)
  const died = engine.exited.then(async (how): Promise<Ended> => {
    await store.interrupt(start.bundle, how)
    // A signal to the whole group ends an engine that has only just begun before it can listen.
    if (signals.asked() && store.manifestOf(start.bundle) === undefined) return { status: 'stopped' }
    return { status: 'interrupted', error: how }
  })
  const ended = new Promise<Ended>((resolve) => {
    engine.onEvent((event) => {
      if (event.type === 'ready') {
        // Without a run the engine lets a stop pass, so what was asked before is remembered here.
        if (signals.asked()) resolve({ status: 'stopped' })
        else {
          if (start.config.engine.ranks === 'processes') engine.watch()
          engine.send(start)
        }
      } else if (event.type === 'ended' && event.runId === start.runId) resolve(event)
      else if (event.type === 'phase' && event.phase === 'filling')
        line.show(`filling the context ${Math.round(event.fraction * 100)}%`)
    })
  })
  try {
    return await Promise.race([ended, died])
  } finally {
    line.close()
  }
}

/** Answer of a run that ended. `manifest` is undefined when no bundle was begun. */
const report = (ended: Ended, manifest: Manifest | undefined, bundle: BundleFolder): RunReport => {
  if (ended.status !== 'complete' && ended.status !== 'stopped') throw failed(ended, manifest, bundle)
  if (manifest === undefined && ended.status === 'stopped')
    throw new CliFailure(EXIT.interrupted, 'the run was stopped before it began; nothing was written')
  const summary = manifest?.summary
  if (summary === undefined)
    throw new CliFailure(
      EXIT.engineFailed,
      `the run is ${ended.status}, but has no summary in ${bundle.path}`,
    )
  return {
    exitCode: ended.status === 'stopped' ? EXIT.interrupted : summary.check.ok ? EXIT.fine : EXIT.no,
    document: {
      bundle: bundle.path,
      ...summary,
      emulated: manifest?.emulated,
      timeSliced: manifest?.timeSliced,
      kernelNote: manifest?.kernelNote,
    },
    text: summaryText(`${bundle.name} (${ended.status})`, bundle.path, summary, manifest),
  }
}

const failed = (ended: Ended, manifest: Manifest | undefined, bundle: BundleFolder): CliFailure => {
  const reason = ended.error ?? manifest?.error ?? `the run ended as ${ended.status}`
  const where = reason.includes(bundle.path) ? 'kept' : `in ${bundle.path}`
  const kept = manifest === undefined ? '' : `; what was recorded until then is ${where}`
  return new CliFailure(ended.code === 'ERR_CONFIG' ? EXIT.badInput : EXIT.engineFailed, `${reason}${kept}`)
}
