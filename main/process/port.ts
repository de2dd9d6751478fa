/**
 * One end of a two-way message line between two processes (or two parts of one). Messages are copies
 * (structured clone), arrive in order, and are untrusted until parsed: Electron delivers `null` for a message
 * that it lost. Buffers are never transferred, because Electron's processes cannot.
 */
export interface Port {
  post(message: unknown): void
  /** Messages that came before the first listener are kept for it. */
  onMessage(listener: (message: unknown) => void): void
  /** The other end is gone. Not called after one's own `close`. */
  onClose(listener: () => void): void
  close(): void
}

/** What Electron's MessagePortMain and Node's MessagePort have in common with a utility process' `parentPort`. */
export interface ElectronPort {
  postMessage(message: unknown): void
  on(event: 'message', listener: (event: { data: unknown }) => void): unknown
  on(event: 'close', listener: () => void): unknown
  start?(): void
  close?(): void
}

export const electronPort = (port: ElectronPort): Port => {
  let closed = false
  let started = false
  return {
    post: (message) => {
      if (!closed) port.postMessage(message)
    },
    onMessage: (listener) => {
      port.on('message', (event) => {
        if (!closed) listener(event.data)
      })
      // Electron queues what arrives until start.
      if (!started) port.start?.()
      started = true
    },
    onClose: (listener) => {
      port.on('close', () => {
        if (!closed) listener()
      })
    },
    close: () => {
      closed = true
      port.close?.()
    },
  }
}

/** One end of the IPC channel of a child process forked with `serialization: 'advanced'`: `process` or the child. */
export interface IpcEnd {
  readonly connected: boolean
  send?(message: unknown, done: (error: Error | null) => void): boolean
  on(event: 'message', listener: (message: unknown) => void): unknown
  on(event: 'disconnect', listener: () => void): unknown
  disconnect?(): void
}

export interface IpcPorts {
  readonly control: Port
  readonly data: Port
}

type Channel = keyof IpcPorts

interface Lane {
  readonly messages: Listeners<unknown>
  readonly closes: Listeners<undefined>
  closed: boolean
}

const CHANNELS = ['control', 'data'] as const

/** Commands and trace data over the one channel of a child process, wrapped as `{channel, message}`. */
export const ipcPorts = (end: IpcEnd): IpcPorts => {
  const lane = (): Lane => ({ messages: listeners(), closes: listeners(), closed: false })
  const lanes: Record<Channel, Lane> = { control: lane(), data: lane() }
  end.on('message', (wrapped) => {
    if (typeof wrapped !== 'object' || wrapped === null || !('channel' in wrapped) || !('message' in wrapped))
      return
    const channel = CHANNELS.find((name) => name === wrapped.channel)
    if (channel !== undefined && !lanes[channel].closed) lanes[channel].messages.emit(wrapped.message)
  })
  end.on('disconnect', () => {
    for (const name of CHANNELS) {
      if (!lanes[name].closed) lanes[name].closes.emit(undefined)
      lanes[name].closed = true
    }
  })
  const port = (channel: Channel): Port => ({
    post: (message) => {
      // A channel that breaks while sending also disconnects, and that is where it is handled.
      if (end.connected && !lanes[channel].closed) end.send?.({ channel, message }, () => {})
    },
    onMessage: lanes[channel].messages.add,
    onClose: lanes[channel].closes.add,
    close: () => {
      lanes[channel].closed = true
      if (CHANNELS.every((name) => lanes[name].closed) && end.connected) end.disconnect?.()
    },
  })
  return { control: port('control'), data: port('data') }
}

/** Two ends within one process that behave like ends in two: copies, in order, never within the call of `post`. */
export const portPair = (): [Port, Port] => {
  const lanes: [Lane, Lane] = [
    { messages: listeners(), closes: listeners(), closed: false },
    { messages: listeners(), closes: listeners(), closed: false },
  ]
  const port = (own: Lane, other: Lane): Port => ({
    post: (message) => {
      if (own.closed || other.closed) return
      const copy: unknown = structuredClone(message)
      setImmediate(() => {
        if (!other.closed) other.messages.emit(copy)
      })
    },
    onMessage: own.messages.add,
    onClose: own.closes.add,
    close: () => {
      if (own.closed) return
      own.closed = true
      setImmediate(() => {
        if (!other.closed) other.closes.emit(undefined)
      })
    },
  })
  return [port(lanes[0], lanes[1]), port(lanes[1], lanes[0])]
}

interface Listeners<T> {
  add(listener: (value: T) => void): void
  emit(value: T): void
}

/** Listeners of one event; what comes before the first listener waits for it. */
const listeners = <T>(): Listeners<T> => {
  const all: ((value: T) => void)[] = []
  const early: T[] = []
  return {
    add: (listener) => {
      all.push(listener)
      for (const value of early.splice(0)) listener(value)
    },
    emit: (value) => {
      if (all.length === 0) early.push(value)
      else for (const listener of all) listener(value)
    },
  }
}
