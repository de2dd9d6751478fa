import { useEffect, useState } from 'react'

/** Whether `key` has stayed the same for `ms`: what is swept over in passing is not worth a question to the store. */
export const useRested = (key: string, ms: number): boolean => {
  const [rested, setRested] = useState<string | null>(null)
  useEffect(() => {
    const timer = setTimeout(() => setRested(key), ms)
    return () => clearTimeout(timer)
  }, [key, ms])
  return rested === key
}
