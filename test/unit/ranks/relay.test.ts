import { describe, expect, it } from 'vitest'
import { CREDIT_BYTES, MESSAGE_BYTES, type TraceMessage } from '../../../app/protocol/engine.ts'
import { PRODUCT } from '../../../app/protocol/ranks.ts'
import type { CreditedMessage } from '../../../main/engine/outbox.ts'
import { RankLine } from '../../../main/ranks/rank-line.ts'
import { Relay } from '../../../main/ranks/relay.ts'

/** A rank whose line only keeps what is sent to it. */
const fakeRank = (rank: number): { readonly line: RankLine; readonly got: unknown[] } => {
  const got: unknown[] = []
  const nothing = (): void => {}
  const hello = {
    type: 'hello',
    product: PRODUCT,
    token: '',
    rank,
    world: 3,
    host: 'h',
    system: 's',
  } as const
  const line = new RankLine({
    hello: { ...hello, pid: 1, versions: {}, device: 'CPU', config: {} },
    line: {
      post: (message) => got.push(message),
      postText: nothing,
      onMessage: nothing,
      onClose: nothing,
      finish: nothing,
      close: nothing,
    },
  })
  return { line, got }
}

const chunk = (rank: number, bytes: number): CreditedMessage => ({
  type: 'chunk',
  runId: 'r',
  bytes,
  chunk: { table: 'spans', rank, rows: 0, columns: {} },
})

const ack = (bytes: number) => ({ type: 'ack', runId: 'r', bytes }) as const

describe('the traces of ranks on their way to the store', () => {
  it('wait until the store knows the run, and go out in order', () => {
    const posted: TraceMessage[] = []
    const relay = new Relay((message) => posted.push(message))
    const [a, b] = [fakeRank(0), fakeRank(1)]
    relay.take(a.line, chunk(0, 10))
    relay.take(b.line, chunk(1, 20))
    expect(posted).toEqual([])
    relay.open()
    relay.take(a.line, chunk(0, 30))
    expect(posted.map((m) => ('bytes' in m ? m.bytes : 0))).toEqual([10, 20, 30])
  })

  it('are acknowledged to the rank that they came from', () => {
    const relay = new Relay(() => {})
    const ranks = [0, 1, 2].map(fakeRank)
    relay.open()
    for (const rank of [2, 0, 0, 1]) relay.take(ranks[rank]?.line ?? fakeRank(9).line, chunk(rank, 10 + rank))
    for (const rank of [2, 0, 0, 1]) relay.acknowledge(ack(10 + rank))
    const reply = (rank: number) => ({ type: 'reply', reply: ack(10 + rank) })
    expect(ranks.map(({ got }) => got)).toEqual([[reply(0), reply(0)], [reply(1)], [reply(2)]])
  })

  it('are never more than the credit of one engine, however many ranks there are', async () => {
    let out = 0
    let most = 0
    const relay = new Relay((message) => {
      out += 'bytes' in message ? message.bytes : 0
      most = Math.max(most, out)
    })
    relay.open()
    const ranks = Array.from({ length: 64 }, (_, rank) => fakeRank(rank))
    for (const { line } of ranks) relay.take(line, chunk(line.rank, MESSAGE_BYTES))
    const settled = relay.settle()
    for (const _ of ranks) {
      out -= MESSAGE_BYTES
      relay.acknowledge(ack(MESSAGE_BYTES))
    }
    await settled
    expect(most).toBe(CREDIT_BYTES)
    for (const { got } of ranks) expect(got).toHaveLength(1)
  })
})
