import { type RefObject, useEffect, useRef } from 'react'
import { type Geometry, type Sizes, zoomedPool, zoomedTable } from './geometry.ts'
import { useLook } from './look.ts'

/** Pixels of wheel that scroll by one row. */
const NOTCH = 33

/**
 * Wheel scrolls the panel under the pointer, with Shift (or sideways on a trackpad) the table by columns; with Ctrl it zooms.
 * React's own handler could not cancel it.
 */
export const useWheel = (
  canvas: RefObject<HTMLCanvasElement | null>,
  geometry: Geometry,
  sizes: Sizes,
): void => {
  const latest = useRef({ geometry, sizes })
  latest.current = { geometry, sizes }
  const rest = useRef(0)
  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    const listen = (event: WheelEvent): void => {
      event.preventDefault()
      const { geometry: g, sizes: all } = latest.current
      const { change } = useLook.getState()
      const inPool = event.clientX - element.getBoundingClientRect().left >= g.pool.x - 20
      const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)
      const delta = sideways && event.deltaX !== 0 ? event.deltaX : event.deltaY
      rest.current += delta / (event.ctrlKey ? 3 * NOTCH : NOTCH)
      const by = Math.trunc(rest.current)
      if (by === 0) return
      rest.current -= by
      if (event.ctrlKey) change(inPool ? zoomedPool(g, all, -by) : zoomedTable(g, all, -by))
      else if (inPool) change({ lineFrom: g.scroll.lineFrom + by })
      else if (sideways) change({ markFrom: g.scroll.markFrom + by })
      else change({ requestFrom: g.scroll.requestFrom + by })
    }
    element.addEventListener('wheel', listen, { passive: false })
    return () => element.removeEventListener('wheel', listen)
  }, [canvas])
}
