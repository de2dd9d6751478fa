import type { DesktopState } from '../../app/protocol/desktop.ts'
import type { EngineEvent } from '../../app/protocol/engine.ts'

export type ActiveRun = NonNullable<DesktopState['activeRun']>
export type LastRun = NonNullable<DesktopState['lastRun']>

/** The run in progress with what only main knows of it. */
export interface OpenRun {
  readonly id: string
  readonly name: string
  /** Folder of the bundle. */
  readonly bundle: string
}

export interface RunControl {
  active(): ActiveRun | null
  last(): LastRun | null
  /** Only while no run is in progress. */
  begin(run: OpenRun): void
  /** Takes an event of the engine; those of other runs than the one in progress are late and change nothing. */
  take(event: EngineEvent): void
  /** Ends the run in progress as interrupted; the run, if there was one. */
  interrupt(reason: string): OpenRun | null
  /** Resolves when no run is in progress. */
  idle(): Promise<void>
}

/** One run at a time: which is in progress, how far it is, and how the last one ended. */
export const runControl = (changed: () => void): RunControl => {
  let open: OpenRun | null = null
  let active: ActiveRun | null = null
  let last: LastRun | null = null
  let waiting: (() => void)[] = []

  const end = (ended: LastRun): void => {
    open = null
    active = null
    last = ended
    for (const resolve of waiting) resolve()
    waiting = []
    changed()
  }

  return {
    active: () => active,
    last: () => last,
    begin: (run) => {
      if (open !== null) throw new Error('a run is in progress already')
      open = run
      active = { id: run.id, phase: 'starting', fraction: 0 }
      changed()
    },
    take: (event) => {
      if (event.type === 'phase' && event.runId === active?.id) {
        active = { id: event.runId, phase: event.phase, fraction: event.fraction }
        changed()
      }
      if (event.type === 'ended' && event.runId === active?.id) {
        const { runId, status, error } = event
        end({ id: runId, status, ...(error === undefined ? {} : { error }) })
      }
    },
    interrupt: (reason) => {
      const run = open
      if (run !== null) end({ id: run.id, status: 'interrupted', error: reason })
      return run
    },
    idle: () =>
      open === null
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push(resolve)
          }),
  }
}
