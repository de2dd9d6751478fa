import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { Hello } from '../../../app/protocol/ranks.ts'
import { type Gathering, gather, rankList } from '../../../main/ranks/gather.ts'
import { areApart } from '../../../main/ranks/greeting.ts'
import { type SocketPort, socketPort } from '../../../main/ranks/socket-port.ts'

const hello = (rank: number, over: Partial<Hello> = {}): Hello => ({
  type: 'hello',
  product: 'dcpscope',
  token: 'secret',
  rank,
  world: 3,
  host: 'node-1',
  system: 'system-1',
  pid: 100 + rank,
  versions: { dcpscope: '1', engine: '2', node: '20' },
  device: 'CPU',
  config: { parallel: { comm: 'a2a' }, workload: { requests: [{ contextLen: 5 }] } },
  ...over,
})

const begin = (waitMs = 5000): Gathering => gather({ address: '127.0.0.1', port: 0, first: hello(0), waitMs })

const come = async ({ listening }: Gathering, message: unknown): Promise<SocketPort> => {
  const port = await listening
  const line = socketPort(connect(port, '127.0.0.1'))
  line.postText(message)
  return line
}

/** What a rank is told at the end. */
const told = (line: SocketPort): Promise<unknown> => new Promise((resolve) => line.onMessage(resolve))

/** The sentence with which a gathering fails. */
const failure = ({ complete }: Gathering): Promise<string> =>
  complete.then(
    () => 'complete',
    (error: unknown) =>
      error instanceof Error && 'code' in error ? `${error.code}: ${error.message}` : 'other',
  )

describe('ranks that come together', () => {
  it('are complete by number, whoever comes first, and beats before that are no harm', async () => {
    const gathering = begin()
    for (const rank of [2, 0, 1]) (await come(gathering, hello(rank))).post({ type: 'beat', places: [] })
    expect((await gathering.complete).map((rank) => rank.hello.rank)).toEqual([0, 1, 2])
    gathering.close()
  })

  it.each<[string, Hello, string]>([
    [
      'world sizes',
      hello(1, { world: 4 }),
      'rank 1 (node-1, process 101) has the world size 4, rank 0 has 3',
    ],
    ['a number beyond', hello(3), 'rank 3 (node-1, process 103) is beyond the world size 3'],
    ['a negative number', hello(-1), 'rank -1 (node-1, process 99) is beyond the world size 3'],
    [
      'versions',
      hello(1, { versions: { dcpscope: '1', engine: '3', node: '20' } }),
      'rank 1 (node-1, process 101) has another version: engine 3 there, 2 on rank 0',
    ],
    [
      'a version that is not said',
      hello(1, { versions: {} }),
      'rank 1 (node-1, process 101) has another version: dcpscope unknown there, 1 on rank 0',
    ],
    [
      'configurations',
      hello(2, { config: { parallel: { comm: 'a2a' }, workload: { requests: [{ contextLen: 6 }] } } }),
      'rank 2 (node-1, process 102) has another configuration: workload.requests[0].contextLen is 6 there and 5 on rank 0',
    ],
    [
      'a field that only one has',
      hello(2, { config: { parallel: { comm: 'a2a' } } }),
      'rank 2 (node-1, process 102) has another configuration: workload is not given there and {"requests":[{"contextLen":5}]} on rank 0',
    ],
  ])('are refused for other %s, and all are told', async (_name, other, says) => {
    const gathering = begin()
    const failed = failure(gathering)
    const lines = [await come(gathering, hello(0)), await come(gathering, other)]
    const over = { type: 'over', status: 'failed', error: says, code: 'ERR_CONFIG' }
    expect(await Promise.all(lines.map(told))).toEqual([over, over])
    expect(await failed).toBe(`ERR_CONFIG: ${says}`)
  })

  it('may be on several machines', async () => {
    const gathering = begin()
    for (const rank of [0, 1, 2])
      await come(gathering, hello(rank, { host: `node-${rank}`, system: `system-${rank}` }))
    const all = await gathering.complete
    expect(areApart(all.map((one) => one.hello))).toBe(true)
    expect(areApart([hello(0), hello(1)])).toBe(false)
    gathering.close()
  })

  it('are told why also when they come late', async () => {
    const gathering = begin()
    const failed = failure(gathering)
    await come(gathering, hello(0))
    await come(gathering, hello(1, { world: 4 }))
    await failed
    const over = { error: 'rank 1 (node-1, process 101) has the world size 4, rank 0 has 3' }
    const late = told(await come(gathering, hello(2)))
    await gathering.told()
    expect(await late).toMatchObject(over)
    gathering.close()
  })

  it('are refused when one is there twice', async () => {
    const gathering = begin()
    await come(gathering, hello(1))
    await come(gathering, hello(1, { pid: 7, host: 'node-3' }))
    expect(await failure(gathering)).toMatch(
      /^ERR_CONFIG: rank 1 came twice: .*process (101|7), and .*process (7|101)$/,
    )
  })

  it('do not count strangers, with another token or none', async () => {
    const gathering = begin(300)
    for (const stranger of [hello(1, { token: 'guess' }), { type: 'hello' }, 'hi', 5])
      await new Promise<void>((resolve) => {
        come(gathering, stranger).then((line) => line.onClose(resolve))
      })
    expect(await failure(gathering)).toBe('ERR_ABSENT: ranks 0, 1 and 2 of 3 did not come within 0.3 s')
  })

  it('take no more of strangers than a greeting needs', async () => {
    const gathering = begin()
    const port = await gathering.listening
    for (const [bytes, kind] of [
      [(1 << 20) + 1, 0],
      [100, 1],
    ] as const) {
      const socket = connect(port, '127.0.0.1')
      const header = Buffer.alloc(5)
      header.writeUInt32LE(bytes)
      header.writeUInt8(kind, 4)
      socket.write(header)
      await new Promise((resolve) => socket.on('error', () => {}).on('close', resolve))
    }
    const silent = Array.from({ length: 300 }, () => connect(port, '127.0.0.1').on('error', () => {}))
    const [first] = silent
    await new Promise((resolve) => first?.on('close', resolve))
    for (const rank of [0, 1, 2]) await come(gathering, hello(rank))
    expect(await gathering.complete).toHaveLength(3)
    for (const socket of silent) socket.destroy()
    gathering.close()
  })

  it('hear of their leader while they wait for the others', async () => {
    const gathering = begin()
    expect(await told(await come(gathering, hello(1)))).toEqual({ type: 'beat' })
    gathering.close()
  })

  it('are stopped, all of them, when one is asked to stop', async () => {
    const gathering = begin()
    const failed = failure(gathering)
    const [first, second] = [await come(gathering, hello(0)), await come(gathering, hello(1))]
    second.post({ type: 'stop' })
    expect(await failed).toBe('ERR_CANCELLED: the run was stopped')
    expect(await told(first)).toMatchObject({ type: 'over', code: 'ERR_CANCELLED' })
    gathering.close()
  })

  it('are not waited for when one leaves again', async () => {
    const gathering = begin()
    const line = await come(gathering, hello(1))
    const failed = failure(gathering)
    await new Promise((resolve) => setTimeout(resolve, 50))
    line.close()
    expect(await failed).toBe('ERR_ABSENT: rank 1 left before all ranks had come')
  })

  it('are named when they are few, and counted when they are many', () => {
    expect(rankList([4])).toBe('rank 4')
    expect(rankList([4, 7])).toBe('ranks 4 and 7')
    expect(rankList([1, 2, 3])).toBe('ranks 1, 2 and 3')
    expect(rankList([1, 2, 3, 4, 5, 6, 7, 8, 9])).toBe('9 ranks, the first is rank 1,')
  })
})
