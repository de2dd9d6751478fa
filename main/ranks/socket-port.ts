import type { Socket } from 'node:net'
import { deserialize, serialize } from 'node:v8'
import type { Port } from '../process/port.ts'

/** Larger than any message: a trace message with its names, or a configuration. */
const MAX_FRAME_BYTES = 8 << 20
const HEADER_BYTES = 5
/** How a frame is written: text where another version must be able to read it. */
const TEXT = 0
const BINARY = 1

/**
 * A message line over a TCP connection. Messages are copies, in order, and untrusted until parsed. A line on which
 * something else arrives is closed.
 */
export interface SocketPort extends Port {
  /** For a reader of whatever version. */
  postText(message: unknown): void
  /** Closes when everything posted is on its way. */
  finish(): void
}

/** `greetingBytes`: of a stranger, whose first message is text and not longer. */
export const socketPort = (socket: Socket, greetingBytes?: number): SocketPort => {
  const messages: unknown[] = []
  let listener: ((message: unknown) => void) | undefined
  let onClose: (() => void) | undefined
  let ended = false
  let left = false
  socket.setNoDelay(true)
  // What breaks also closes.
  socket.on('error', () => {})
  socket.on('close', () => {
    ended = true
    if (!left) onClose?.()
  })
  const take = (message: unknown): void => {
    if (left) return
    if (listener === undefined) messages.push(message)
    else listener(message)
  }
  socket.on(
    'data',
    frames(take, () => socket.destroy(), greetingBytes),
  )
  const write = (kind: number, payload: Uint8Array): void => {
    if (left || ended || socket.destroyed) return
    const header = Buffer.alloc(HEADER_BYTES)
    header.writeUInt32LE(payload.byteLength)
    header.writeUInt8(kind, 4)
    socket.cork()
    socket.write(header)
    socket.write(payload)
    socket.uncork()
  }
  return {
    post: (message) => write(BINARY, serialize(message)),
    postText: (message) => write(TEXT, Buffer.from(JSON.stringify(message))),
    onMessage: (next) => {
      listener = next
      for (const message of messages.splice(0)) next(message)
    },
    onClose: (next) => {
      onClose = next
      // Not within the call, and not twice.
      if (ended && !left) setImmediate(next)
    },
    finish: () => {
      left = true
      socket.end()
    },
    close: () => {
      left = true
      socket.destroy()
    },
  }
}

/** Cuts what arrives into frames; `refuse` is called for what is none. */
const frames = (
  take: (message: unknown) => void,
  refuse: () => void,
  greetingBytes: number | undefined,
): ((data: Buffer) => void) => {
  const header = Buffer.alloc(HEADER_BYTES)
  let body: Buffer | undefined
  let filled = 0
  let broken = false
  let most = { bytes: greetingBytes ?? MAX_FRAME_BYTES, kind: greetingBytes === undefined ? BINARY : TEXT }
  const finished = (whole: Buffer): void => {
    try {
      take(header.readUInt8(4) === TEXT ? JSON.parse(whole.toString('utf8')) : deserialize(whole))
    } catch {
      broken = true
      refuse()
    }
  }
  return (data) => {
    for (let from = 0; from < data.length && !broken; ) {
      const into: Buffer = body ?? header
      const copied = data.copy(into, filled, from)
      from += copied
      filled += copied
      if (filled < into.length) continue
      filled = 0
      if (body !== undefined) {
        body = undefined
        most = { bytes: MAX_FRAME_BYTES, kind: BINARY }
        finished(into)
        continue
      }
      const length = header.readUInt32LE()
      if (length === 0 || length > most.bytes || header.readUInt8(4) > most.kind) {
        broken = true
        refuse()
      } else body = Buffer.allocUnsafeSlow(length)
    }
  }
}
