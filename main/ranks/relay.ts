import type { TraceMessage, TraceReply } from '../../app/protocol/engine.ts'
import { type CreditedMessage, createOutbox, type Outbox } from '../engine/outbox.ts'
import type { RankLine } from './rank-line.ts'

/** Passes the traces of all ranks to the store as one, and its acknowledgements back to who they belong to. */
export class Relay {
  readonly #outbox: Outbox
  /** Ranks whose messages the store has not acknowledged yet, in the order of the messages. */
  readonly #origins: RankLine[] = []
  #open = false

  constructor(post: (message: TraceMessage) => void) {
    this.#outbox = createOutbox(post)
  }

  /** The store knows the run; what came before goes out now. */
  open(): void {
    this.#open = true
    this.#outbox.post()
  }

  take(rank: RankLine, message: CreditedMessage): void {
    this.#origins.push(rank)
    this.#outbox.push(message)
    if (this.#open) this.#outbox.post()
  }

  acknowledge(reply: Extract<TraceReply, { type: 'ack' }>): void {
    // The store answers in the order in which it was asked.
    this.#origins.shift()?.line.post({ type: 'reply', reply })
    this.#outbox.acknowledge(reply.bytes)
  }

  /** Resolves when all is on its way to the store. */
  async settle(): Promise<void> {
    await this.#outbox.settle(true)
  }

  /** The store is gone. */
  abandon(): void {
    this.#outbox.abandon()
  }
}
