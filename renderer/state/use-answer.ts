import { useEffect, useRef, useState } from 'react'
import type { StoreMethod, StoreParams, StoreResult } from '../../app/protocol/store.ts'
import type { WorkDone } from './client.ts'
import { type Standing, standing } from './standing.ts'
import { request } from './store-client.ts'
import { client } from './store-connection.ts'

/** What the store answered, with what it was asked: views that join several answers must not mix them up. */
export interface Answer<M extends StoreMethod> {
  readonly params: StoreParams<M>
  readonly data: StoreResult<M>
}

export interface AnswerState<M extends StoreMethod> {
  /** The newest answer, which may be to an earlier question while `loading`. */
  readonly answer: Answer<M> | null
  /** Why the present question has no answer. */
  readonly error: string | null
  readonly loading: boolean
  /** How far the work for the present question is, where it is long. */
  readonly work: WorkDone | null
}

interface Kept<M extends StoreMethod> {
  readonly key: string
  readonly mark: string
  readonly answer: Answer<M> | null
  readonly error: string | null
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * Asks the store whenever method or parameters change, or the store was connected anew; and, once it is answered, when `again`
 * has changed. Null parameters ask nothing and give no answer. A question that nobody asks any more is taken back.
 */
export const useAnswer = <M extends StoreMethod>(
  method: M,
  params: StoreParams<M> | null,
  again: string = '',
): AnswerState<M> => {
  const [connection, setConnection] = useState(client.connections)
  const [kept, setKept] = useState<Kept<M> | null>(null)
  const [work, setWork] = useState<WorkDone | null>(null)
  const key = params === null ? null : `${JSON.stringify(params)}#${connection}`
  const asked = useRef({ params, again })
  asked.current = { params, again }
  const question = useRef<Standing | null>(null)
  useEffect(() => client.onConnect(setConnection), [])
  useEffect(() => {
    const { params, again } = asked.current
    if (key === null || params === null) return setKept(null)
    const send = (signal: AbortSignal): Promise<StoreResult<M>> => {
      setWork(null)
      return request(method, params, { signal, onWork: setWork })
    }
    const now = standing(again, send, ({ mark, ...outcome }) =>
      setKept((before) =>
        'data' in outcome
          ? { key, mark, answer: { params, data: outcome.data }, error: null }
          : { key, mark, answer: before?.answer ?? null, error: textOf(outcome.error) },
      ),
    )
    question.current = now
    return () => now.stop()
  }, [method, key])
  useEffect(() => question.current?.again(again), [again])
  if (key === null) return { answer: null, error: null, loading: false, work: null }
  const settled = kept?.key === key && kept.mark === again
  return {
    answer: kept?.answer ?? null,
    error: settled ? (kept?.error ?? null) : null,
    loading: !settled,
    work: settled ? null : work,
  }
}
