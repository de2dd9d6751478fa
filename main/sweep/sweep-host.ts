import { basename } from 'node:path'
import {
  type SweepCommand,
  type SweepEnd,
  type SweepEvent,
  sweepCommandSchema,
} from '../../app/protocol/sweep.ts'
import { messageOf } from '../process/message-of.ts'
import type { Port } from '../process/port.ts'
import { hasManifest } from '../store/manifest-file.ts'
import { SweepFailure } from './failure.ts'
import { type RemoteEngine, remoteEngine } from './remote-engine.ts'
import { failedPoints, type SweepReport } from './report.ts'
import { measureSweep } from './session.ts'
import { SweepEngine } from './sweep-engine.ts'
import { type SweepTask, sweepIn } from './task.ts'

export interface SweepHost {
  /** A message of the process that started this one, not yet parsed. */
  command(message: unknown): void
  /** The line for the trace of the engine that was asked for last. */
  connectEngine(port: Port): void
}

type Start = Extract<SweepCommand, { type: 'begin' | 'goOn' }>

/** For the run in the engine to end by itself when the sweep is to stop. */
export const ENGINE_STOP_MS = 2500

/** The process that measures a sweep, without the process: commands in, events out, one sweep in its life. */
export const createSweepHost = (
  report: (event: SweepEvent) => void,
  complain: (sentence: string) => void,
): SweepHost => {
  let asked = false
  let forks = 0
  let current: RemoteEngine | undefined
  let started = false

  const fork = (): RemoteEngine => {
    current = remoteEngine(++forks, report)
    return current
  }

  const stop = (): void => {
    if (asked) return
    asked = true
    const engine = current
    engine?.send({ type: 'stop' })
    setTimeout(() => void engine?.close(), ENGINE_STOP_MS).unref()
  }

  const start = async (command: Start): Promise<void> => {
    const engine = new SweepEngine(fork, () => asked)
    try {
      const task = taskOf(command)
      const show = (progress: Extract<SweepEvent, { type: 'progress' }>['progress']): void =>
        report({ type: 'progress', progress })
      const seconds = Number.POSITIVE_INFINITY
      const measured = await measureSweep({ ...task, engine, asked: () => asked, show, seconds })
      report({ type: 'ended', end: endOf(measured) })
    } catch (error) {
      report({ type: 'ended', end: failureEnd(error, command.folder) })
    }
  }

  const obey = (command: SweepCommand): void => {
    switch (command.type) {
      case 'begin':
      case 'goOn':
        if (started) complain('refused a second sweep')
        else void start(command)
        started = true
        break
      case 'stop':
        stop()
        break
      case 'engineEvent':
        if (command.engine === forks) current?.take(command.event)
        break
      case 'engineGone':
        if (command.engine === forks) current?.gone(command.how)
        break
      case 'ping':
        report({ type: 'pong', seq: command.seq })
        break
    }
  }

  return {
    command: (message) => {
      const parsed = sweepCommandSchema.safeParse(message)
      if (parsed.success) obey(parsed.data)
      else complain(`refused a command: ${parsed.error.issues.map((i) => i.message).join('; ')}`)
    },
    connectEngine: (port) => current?.connect(port),
  }
}

/** What is measured. A folder to go on with must hold a sweep that a window can measure. */
const taskOf = (command: Start): SweepTask => {
  const { folder } = command
  if (command.type === 'begin')
    return { config: command.config, folder: { path: folder, name: command.name }, begun: undefined }
  const begun = sweepIn(folder)
  if (begun === undefined) throw new SweepFailure('bundle', `the bundle holds no sweep: ${folder}`)
  const { config } = begun.sweep
  if (config.base.engine.ranks === 'processes')
    throw new SweepFailure(
      'bundle',
      `its ranks are processes, which only the command line measures: dcpscope sweep --out ${folder}`,
    )
  return { config, folder: { path: folder, name: basename(folder).replace(/\.dcp$/, '') }, begun }
}

const endOf = ({ manifest, points, measured }: SweepReport): SweepEnd => {
  const failed = failedPoints(manifest)
  const error = manifest.error ?? failed[0]?.reason
  return {
    status: manifest.status,
    kept: true,
    points,
    measured,
    failed: failed.length,
    ...(error === undefined ? {} : { error }),
  }
}

const failureEnd = (error: unknown, folder: string): SweepEnd => {
  const nothing = { kept: hasManifest(folder), points: 0, measured: 0, failed: 0 }
  return error instanceof SweepFailure && error.problem === 'stopped'
    ? { ...nothing, status: 'stopped' }
    : { ...nothing, status: 'failed', error: messageOf(error) }
}
