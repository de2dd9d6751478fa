import type { EngineProcess } from './engine-process.ts'
import { EXIT } from './failure.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** What signals end. */
type Ended = Pick<EngineProcess, 'send' | 'kill'>

export interface Signals {
  /** Whether a signal has come. */
  asked(): boolean
  /** The engine that signals stop from now on. */
  endWith(engine: Ended): void
  /** Lets signals be again what they are without a run. Idempotent. */
  release(): void
}

/** The first signal ends the run cleanly, the second one at once. */
export const watchSignals = (): Signals => {
  let asked = false
  let engine: Ended | undefined
  const onSignal = (): void => {
    if (!asked) engine?.send({ type: 'stop' })
    else {
      engine?.kill()
      process.exit(EXIT.interrupted)
    }
    asked = true
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return {
    asked: () => asked,
    endWith: (started) => {
      engine = started
    },
    release: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal)
    },
  }
}
