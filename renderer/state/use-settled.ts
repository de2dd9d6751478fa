import { useEffect, useRef, useState } from 'react'

/** What takes longer shows what there is of it. */
const PATIENCE_MS = 80

interface Kept<T> {
  readonly ground: string
  readonly value: T
}

/**
 * What several answers make together: the last whole one, until the next is whole or takes too long. While a person goes from
 * step to step a view is then drawn once a step and not once an answer, and nothing flickers. Of another `ground`, such as
 * another run, nothing is kept.
 */
export const useSettled = <T>(value: T, isWhole: boolean, ground: string): T => {
  const kept = useRef<Kept<T> | null>(null)
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    setLate(false)
    if (isWhole) return
    const timer = setTimeout(() => setLate(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [isWhole])
  if (isWhole || isLate || kept.current === null || kept.current.ground !== ground)
    kept.current = { ground, value }
  return kept.current.value
}
