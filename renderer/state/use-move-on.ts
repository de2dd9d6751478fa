import { useEffect, useRef } from 'react'

/** Least time between two questions about steps that a person goes over: more of them could not be told apart. */
const APART_MS = 66

/** What is wanted beside what is asked: the same, the same of another step, or something else. */
export type Wanted = 'same' | 'otherStep' | 'other'

/**
 * Calls `moveOn`, to ask for what is wanted now, once the question before has its answer; for another step not just after it.
 * While a person drags over steps each question would else be taken back before its answer, and the store would take the
 * processor from the picture for what nobody sees.
 */
export const useMoveOn = (isAnswered: boolean, wanted: Wanted, moveOn: () => void): void => {
  const askedAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (wanted === 'same' || (wanted === 'otherStep' && !isAnswered)) return
    const go = (): void => {
      askedAt.current = performance.now()
      moveOn()
    }
    const wait = wanted === 'other' ? 0 : askedAt.current + APART_MS - performance.now()
    if (wait <= 0) return go()
    const timer = setTimeout(go, wait)
    return () => clearTimeout(timer)
  })
}
