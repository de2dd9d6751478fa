import type { EngineEvent } from '../../app/protocol/engine.ts'
import type { SweepEvent } from '../../app/protocol/sweep.ts'
import type { Port } from '../process/port.ts'
import type { EngineLine } from './engine-line.ts'

/** An engine that another process forked: commands and events go by way of that, its trace by a port of its own. */
export interface RemoteEngine extends EngineLine {
  /** The line for its trace, which comes some time after it was asked for. */
  connect(port: Port): void
  take(event: EngineEvent): void
  gone(how: string): void
}

export const remoteEngine = (engine: number, report: (event: SweepEvent) => void): RemoteEngine => {
  let port: Port | undefined
  let onTrace: ((message: unknown) => void) | undefined
  let onEvent: ((event: EngineEvent) => void) | undefined
  let gone: (how: string) => void = () => {}
  const exited = new Promise<string>((resolve) => {
    gone = resolve
  })
  const join = (): void => {
    if (port !== undefined && onTrace !== undefined) port.onMessage(onTrace)
  }
  report({ type: 'forkEngine', engine })
  return {
    data: {
      post: (message) => port?.post(message),
      onMessage: (listener) => {
        onTrace = listener
        join()
      },
    },
    connect: (line) => {
      port = line
      join()
    },
    send: (command) => report({ type: 'engineCommand', engine, command }),
    onEvent: (listener) => {
      onEvent = listener
    },
    take: (event) => onEvent?.(event),
    // Whoever forked it watches it from its beginning.
    watch: () => {},
    exited,
    gone,
    close: async () => {
      report({ type: 'endEngine', engine })
      await exited
      port?.close()
    },
  }
}
