import {
  type Progress,
  type StoreMethod,
  type StoreReply,
  storeCancelSchema,
  storeRequestSchema,
} from '../../app/protocol/store.ts'
import type { Port } from '../process/port.ts'
import { problemText } from './problem.ts'

/** What the one who asks wants to know and say meanwhile. */
export interface Asked {
  /** Nobody waits for the answer any more. */
  readonly signal: AbortSignal
  /** How far long work is: `done` of `total`. */
  readonly progress: (done: number, total: number) => void
}

/** Answers a method; parses the parameters. */
export type Answer = (method: StoreMethod, params: unknown, asked: Asked) => Promise<unknown>

/** Least time between two messages about how far the work for a request is. */
const WORK_MS = 100

/** One window (or other client): each request gets one reply, and progress is pushed. */
export class ClientLine {
  readonly #port: Port
  readonly #answer: Answer
  readonly #gone = new AbortController()
  /** Requests that are not answered yet. */
  readonly #open = new Map<number, AbortController>()

  constructor(port: Port, answer: Answer, onGone: () => void) {
    this.#port = port
    this.#answer = answer
    port.onMessage((message) => {
      this.#take(message)
    })
    port.onClose(() => {
      this.#end()
      onGone()
    })
  }

  push(progress: Progress): void {
    this.#reply({ type: 'progress', progress })
  }

  close(): void {
    this.#end()
    this.#port.close()
  }

  #end(): void {
    this.#gone.abort()
    for (const request of this.#open.values()) request.abort()
  }

  async #take(message: unknown): Promise<void> {
    const cancelled = storeCancelSchema.safeParse(message)
    if (cancelled.success) return this.#open.get(cancelled.data.cancel)?.abort()
    const request = storeRequestSchema.safeParse(message)
    if (!request.success) {
      this.#reply({ type: 'error', id: idOf(message), message: 'the request is not valid' })
      return
    }
    const { id, method, params } = request.data
    const wanted = new AbortController()
    this.#open.set(id, wanted)
    const asked: Asked = { signal: wanted.signal, progress: this.#work(id) }
    try {
      this.#reply({ type: 'result', id, result: await this.#answer(method, params, asked) })
    } catch (error) {
      this.#reply({ type: 'error', id, message: problemText(error) })
    } finally {
      this.#open.delete(id)
    }
  }

  #work(id: number): Asked['progress'] {
    let told = performance.now()
    return (done, total) => {
      const now = performance.now()
      if (now - told < WORK_MS) return
      told = now
      this.#reply({ type: 'work', id, done, total })
    }
  }

  #reply(reply: StoreReply): void {
    if (!this.#gone.signal.aborted) this.#port.post(reply)
  }
}

/** The id of a broken request, so that its sender learns of it; -1 where there is none. */
const idOf = (message: unknown): number =>
  typeof message === 'object' && message !== null && 'id' in message && Number.isSafeInteger(message.id)
    ? Number(message.id)
    : -1
