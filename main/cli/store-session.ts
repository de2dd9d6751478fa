import { resolve } from 'node:path'
import {
  type Progress,
  type StoreMethod,
  type StoreParams,
  type StoreResult,
  storeReplySchema,
} from '../../app/protocol/store.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import { type Port, portPair } from '../process/port.ts'
import { hasManifest, readManifest } from '../store/manifest-file.ts'
import { badInput, messageOf } from './failure.ts'

/** What the commands ask of the store, which runs in this process. */
export interface StoreSession {
  attachEngine(port: Port): void
  onProgress(listener: (progress: Progress) => void): void
  /** Manifest of the run that was begun here in this folder; undefined when none was, or it was removed. */
  manifestOf(bundle: string): Manifest | undefined
  /** A run whose engine died: its bundle says so if it still says running. Nothing when none was begun here. */
  interrupt(bundle: string, reason: string): Promise<void>
  query(bundle: string, sql: string, limit: number): Promise<StoreResult<'query'>>
  /** Makes a bundle known; its id. Refuses what is none. */
  open(bundle: string): Promise<string>
  /** Makes a file or folder of dumps known under an id. */
  openDump(id: string, path: string): Promise<string>
  request<M extends StoreMethod>(method: M, params: StoreParams<M>): Promise<StoreResult<M>>
  close(): Promise<void>
}

/** Loaded when asked for, since the database is large and `layout` or `--help` need none. */
export const openStore = async (): Promise<StoreSession> => {
  const { Store } = await import('../store/store.ts')
  const store = new Store()
  const open = async (bundle: string): Promise<string> => {
    const answer = await store.handle({ type: 'open', seq: 0, folder: resolve(bundle) })
    if (answer?.type === 'opened') return answer.run
    throw badInput(answer?.type === 'refused' ? answer.message : 'the store did not open the bundle')
  }
  const request = <M extends StoreMethod>(method: M, params: StoreParams<M>): Promise<StoreResult<M>> =>
    store.request(method, params).catch((error: unknown) => {
      throw badInput(messageOf(error))
    })
  return {
    attachEngine: (port) => store.attachEngine(port),
    onProgress: (listener) => {
      const [own, theirs] = portPair()
      own.onMessage((message) => {
        const reply = storeReplySchema.safeParse(message)
        if (reply.success && reply.data.type === 'progress') listener(reply.data.progress)
      })
      store.attachClient(theirs)
    },
    manifestOf: (bundle) => (store.began(bundle) && hasManifest(bundle) ? readManifest(bundle) : undefined),
    interrupt: async (bundle, reason) => {
      if (store.began(bundle) && hasManifest(bundle))
        await store.handle({ type: 'interrupt', bundle, reason })
    },
    query: async (bundle, sql, limit) => request('query', { run: await open(bundle), sql, limit }),
    open,
    openDump: async (id, path) => {
      await store.handle({ type: 'dump', id, paths: [resolve(path)] })
      return id
    },
    request,
    close: () => store.close(),
  }
}
