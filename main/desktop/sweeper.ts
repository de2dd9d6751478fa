import { basename } from 'node:path'
import type { CommandResult, DesktopState } from '../../app/protocol/desktop.ts'
import { type EngineCommand, type EngineEvent, engineEventSchema } from '../../app/protocol/engine.ts'
import {
  type SweepCommand,
  type SweepEnd,
  type SweepEvent,
  sweepEventSchema,
} from '../../app/protocol/sweep.ts'
import { runIdOf } from '../process/run-id.ts'
import type { Forge } from './child.ts'
import { type Supervised, supervised } from './supervised.ts'

export type ActiveSweep = NonNullable<DesktopState['activeSweep']>
export type LastSweep = NonNullable<DesktopState['lastSweep']>
export type SweepStart = Extract<SweepCommand, { type: 'begin' | 'goOn' }>

/** Measures sweeps, one at a time, in a process of its own beside an engine of its own: neither takes anything else along. */
export interface Sweeper {
  active(): ActiveSweep | null
  last(): LastSweep | null
  /** Only while none is measured. */
  start(command: SweepStart): CommandResult
  /** Ends the measuring; what was measured is kept. */
  pause(): CommandResult
  /** Pauses, waits for the bundle to be closed at most `ms`, then ends both processes. */
  shutDown(ms: number): Promise<void>
}

export interface SweeperOptions<P> {
  readonly forge: Forge<P>
  readonly changed: () => void
  readonly complain: (sentence: string) => void
  /** Writes `interrupted` into the manifest of a bundle that nobody writes any more. Never throws. */
  readonly markInterrupted: (bundle: string, reason: string) => void
}

/** One sweep that is measured, and its processes. */
interface Measuring {
  readonly folder: string
  state: ActiveSweep
  readonly host: Pick<Supervised<SweepCommand, never>, 'post' | 'end'>
  readonly engine: SweepEngineProcess
}

const NOTHING_DONE = { points: 0, measured: 0, failed: 0 }

export const createSweeper = <P>(options: SweeperOptions<P>): Sweeper => {
  const { forge, changed } = options
  let measuring: Measuring | null = null
  let last: LastSweep | null = null
  const waiting: (() => void)[] = []

  const change = (parts: Partial<ActiveSweep>): void => {
    if (measuring !== null) measuring.state = { ...measuring.state, ...parts }
    changed()
  }

  const end = (of: SweepEnd): void => {
    if (measuring === null) return
    const { state, host, engine } = measuring
    measuring = null
    host.end()
    engine.end()
    last = { seq: (last?.seq ?? 0) + 1, run: state.run, name: state.name, end: of }
    for (const resolve of waiting.splice(0)) resolve()
    changed()
  }

  /** The process that measures is gone: nobody else knows of its bundle. */
  const hostDied = (sentence: string): void => {
    if (measuring === null) return
    const { folder, state } = measuring
    if (state.kept) options.markInterrupted(folder, sentence)
    const { progress } = state
    const done = progress?.phase === 'measuring' ? { points: progress.total, measured: progress.done } : {}
    end({ ...NOTHING_DONE, ...done, status: 'interrupted', kept: state.kept, error: sentence })
  }

  const take = (event: SweepEvent): void => {
    switch (event.type) {
      case 'progress': {
        const { progress } = event
        const kept = measuring?.state.kept === true || progress.phase === 'measuring'
        change({ progress, kept })
        break
      }
      case 'forkEngine':
        measuring?.engine.fork(event.engine)
        break
      case 'engineCommand':
        measuring?.engine.post(event.engine, event.command)
        break
      case 'endEngine':
        measuring?.engine.close(event.engine)
        break
      case 'ended':
        end(event.end)
        break
      case 'ready':
      case 'pong':
        break
    }
  }

  return {
    active: () => measuring?.state ?? null,
    last: () => last,
    start: (command) => {
      const { folder } = command
      const name = command.type === 'begin' ? command.name : basename(folder).replace(/\.dcp$/, '')
      const run = runIdOf(folder)
      const host = supervised<SweepCommand, SweepEvent, P>({
        name: 'sweep',
        fork: () => forge.fork('sweep'),
        parse: (message) => sweepEventSchema.safeParse(message).data,
        onEvent: take,
        onState: (state) => {
          if (state.status === 'crashed') hostDied(state.message)
        },
        onDeath: (sentence) => sentence,
        complain: options.complain,
      })
      const engine = sweepEngineProcess(options, (message, ports) => host.post(message, ports))
      const kept = command.type === 'goOn'
      measuring = { folder, host, engine, state: { run, name, kept, pausing: false, progress: null } }
      host.start()
      host.post(command)
      changed()
      return { ok: true, run }
    },
    pause: () => {
      if (measuring === null) return { ok: false, message: 'No sweep is being measured.', issues: [] }
      const { run } = measuring.state
      measuring.host.post({ type: 'stop' })
      change({ pausing: true })
      return { ok: true, run }
    },
    shutDown: async (ms) => {
      if (measuring === null) return
      const ended = new Promise<void>((resolve) => waiting.push(resolve))
      measuring.host.post({ type: 'stop' })
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, ms))])
      hostDied('The app was closed before the sweep had ended.')
    },
  }
}

/** The engine that the measuring process asked for last. */
interface SweepEngineProcess {
  fork(engine: number): void
  post(engine: number, command: EngineCommand): void
  /** Ends it and says so. */
  close(engine: number): void
  end(): void
}

const sweepEngineProcess = <P>(
  { forge, complain }: SweeperOptions<P>,
  tell: (message: SweepCommand | { type: 'engine-port' }, ports?: readonly P[]) => void,
): SweepEngineProcess => {
  let current = 0
  const gone = (how: string): void => tell({ type: 'engineGone', engine: current, how })
  const engine = supervised<EngineCommand, EngineEvent, P>({
    name: 'engine',
    fork: () => forge.fork('engine'),
    parse: (message) => engineEventSchema.safeParse(message).data,
    onEvent: (event) => tell({ type: 'engineEvent', engine: current, event }),
    onState: (state) => {
      if (state.status === 'crashed') gone(state.message)
    },
    onDeath: (sentence) => sentence,
    complain,
  })
  return {
    fork: (number) => {
      current = number
      engine.start()
      const [theirs, own] = forge.channel()
      engine.post({ type: 'store-port' }, [theirs])
      tell({ type: 'engine-port' }, [own])
    },
    post: (number, command) => {
      if (number === current) engine.post(command)
    },
    close: (number) => {
      if (number !== current) return
      engine.end()
      gone('The engine process was ended.')
    },
    end: engine.end,
  }
}
