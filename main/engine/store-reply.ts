import { type EngineEvent, type TraceReply, traceReplySchema } from '../../app/protocol/engine.ts'

type Ended = Extract<EngineEvent, { type: 'ended' }>
type Reply<T extends TraceReply['type']> = Extract<TraceReply, { type: T }>

/** What a run does with the answers of the store. */
export interface StoreListener {
  acknowledge(reply: Reply<'ack'>): void
  closed(reply: Reply<'closed'>): void
  /** The store cannot go on. */
  lost(outcome: Pick<Ended, 'status' | 'error' | 'code'>): void
}

/** Takes an answer of the store to the run `runId`; those to others are passed over. */
export const takeStoreReply = (message: unknown, runId: string, listener: StoreListener): void => {
  const parsed = traceReplySchema.safeParse(message)
  if (!parsed.success) {
    listener.lost({ status: 'failed', error: 'the store answered something unknown', code: 'ERR_STORE' })
    return
  }
  const reply = parsed.data
  if (reply.runId !== runId) return
  switch (reply.type) {
    case 'ack':
      listener.acknowledge(reply)
      return
    case 'failed':
      listener.lost({ status: 'failed', error: reply.error, code: 'ERR_STORE' })
      return
    case 'closed':
      listener.closed(reply)
      return
  }
}
