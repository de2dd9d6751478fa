import {
  type Progress,
  type StoreMethod,
  type StoreReply,
  storeRequestSchema,
} from '../../app/protocol/store.ts'
import type { Port } from '../process/port.ts'
import { problemText } from './problem.ts'

/** Answers a method; parses the parameters. */
export type Answer = (method: StoreMethod, params: unknown, signal: AbortSignal) => Promise<unknown>

/** One window (or other client): each request gets one reply, and progress is pushed. */
export class ClientLine {
  readonly #port: Port
  readonly #answer: Answer
  readonly #gone = new AbortController()

  constructor(port: Port, answer: Answer, onGone: () => void) {
    this.#port = port
    this.#answer = answer
    port.onMessage((message) => {
      this.#take(message)
    })
    port.onClose(() => {
      this.#gone.abort()
      onGone()
    })
  }

  push(progress: Progress): void {
    this.#reply({ type: 'progress', progress })
  }

  close(): void {
    this.#gone.abort()
    this.#port.close()
  }

  async #take(message: unknown): Promise<void> {
    const request = storeRequestSchema.safeParse(message)
    if (!request.success) {
      this.#reply({ type: 'error', id: idOf(message), message: 'the request is not valid' })
      return
    }
    const { id, method, params } = request.data
    try {
      this.#reply({ type: 'result', id, result: await this.#answer(method, params, this.#gone.signal) })
    } catch (error) {
      this.#reply({ type: 'error', id, message: problemText(error) })
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
