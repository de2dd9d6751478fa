import { type RefObject, useEffect, useRef } from 'react'

interface WheelMoves {
  /** `x` and `y` of the pointer in the element, pixels. */
  readonly zoom: (factor: number, x: number, y: number) => void
  /** Sideways, pixels of wheel. */
  readonly pan: (pixels: number) => void
}

/** Pixels of wheel that double the zoom. */
const DOUBLE = 300

/** Wheel zooms at the pointer; with Shift, or sideways on a trackpad, it pans. React's own handler could not cancel it. */
export const useWheelZoom = (canvas: RefObject<HTMLCanvasElement | null>, moves: WheelMoves): void => {
  const latest = useRef(moves)
  latest.current = moves
  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    const listen = (event: WheelEvent): void => {
      event.preventDefault()
      const { left, top } = element.getBoundingClientRect()
      const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)
      if (sideways) latest.current.pan(event.deltaX === 0 ? event.deltaY : event.deltaX)
      else latest.current.zoom(2 ** (-event.deltaY / DOUBLE), event.clientX - left, event.clientY - top)
    }
    element.addEventListener('wheel', listen, { passive: false })
    return () => element.removeEventListener('wheel', listen)
  }, [canvas])
}
