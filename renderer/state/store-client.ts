import { useEffect, useRef, useState } from 'react'
import type { StoreMethod, StoreParams, StoreResult } from '../../app/protocol/store.ts'
import { client } from './store-connection.ts'

/** Asks the store; rejects with a sentence when it refuses or ends. */
export const request = <M extends StoreMethod>(method: M, params: StoreParams<M>): Promise<StoreResult<M>> =>
  client.request(method, params)

export interface StoreQuery<T> {
  /** The last answer; kept while a newer one loads. */
  readonly data: T | null
  readonly error: string | null
  readonly loading: boolean
}

const IDLE = { data: null, error: null, loading: false } as const

/**
 * Asks the store whenever method, parameters or `deps` change and after each reconnection. Null parameters ask
 * nothing and give no data. An answer that was overtaken by a newer question is dropped.
 */
export const useStoreQuery = <M extends StoreMethod>(
  method: M,
  params: StoreParams<M> | null,
  deps: readonly unknown[] = [],
): StoreQuery<StoreResult<M>> => {
  const [state, setState] = useState<StoreQuery<StoreResult<M>>>(IDLE)
  const [connection, setConnection] = useState(client.connections)
  const latest = useRef(params)
  latest.current = params
  const key = params === null ? null : JSON.stringify(params)

  useEffect(() => client.onConnect(setConnection), [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: parameters are compared by their text; `deps` and the connection only ask anew
  useEffect(() => {
    const asked = latest.current
    if (asked === null) {
      setState(IDLE)
      return
    }
    let current = true
    setState((before) => ({ ...before, loading: true }))
    client.request(method, asked).then(
      (data) => {
        if (current) setState({ data, error: null, loading: false })
      },
      (error: unknown) => {
        if (current) setState((before) => ({ ...before, error: sentenceOf(error), loading: false }))
      },
    )
    return () => {
      current = false
    }
  }, [method, key, connection, ...deps])
  return state
}

const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
