import { connect, createServer, type Socket } from 'node:net'
import { serialize } from 'node:v8'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { type SocketPort, socketPort } from '../../../main/ranks/socket-port.ts'

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** Both ends of a connection. */
const pair = async (): Promise<readonly [Socket, Socket]> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const near = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1')
  const far = await accepted
  server.close()
  sockets.push(near, far)
  return [near, far]
}

/** The first `n` messages. */
const taken = (port: SocketPort, n: number): Promise<unknown[]> =>
  new Promise((resolve) => {
    const messages: unknown[] = []
    port.onMessage((message) => {
      messages.push(message)
      if (messages.length === n) resolve(messages)
    })
  })

const closed = (port: SocketPort): Promise<void> => new Promise((resolve) => port.onClose(resolve))

const frame = (kind: number, payload: Uint8Array): Buffer => {
  const header = Buffer.alloc(5)
  header.writeUInt32LE(payload.byteLength)
  header.writeUInt8(kind, 4)
  return Buffer.concat([header, payload])
}

describe('a line over TCP', () => {
  it('carries typed arrays as what they are, in order, and text beside them', async () => {
    const [near, far] = (await pair()).map((socket) => socketPort(socket))
    const sent = [
      { step: Int32Array.of(1, -2), start: BigInt64Array.of(2n ** 60n), ok: Uint8Array.of(0, 1) },
      { value: Float64Array.of(Number.NaN, 0.5), text: ['é', ''], ns: 7n },
    ]
    near?.postText({ first: 'ünicode' })
    for (const message of sent) near?.post(message)
    if (far === undefined) throw new Error('no other end')
    expect(await taken(far, 3)).toEqual([{ first: 'ünicode' }, ...sent])
  })

  it('makes of any pieces of the stream the same messages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ maxLength: 2000 }), { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat({ max: 1500 }), { minLength: 1, maxLength: 8 }),
        async (texts, cuts) => {
          const [near, far] = await pair()
          const whole = Buffer.concat(texts.map((text) => frame(1, serialize(text))))
          const got = taken(socketPort(far), texts.length)
          for (let from = 0, i = 0; from < whole.length; i++) {
            const size = 1 + (cuts[i % cuts.length] ?? 0)
            near.write(whole.subarray(from, from + size))
            from += size
            await new Promise((resolve) => setImmediate(resolve))
          }
          expect(await got).toEqual(texts)
          near.destroy()
          far.destroy()
        },
      ),
      { numRuns: 25 },
    )
  })

  it('is closed by what is no message, after what was one', async () => {
    const bad: readonly Buffer[] = [
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      frame(1, Buffer.from('no structured clone')),
      frame(0, Buffer.from('{"half":')),
      frame(2, Buffer.from('unknown kind')),
      frame(1, Buffer.alloc(0)),
      Buffer.from([0xff, 0xff, 0xff, 0x7f, 1]),
    ]
    for (const bytes of bad) {
      const [near, far] = await pair()
      const port = socketPort(far)
      const got = taken(port, 1)
      const end = closed(port)
      near.write(Buffer.concat([frame(0, Buffer.from('"good"')), bytes]))
      expect(await got).toEqual(['good'])
      await end
    }
  })

  it('tells of the other end going, and of nothing after its own', async () => {
    const [near, far] = (await pair()).map((socket) => socketPort(socket))
    if (near === undefined || far === undefined) throw new Error('no ends')
    let told = 0
    near.onClose(() => {
      told++
    })
    const end = closed(far)
    near.post('last')
    near.finish()
    expect(await taken(far, 1)).toEqual(['last'])
    await end
    far.post('nobody hears')
    await new Promise((resolve) => setImmediate(resolve))
    expect(told).toBe(0)
  })
})
