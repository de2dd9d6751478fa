import { type RefObject, useEffect, useRef, useState } from 'react'

/** Width in pixels from which derived facts have a column of their own; as in run.css. */
const WIDE = 1300

/** Whether the element of `ref` is wide enough for three columns. */
export const useWide = (): { readonly ref: RefObject<HTMLDivElement | null>; readonly wide: boolean } => {
  const ref = useRef<HTMLDivElement>(null)
  const [wide, setWide] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (element === null) return
    const observer = new ResizeObserver(() => setWide(element.clientWidth >= WIDE))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { ref, wide }
}
