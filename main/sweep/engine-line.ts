import type { EngineCommand, EngineEvent } from '../../app/protocol/engine.ts'
import type { Port } from '../process/port.ts'

/** An engine host in a process of its own, whoever forked it. */
export interface EngineLine {
  /** Line for trace data. */
  readonly data: Pick<Port, 'post' | 'onMessage'>
  send(command: EngineCommand): void
  onEvent(listener: (event: EngineEvent) => void): void
  /** From now on it is killed when it does not answer. Only while it leads others: one that computes may be busy for long. */
  watch(): void
  /** Settles when the process has ended, with a sentence that says how. */
  readonly exited: Promise<string>
  /** Lets the process end by itself; one that does not is killed. */
  close(): Promise<void>
}
