import type { ProcessState } from '../../app/protocol/desktop.ts'
import { type Child, deathSentence, type ForkName } from './child.ts'

/** Between two pings. */
export const HEARTBEAT_MS = 2000
/** Pings in a row without an answer after which a process counts as hanging. Counted, so that a sleeping laptop is no hang. */
export const MISSED_PINGS = 6
/** For the first sign of life; loading the engine or the database from a cold disk takes a few seconds. */
export const START_MS = 30_000

/** What every supervised process says besides its own events. */
export type VitalEvent = { type: 'ready' } | { type: 'pong'; seq: number }

export interface SupervisedOptions<E extends { type: string }, P> {
  readonly name: ForkName
  readonly fork: () => Child<P>
  /** Event of a message; undefined when it is none. */
  readonly parse: (message: unknown) => E | undefined
  readonly onEvent: (event: E) => void
  readonly onState: (state: ProcessState) => void
  /** The process is gone; `sentence` says what happened. Answers with the message to show. */
  readonly onDeath: (sentence: string) => string
  readonly complain: (sentence: string) => void
}

export interface Supervised<C, P> {
  state(): ProcessState
  /** Forks the process if none is alive. */
  start(): void
  /** False when no process is there to take it. */
  post(command: C | { type: string }, ports?: readonly P[]): boolean
  /** Ends the process on purpose; no death is reported. */
  end(): void
}

/** One child process: its state, its heartbeat and its end. */
export const supervised = <C, E extends { type: string }, P>(
  options: SupervisedOptions<E, P>,
): Supervised<C, P> => {
  const { name } = options
  let state: ProcessState = { status: 'starting' }
  let life: Life<P> | undefined

  const enter = (next: ProcessState): void => {
    state = next
    options.onState(next)
  }

  const bury = (child: Child<P>, sentence: string): void => {
    life?.stop()
    life = undefined
    const said = child.lastWords()
    const message = options.onDeath(sentence)
    enter({ status: 'crashed', message: said === '' ? message : `${message} Its last message: ${said}` })
  }

  const receive = (child: Child<P>, message: unknown): void => {
    const event = options.parse(message)
    if (event === undefined) {
      options.complain(`refused a message of the ${name} process`)
      return
    }
    if (event.type === 'pong') life?.answered()
    else {
      if (event.type === 'ready') {
        life?.started()
        enter({ status: 'ready', pid: child.pid() ?? 0 })
      }
      options.onEvent(event)
    }
  }

  const start = (): void => {
    if (life !== undefined) return
    const child = options.fork()
    life = beat(child, (sentence) => {
      child.kill()
      bury(child, sentence)
    })
    const current = life
    child.onMessage((message) => {
      if (life === current) receive(child, message)
    })
    child.onGone((death) => {
      if (life === current) bury(child, deathSentence(name, death))
    })
    enter({ status: 'starting' })
  }

  const beat = (child: Child<P>, give: (sentence: string) => void): Life<P> => {
    let unanswered = 0
    let seq = 0
    const patience = setTimeout(
      () => give(`The ${name} process did not start within ${START_MS / 1000} s.`),
      START_MS,
    )
    const pulse = setInterval(() => {
      if (state.status !== 'ready') return
      if (unanswered >= MISSED_PINGS)
        give(
          `The ${name} process did not answer for ${(MISSED_PINGS * HEARTBEAT_MS) / 1000} s and was ended.`,
        )
      else {
        unanswered++
        child.post({ type: 'ping', seq: seq++ })
      }
    }, HEARTBEAT_MS)
    return {
      child,
      started: () => clearTimeout(patience),
      answered: () => {
        unanswered = 0
      },
      stop: () => {
        clearTimeout(patience)
        clearInterval(pulse)
      },
    }
  }

  return {
    state: () => state,
    start,
    post: (command, ports) => {
      life?.child.post(command, ports)
      return life !== undefined
    },
    end: () => {
      life?.stop()
      life?.child.kill()
      life = undefined
    },
  }
}

interface Life<P> {
  readonly child: Child<P>
  started(): void
  answered(): void
  stop(): void
}
