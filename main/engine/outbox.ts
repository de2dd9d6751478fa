import { CREDIT_BYTES, type TraceMessage } from '../../app/protocol/engine.ts'

/** A trace message that the store acknowledges. */
export type CreditedMessage = Extract<TraceMessage, { bytes: number }>

/**
 * Trace messages on their way to the store. Holds them back so that never more than `limit` bytes are
 * unacknowledged, and tells how long that made the caller wait.
 */
export interface Outbox {
  push(message: CreditedMessage): void
  /**
   * Posts what credit allows until all the rest would fit (`all: false`) or is posted (`all: true`). Resolves
   * with the nanoseconds waited; at once when `abandon` was called.
   */
  settle(all: boolean): Promise<number>
  /** Posts what credit allows, without waiting. */
  post(): void
  acknowledge(bytes: number): void
  /** The store is gone: drops everything and ends all waiting. */
  abandon(): void
}

export const createOutbox = (
  send: (message: CreditedMessage) => void,
  now: () => bigint = process.hrtime.bigint,
  limit: number = CREDIT_BYTES,
): Outbox => {
  const queue: CreditedMessage[] = []
  let queued = 0
  let outstanding = 0
  let abandoned = false
  let wake = (): void => {}

  const post = (): void => {
    for (let next = queue[0]; next !== undefined && outstanding + next.bytes <= limit; next = queue[0]) {
      queue.shift()
      queued -= next.bytes
      outstanding += next.bytes
      send(next)
    }
  }
  const settled = (all: boolean): boolean =>
    abandoned || (all ? queue.length === 0 : outstanding + queued <= limit)

  return {
    push: (message) => {
      if (abandoned) return
      queue.push(message)
      queued += message.bytes
    },
    settle: async (all) => {
      if (all) post()
      if (settled(all)) return 0
      const start = now()
      while (!settled(all)) {
        post()
        if (settled(all)) break
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return Number(now() - start)
    },
    post,
    acknowledge: (bytes) => {
      outstanding = Math.max(0, outstanding - bytes)
      post()
      wake()
    },
    abandon: () => {
      abandoned = true
      queue.length = 0
      queued = 0
      wake()
    },
  }
}
