import { describe, expect, test, vi } from 'vitest'
import { type ClientPort, createStoreClient } from '../../../renderer/state/client.ts'
import { clientPort } from '../../../renderer/state/store-connection.ts'

class FakePort implements ClientPort {
  readonly sent: { readonly id: number; readonly method: string; readonly params: unknown }[] = []
  closed = false
  private hear: ((data: unknown) => void) | null = null

  listen(listener: (data: unknown) => void): void {
    this.hear = listener
  }

  postMessage(message: { readonly id: number; readonly method: string; readonly params: unknown }): void {
    this.sent.push(message)
  }

  close(): void {
    this.closed = true
  }

  say(data: unknown): void {
    this.hear?.(data)
  }

  answer(result: unknown, at = this.sent.length - 1): void {
    this.say({ type: 'result', id: this.sent[at]?.id, result })
  }
}

const RUN = {
  id: 'a',
  name: 'one',
  createdAt: '2026-01-01T00:00:00Z',
  status: 'complete',
  title: 't',
} as const

const made = () => {
  const complain = vi.fn<(sentence: string) => void>()
  const client = createStoreClient(complain)
  return { complain, client, port: new FakePort() }
}

describe('the client of the store', () => {
  test('gives each request its own answer, in whatever order they come', async () => {
    const { client, port } = made()
    client.connect(port)
    const runs = client.request('listRuns', {})
    const stages = client.request('stages', { run: 'a' })
    port.answer([], 1)
    port.answer([RUN], 0)
    expect(await runs).toEqual([RUN])
    expect(await stages).toEqual([])
    expect(port.sent.map(({ method }) => method)).toEqual(['listRuns', 'stages'])
  })

  test('keeps requests until a port comes', async () => {
    const { client, port } = made()
    const runs = client.request('listRuns', {})
    expect(port.sent).toEqual([])
    client.connect(port)
    port.answer([RUN])
    expect(await runs).toEqual([RUN])
  })

  test('tells how far long work is, and takes back what nobody wants any more', async () => {
    const { client, port } = made()
    client.connect(port)
    const told: unknown[] = []
    const wanted = new AbortController()
    const info = client.request(
      'dumpInfo',
      { dump: 'd' },
      { signal: wanted.signal, onWork: (work) => told.push(work) },
    )
    const id = port.sent[0]?.id
    port.say({ type: 'work', id, done: 3, total: 9 })
    expect(told).toEqual([{ done: 3, total: 9 }])
    wanted.abort()
    await expect(info).rejects.toThrow('cancelled')
    expect(port.sent[1]).toEqual({ cancel: id })
    port.say({ type: 'error', id, message: 'aborted' })
    port.say({ type: 'work', id, done: 4, total: 9 })
    expect(told).toHaveLength(1)
  })

  test('sends nothing of what was taken back before there was a store', async () => {
    const { client, port } = made()
    const wanted = new AbortController()
    const info = client.request('dumpInfo', { dump: 'd' }, { signal: wanted.signal })
    wanted.abort()
    await expect(info).rejects.toThrow('cancelled')
    client.connect(port)
    expect(port.sent).toEqual([])
  })

  test('rejects with the sentence of the store', async () => {
    const { client, port } = made()
    client.connect(port)
    const info = client.request('runInfo', { run: 'gone' })
    port.say({ type: 'error', id: port.sent[0]?.id, message: 'There is no such run.' })
    await expect(info).rejects.toThrow('There is no such run.')
  })

  test('rejects an answer of the wrong shape and names the method', async () => {
    const { client, port } = made()
    client.connect(port)
    const runs = client.request('listRuns', {})
    port.answer([{ id: 'a' }])
    await expect(runs).rejects.toThrow('listRuns has an unknown shape')
  })

  test('rejects what is open when the store ends, refuses until another is expected, and then works again', async () => {
    const { client, port } = made()
    client.connect(port)
    const before = client.request('listRuns', {})
    client.disconnect('The store process ended.')
    await expect(before).rejects.toThrow('The store process ended.')
    expect(port.closed).toBe(true)
    await expect(client.request('listRuns', {})).rejects.toThrow('The store process ended.')
    client.expect()
    const waiting = client.request('listRuns', {})
    const next = new FakePort()
    client.connect(next)
    next.answer([])
    expect(await waiting).toEqual([])
  })

  test('rejects what went over a port that is replaced, and sends what waited', async () => {
    const { client, port } = made()
    client.connect(port)
    const lost = client.request('listRuns', {})
    client.connect(new FakePort())
    await expect(lost).rejects.toThrow('renewed')
    expect(port.closed).toBe(true)
  })

  test('hears nothing more of a port that it left', async () => {
    const { client, port, complain } = made()
    client.connect(port)
    client.connect(new FakePort())
    port.say('late')
    expect(complain).not.toHaveBeenCalled()
  })

  test('passes progress on and counts connections', () => {
    const { client, port } = made()
    const heard: unknown[] = []
    const counts: number[] = []
    client.onProgress((progress) => heard.push(progress.steps))
    const off = client.onConnect((count) => counts.push(count))
    client.connect(port)
    off()
    client.connect(port)
    port.say({
      type: 'progress',
      progress: {
        id: 'a',
        status: 'running',
        steps: 3,
        totalSteps: 9,
        tokensPerSecond: 1,
        lastStepMs: 1,
        provenance: null,
        maxRelErr: null,
        checkedRows: 0,
        endNs: 1,
        events: 0,
        dropped: 0,
      },
    })
    expect(heard).toEqual([3])
    expect(counts).toEqual([1])
    expect(client.connections).toBe(2)
  })

  test('says of a message that fits nothing that it was left out', () => {
    const { client, port, complain } = made()
    client.connect(port)
    port.say({ type: 'nonsense' })
    expect(complain).toHaveBeenCalledOnce()
  })
})

describe('a port of the browser', () => {
  test('hands messages that come close together on at once, in order, and none after it was closed', async () => {
    const { port1, port2 } = new MessageChannel()
    const own = clientPort(port1 as unknown as globalThis.MessagePort)
    const heard: unknown[] = []
    const turns: number[] = []
    let turn = 0
    const clock = setInterval(() => turn++, 0)
    own.listen((data) => {
      heard.push(data)
      turns.push(turn)
    })
    for (const data of ['a', 'b', 'c']) port2.postMessage(data)
    await vi.waitFor(() => expect(heard).toEqual(['a', 'b', 'c']))
    expect(new Set(turns).size).toBe(1)
    port2.postMessage('d')
    await vi.waitFor(() => expect(heard).toEqual(['a', 'b', 'c', 'd']))
    own.close()
    port2.postMessage('e')
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(heard).toHaveLength(4)
    clearInterval(clock)
    port2.close()
  })
})
