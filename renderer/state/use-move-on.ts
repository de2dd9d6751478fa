import { useEffect, useRef } from 'react'

/** Least time between two questions about what a person goes over: more of them could not be told apart. */
const APART_MS = 50

/**
 * Calls `moveOn`, to ask for what is wanted now, once the question before has its answer and was not asked just now. While a
 * person drags over steps each question would else be taken back before its answer, and the store would take the processor from
 * the picture for what nobody sees.
 */
export const useMoveOn = (isAnswered: boolean, isWanted: boolean, moveOn: () => void): void => {
  const askedAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (!isAnswered || isWanted) return
    const go = (): void => {
      askedAt.current = performance.now()
      moveOn()
    }
    const wait = askedAt.current + APART_MS - performance.now()
    if (wait <= 0) return go()
    const timer = setTimeout(go, wait)
    return () => clearTimeout(timer)
  })
}
