import { fork } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ElectronPort, electronPort, ipcPorts, portPair } from '../../../main/process/port.ts'

const turns = async (n = 3): Promise<void> => {
  for (let i = 0; i < n; i++) await new Promise((resolve) => setImmediate(resolve))
}

describe('a pair of ports within one process', () => {
  it('delivers copies in order, after the call of post', async () => {
    const [a, b] = portPair()
    const got: unknown[] = []
    b.onMessage((message) => got.push(message))
    const sent = { data: Float64Array.of(1, 2) }
    a.post(sent)
    a.post('second')
    expect(got).toEqual([])
    sent.data[0] = 9
    await turns()
    expect(got).toEqual([{ data: Float64Array.of(1, 2) }, 'second'])
  })

  it('keeps what comes before the first listener', async () => {
    const [a, b] = portPair()
    a.post(1)
    await turns()
    const got: unknown[] = []
    b.onMessage((message) => got.push(message))
    expect(got).toEqual([1])
  })

  it('tells the other end when it is closed, once, after what was posted', async () => {
    const [a, b] = portPair()
    const got: unknown[] = []
    b.onMessage((message) => got.push(message))
    b.onClose(() => got.push('closed'))
    a.onClose(() => got.push('own close'))
    a.post('last')
    a.close()
    a.close()
    a.post('too late')
    await turns()
    expect(got).toEqual(['last', 'closed'])
  })
})

class FakeElectronPort extends EventEmitter implements ElectronPort {
  readonly posted: unknown[] = []
  started = 0
  postMessage(message: unknown): void {
    this.posted.push(message)
  }
  start(): void {
    this.started++
  }
  close(): void {
    this.emit('close')
  }
}

describe('a port of Electron', () => {
  it('is started with its first listener and unwraps messages', () => {
    const fake = new FakeElectronPort()
    const port = electronPort(fake)
    expect(fake.started).toBe(0)
    const got: unknown[] = []
    port.onMessage((message) => got.push(message))
    port.onMessage(() => {})
    expect(fake.started).toBe(1)
    fake.emit('message', { data: null, ports: [] })
    expect(got).toEqual([null])
  })

  it('reports the close of the other end, not its own, and posts nothing afterwards', () => {
    const fake = new FakeElectronPort()
    const port = electronPort(fake)
    let closes = 0
    port.onClose(() => closes++)
    fake.emit('close')
    expect(closes).toBe(1)
    port.close()
    port.post(1)
    expect([closes, fake.posted]).toEqual([1, []])
  })
})

/** A child that echoes data and says on control what it got; it is plain JavaScript as Node 20 runs no TypeScript. */
const ECHO = `
process.on('message', ({ channel, message }) => {
  if (message === 'leave') process.disconnect()
  else process.send({ channel, message })
})
process.send('not wrapped')
process.send(null)
process.send({ channel: 'other', message: 1 })
`

const withEcho = async (work: (ports: ReturnType<typeof ipcPorts>) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-port-'))
  const script = join(folder, 'echo.cjs')
  writeFileSync(script, ECHO)
  const child = fork(script, [], { serialization: 'advanced', execArgv: [] })
  const exit = new Promise((resolve) => child.on('exit', resolve))
  try {
    await work(ipcPorts(child))
  } finally {
    child.kill('SIGKILL')
    await exit
    rmSync(folder, { recursive: true })
  }
}

describe('the channel of a child process', () => {
  it('carries two lines with typed arrays, and ignores what is not wrapped', () =>
    withEcho(async ({ control, data }) => {
      const heard: unknown[] = []
      control.onMessage((message) => heard.push(['control', message]))
      const echoed = new Promise<unknown>((resolve) => data.onMessage(resolve))
      control.post('c')
      data.post({ column: BigInt64Array.of(1n, 2n ** 62n) })
      expect(await echoed).toEqual({ column: BigInt64Array.of(1n, 2n ** 62n) })
      expect(heard).toEqual([['control', 'c']])
    }))

  it('closes both lines when the other process lets go, also for late listeners', () =>
    withEcho(async ({ control, data }) => {
      const closed = new Promise<void>((resolve) => control.onClose(resolve))
      control.post('leave')
      await closed
      let late = 0
      data.onClose(() => late++)
      expect(late).toBe(1)
      data.post('nobody hears this')
    }))
})
