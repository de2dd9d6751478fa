import {
  type Progress,
  type StoreMethod,
  type StoreParams,
  type StoreResult,
  storeMethods,
  storeReplySchema,
} from '../../app/protocol/store.ts'

/** One end of a connection to the store. */
export interface ClientPort {
  /** Calls back with each message until `close`. */
  listen(listener: (data: unknown) => void): void
  postMessage(message: unknown): void
  close(): void
}

interface Pending {
  readonly method: StoreMethod
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
  readonly onWork: ((work: WorkDone) => void) | undefined
}

/** How far long work is. */
export interface WorkDone {
  readonly done: number
  readonly total: number
}

export interface RequestOptions {
  /** Ends the request, here and in the store. */
  readonly signal?: AbortSignal
  readonly onWork?: (work: WorkDone) => void
}

export interface StoreClient {
  /** Asks the store; waits for the connection while there is none yet. Rejects with a sentence. */
  request<M extends StoreMethod>(
    method: M,
    params: StoreParams<M>,
    options?: RequestOptions,
  ): Promise<StoreResult<M>>
  /** Takes a port of a living store; what waited is sent. */
  connect(port: ClientPort): void
  /** The store is gone: what was asked is rejected with `reason`, and so is what will be, until `expect` or `connect`. */
  disconnect(reason: string): void
  /** A store is on its way: requests wait for its port from now on. */
  expect(): void
  /** How often a store was connected; a change says that answers may differ. */
  readonly connections: number
  onConnect(listener: (connections: number) => void): () => void
  onProgress(listener: (progress: Progress) => void): () => void
}

const listeners = <T>() => {
  const all = new Set<(value: T) => void>()
  return {
    add: (listener: (value: T) => void) => {
      all.add(listener)
      return () => {
        all.delete(listener)
      }
    },
    tell: (value: T) => {
      for (const listener of all) listener(value)
    },
  }
}

/**
 * Requests and replies over one port, matched by number. Every reply is checked against the schema of its
 * method; `complain` hears of messages that fit nothing.
 */
export const createStoreClient = (complain: (sentence: string) => void): StoreClient => {
  const pending = new Map<number, Pending>()
  const connected = listeners<number>()
  const progressed = listeners<Progress>()
  let port: ClientPort | null = null
  let gone: string | null = null
  let waiting: { readonly id: number; readonly params: unknown }[] = []
  let nextId = 1
  let connections = 0

  const send = (to: ClientPort, id: number, params: unknown): void => {
    const entry = pending.get(id)
    if (entry !== undefined) to.postMessage({ id, method: entry.method, params })
  }

  const settle = (id: number, use: (entry: Pending) => void): void => {
    const entry = pending.get(id)
    if (entry === undefined) return
    pending.delete(id)
    use(entry)
  }

  const answer = (id: number, result: unknown): void =>
    settle(id, ({ method, resolve, reject }) => {
      const parsed = storeMethods[method].result.safeParse(result)
      if (parsed.success) resolve(parsed.data)
      else reject(new Error(`The answer of the store to ${method} has an unknown shape.`))
    })

  const receive = (data: unknown): void => {
    const reply = storeReplySchema.safeParse(data)
    if (!reply.success) {
      complain('A message of the store fits no known shape and was left out.')
      return
    }
    const message = reply.data
    switch (message.type) {
      case 'progress':
        progressed.tell(message.progress)
        break
      case 'work':
        pending.get(message.id)?.onWork?.({ done: message.done, total: message.total })
        break
      case 'error':
        settle(message.id, ({ reject }) => reject(new Error(message.message)))
        break
      case 'result':
        answer(message.id, message.result)
        break
    }
  }

  const cancel = (id: number): void =>
    settle(id, ({ reject }) => {
      if (waiting.some((request) => request.id === id)) waiting = waiting.filter((one) => one.id !== id)
      else port?.postMessage({ cancel: id })
      reject(new Error('The request was cancelled.'))
    })

  const drop = (): void => {
    port?.close()
    port = null
  }

  const rejectAll = (reason: string): void => {
    const entries = [...pending.values()]
    pending.clear()
    waiting = []
    for (const { reject } of entries) reject(new Error(reason))
  }

  return {
    request: <M extends StoreMethod>(
      method: M,
      params: StoreParams<M>,
      { signal, onWork }: RequestOptions = {},
    ): Promise<StoreResult<M>> =>
      new Promise((resolve, reject) => {
        if (gone !== null) {
          reject(new Error(gone))
          return
        }
        const id = nextId++
        // The schema of `method` has passed the result in `receive`.
        pending.set(id, { method, resolve: (result) => resolve(result as StoreResult<M>), reject, onWork })
        signal?.addEventListener('abort', () => cancel(id), { once: true })
        if (port === null) waiting.push({ id, params })
        else send(port, id, params)
      }),
    connect: (next) => {
      // Answers to what went over the port before will not come any more.
      if (port !== null) {
        const queued = new Set(waiting.map(({ id }) => id))
        for (const id of [...pending.keys()])
          if (!queued.has(id))
            settle(id, ({ reject }) =>
              reject(new Error('The connection to the store was renewed. Ask again.')),
            )
        drop()
      }
      port = next
      gone = null
      next.listen((data) => {
        if (port === next) receive(data)
      })
      const queued = waiting
      waiting = []
      for (const { id, params } of queued) send(next, id, params)
      connections++
      connected.tell(connections)
    },
    disconnect: (reason) => {
      drop()
      gone = reason
      rejectAll(reason)
    },
    expect: () => {
      gone = null
    },
    get connections() {
      return connections
    },
    onConnect: connected.add,
    onProgress: progressed.add,
  }
}
