import type { CommandResult, DesktopState } from '../../app/protocol/desktop.ts'
import { type EngineCommand, type EngineEvent, engineEventSchema } from '../../app/protocol/engine.ts'
import { type StoreCommand, type StoreEvent, storeEventSchema } from '../../app/protocol/store.ts'
import type { RunConfig } from '../../app/run/config.ts'
import type { Bundles } from './bundles.ts'
import type { Forge, ProcessName } from './child.ts'
import { createDiagnoser } from './diagnoser.ts'
import type { OpenedDumps } from './dumps.ts'
import type { KeptSettings } from './kept-settings.ts'
import { type OpenRun, runControl } from './run-control.ts'
import { supervised } from './supervised.ts'
import { createSweeper, type SweepStart } from './sweeper.ts'

export interface SupervisorOptions<P> {
  readonly forge: Forge<P>
  /** Folder whose bundles the store lists. */
  readonly runsFolder: string
  readonly bundles: Pick<Bundles, 'elsewhere'>
  readonly dumps: OpenedDumps
  readonly runtime: DesktopState['runtime']
  readonly settings: Pick<KeptSettings, 'get' | 'problem'>
  readonly onState: (state: DesktopState) => void
  readonly complain: (sentence: string) => void
  /** Writes `interrupted` into the manifest of a bundle whose store is gone. Never throws. */
  readonly markInterrupted: (bundle: string, reason: string) => void
}

export type EngineStart = Extract<EngineCommand, { type: 'start' }>

export interface Supervisor<P> {
  state(): DesktopState
  start(): void
  /** End of a new line to the store for a window; undefined while the store is down. */
  clientPort(): P | undefined
  startRun(run: EngineStart): CommandResult
  /** What a run would allocate, as the engine says. */
  predict(config: RunConfig): Promise<CommandResult>
  control(command: 'pause' | 'resume' | 'stop'): CommandResult
  /** Measures a new sweep, or goes on with one. */
  startSweep(sweep: SweepStart): CommandResult
  pauseSweep(): CommandResult
  restart(process: ProcessName): CommandResult
  open(folder: string): Promise<CommandResult>
  /** Makes files and folders known to the store as one dump; it reads them when it is asked. */
  openDump(paths: readonly string[]): CommandResult
  forgetDump(id: string): void
  /** Diagnoses a dump, or `paths` where they are given. */
  diagnose(dump: string, paths: readonly string[] | undefined, allRows: boolean): Promise<CommandResult>
  cancelDiagnosis(): void
  /** Makes what was set hold, and tells windows. */
  settingsChanged(): void
  /** Tells windows how an opening went that none of them asked for. */
  announce(result: CommandResult): void
  /** Hands a link to the window, which reads it. */
  follow(link: string): void
  /** Stops a run or sweep in progress, waits for its end at most `ms`, then ends all processes. */
  shutDown(ms: number): Promise<void>
}

export const refusal = (message: string): CommandResult => ({ ok: false, message, issues: [] })

/** Longer than the death of a process takes to be told. */
export const DEATH_NOTICE_MS = 2000
const LINE_BROKE = 'The line between engine and store broke.'

const KEPT_NOTHING = 'No run was in progress and nothing is lost.'

const keptOf = (run: OpenRun | null): string =>
  run === null
    ? KEPT_NOTHING
    : `The run ${run.name} is over and marked interrupted; its bundle keeps all but about the last second.`

/** Owns the engine and the store process: forks, wires, watches, and says what became of a run when one dies. */
export const createSupervisor = <P>(options: SupervisorOptions<P>): Supervisor<P> => {
  const { forge } = options
  let runtime = options.runtime
  let machine: DesktopState['machine'] = null
  let seq = 0
  let opened: DesktopState['opened']
  let link: DesktopState['link']
  const opening = new Map<number, (result: CommandResult) => void>()
  const predicting = new Map<number, (result: CommandResult) => void>()

  const publish = (): void => options.onState(current())
  const runs = runControl(publish)
  const diagnoser = createDiagnoser(forge, publish, options.complain)
  const sweeper = createSweeper({ ...options, changed: publish })

  const engine = supervised<EngineCommand, EngineEvent, P>({
    name: 'engine',
    fork: () => forge.fork('engine'),
    parse: (message) => engineEventSchema.safeParse(message).data,
    onEvent: (event) => {
      if (event.type === 'ready') {
        const { version, cores, simd, memoryAvailableBytes, cuda } = event
        runtime = { ...runtime, engine: version, device: `CPU, ${cores} cores, ${simd}` }
        machine = { cpu: { cores, simd, memoryAvailableBytes }, ...(cuda === undefined ? {} : { cuda }) }
      }
      if (event.type === 'predicted') {
        const { seq: id, result } = event
        settle(predicting, id, result.ok ? result : refusal(result.message))
      }
      // The engine sees its line to a dying store break before the death itself is known here.
      if (event.type === 'ended' && event.status === 'interrupted')
        setTimeout(() => lineBroke(event.runId, event.error ?? LINE_BROKE), DEATH_NOTICE_MS)
      else runs.take(event)
      if (event.type === 'ready') publish()
    },
    onState: () => publish(),
    onDeath: (sentence) => {
      const run = runs.interrupt(sentence)
      for (const id of [...predicting.keys()]) settle(predicting, id, refusal(sentence))
      // The store also sees its line break; this gives the bundle the reason.
      if (run !== null) store.post({ type: 'interrupt', bundle: run.bundle, reason: sentence })
      return `${sentence} ${keptOf(run)} Restart the engine to run again.`
    },
    complain: options.complain,
  })

  const store = supervised<StoreCommand, StoreEvent, P>({
    name: 'store',
    fork: () => forge.fork('store'),
    parse: (message) => storeEventSchema.safeParse(message).data,
    onEvent: (event) => {
      if (event.type === 'opened') settle(opening, event.seq, { ok: true, run: event.run })
      if (event.type === 'refused') settle(opening, event.seq, refusal(event.message))
    },
    onState: () => publish(),
    onDeath: (sentence) => {
      const run = runs.interrupt(sentence)
      if (run !== null) options.markInterrupted(run.bundle, sentence)
      for (const id of [...opening.keys()]) settle(opening, id, refusal(sentence))
      return `${sentence} ${keptOf(run)} Restart the store to look at runs again.`
    },
    complain: options.complain,
  })

  /** The engine lost the store, and no death of the store has ended the run meanwhile. */
  const lineBroke = (runId: string, reason: string): void => {
    if (runs.active()?.id !== runId) return
    const run = runs.interrupt(reason)
    if (run !== null) store.post({ type: 'interrupt', bundle: run.bundle, reason })
    wire()
  }

  const settle = (asked: typeof opening, id: number, result: CommandResult): void => {
    asked.get(id)?.(result)
    asked.delete(id)
  }

  const current = (): DesktopState => ({
    engine: engine.state(),
    store: store.state(),
    activeRun: runs.active(),
    lastRun: runs.last(),
    activeSweep: sweeper.active(),
    lastSweep: sweeper.last(),
    ...(opened === undefined ? {} : { opened }),
    ...(link === undefined ? {} : { link }),
    dumps: options.dumps.list().map(({ id, name }) => ({ id, name })),
    diagnosis: diagnoser.state(),
    runtime,
    settings: options.settings.get(),
    ...(options.settings.problem === undefined ? {} : { settingsProblem: options.settings.problem }),
    machine,
  })

  /** A fresh line between the two; whoever starts later does it. */
  const wire = (): void => {
    if (downSentence() !== undefined) return
    const [engineEnd, storeEnd] = forge.channel()
    store.post({ type: 'engine-port' }, [storeEnd])
    engine.post({ type: 'store-port' }, [engineEnd])
  }

  const startStore = (): void => {
    store.start()
    store.post({
      type: 'runsFolder',
      folder: options.runsFolder,
      elsewhere: [...options.bundles.elsewhere()],
    })
    for (const { id, paths } of options.dumps.list()) store.post({ type: 'dump', id, paths: [...paths] })
    if (options.settings.get().storeMemoryMb !== 0) limitStore()
  }

  const limitStore = (): void => {
    store.post({ type: 'limits', memoryMb: options.settings.get().storeMemoryMb })
  }

  const downSentence = (): string | undefined => {
    if (engine.state().status === 'crashed') return 'The engine is not running. Restart it first.'
    if (store.state().status === 'crashed') return 'The store is not running. Restart it first.'
    return undefined
  }

  /** Two at once would change each other's numbers. */
  const busySentence = (wanted: 'run' | 'sweep'): string | undefined => {
    if (runs.active() !== null)
      return wanted === 'run'
        ? 'A run is in progress. Stop it before you start another.'
        : 'A run is in progress and would change what a sweep measures. Stop it before you start the sweep.'
    if (sweeper.active() !== null)
      return wanted === 'sweep'
        ? 'A sweep is being measured. Pause it before you start another.'
        : 'A sweep is being measured, and a run would change its numbers. Pause it before you start a run.'
    return undefined
  }

  return {
    state: current,
    start: () => {
      startStore()
      engine.start()
      wire()
    },
    clientPort: () => {
      if (store.state().status === 'crashed') return undefined
      const [own, theirs] = forge.channel()
      store.post({ type: 'client-port' }, [theirs])
      return own
    },
    startRun: (command) => {
      const down = downSentence()
      if (down !== undefined) return refusal(down)
      const busy = busySentence('run')
      if (busy !== undefined) return refusal(busy)
      runs.begin({ id: command.runId, name: command.name, bundle: command.bundle })
      engine.post(command)
      return { ok: true, run: command.runId }
    },
    predict: (config) => {
      const id = seq++
      return new Promise((resolve) => {
        predicting.set(id, resolve)
        if (!engine.post({ type: 'predict', seq: id, config }))
          settle(predicting, id, refusal('The engine is not running. Restart it first.'))
      })
    },
    control: (command) => {
      const run = runs.active()
      if (run === null) return refusal('No run is in progress.')
      engine.post({ type: command })
      return { ok: true, run: run.id }
    },
    startSweep: (command) => {
      const busy = busySentence('sweep')
      return busy === undefined ? sweeper.start(command) : refusal(busy)
    },
    pauseSweep: sweeper.pause,
    restart: (process) => {
      if ((process === 'engine' ? engine : store).state().status !== 'crashed')
        return refusal(`The ${process} is running.`)
      if (process === 'engine') engine.start()
      else startStore()
      wire()
      return { ok: true }
    },
    open: (folder) => {
      const id = seq++
      return new Promise((resolve) => {
        if (store.state().status === 'crashed')
          resolve(refusal('The store is not running. Restart it first.'))
        else {
          opening.set(id, resolve)
          store.post({ type: 'open', seq: id, folder })
        }
      })
    },
    openDump: (paths) => {
      const { id, paths: all } = options.dumps.remember(paths)
      store.post({ type: 'dump', id, paths: [...all] })
      publish()
      return { ok: true, dump: id }
    },
    forgetDump: (id) => {
      options.dumps.forget(id)
      publish()
    },
    diagnose: async (dump, paths, allRows) => {
      const all = paths ?? options.dumps.list().find(({ id }) => id === dump)?.paths
      return all === undefined
        ? refusal('This dump is not known any more; open it again.')
        : diagnoser.diagnose(dump, all, allRows)
    },
    cancelDiagnosis: diagnoser.cancel,
    settingsChanged: () => {
      limitStore()
      publish()
    },
    announce: (result) => {
      opened = { seq: (opened?.seq ?? 0) + 1, result }
      publish()
    },
    follow: (text) => {
      link = { seq: (link?.seq ?? 0) + 1, text }
      publish()
    },
    shutDown: async (ms) => {
      const sweepEnded = sweeper.shutDown(ms)
      if (runs.active() !== null) {
        engine.post({ type: 'stop' })
        await Promise.race([runs.idle(), new Promise((resolve) => setTimeout(resolve, ms))])
      }
      await sweepEnded
      diagnoser.cancel()
      engine.end()
      store.end()
    },
  }
}
