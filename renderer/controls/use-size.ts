import { type RefObject, useEffect, useState } from 'react'

/** Size of an element in CSS pixels, followed; 0 by 0 before it is there. */
export const useSize = (element: RefObject<HTMLElement | null>): { width: number; height: number } => {
  const [size, setSize] = useState({ width: 0, height: 0 })
  useEffect(() => {
    const box = element.current
    if (box === null) return
    const observer = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = box
      setSize((before) => (before.width === width && before.height === height ? before : { width, height }))
    })
    observer.observe(box)
    return () => observer.disconnect()
  }, [element])
  return size
}
