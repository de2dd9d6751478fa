import { useCallback, useRef, useState } from 'react'
import { clamped, fitted, panned, revealed, type Viewport, zoomedAt } from './viewport.ts'

export interface ViewportControl {
  /** The viewport for a plot of `width` pixels. */
  readonly at: (width: number) => Viewport
  /** Tells how wide the plot is; keys and buttons act on the last width told. */
  readonly setWidth: (width: number) => void
  readonly width: () => number
  /** Zooms about pixel `x` of the plot, or its middle. */
  readonly zoom: (factor: number, x?: number) => void
  readonly pan: (pixels: number) => void
  readonly fit: () => void
  readonly back: () => void
  readonly reveal: (token: number, closer: boolean) => void
}

/** Viewports that Backspace can go back to. */
const HISTORY = 50

/** Zoom and position over `len` tokens. Until a person zooms, all tokens are shown, however many there get to be. */
export const useViewport = (len: number): ViewportControl => {
  const [view, setView] = useState<Viewport | null>(null)
  const plot = useRef(800)
  const past = useRef<(Viewport | null)[]>([])
  const at = (width: number): Viewport => (view === null ? fitted(len, width) : clamped(view, len, width))
  const change = (next: Viewport | null, remember: boolean): void => {
    if (remember) past.current = [...past.current, view].slice(-HISTORY)
    setView(next)
  }
  return {
    at,
    setWidth: useCallback((width: number) => {
      plot.current = width
    }, []),
    width: () => plot.current,
    zoom: (factor, x = plot.current / 2) =>
      change(zoomedAt(at(plot.current), factor, x, len, plot.current), true),
    pan: (pixels) => change(panned(at(plot.current), pixels, len, plot.current), false),
    fit: () => change(null, true),
    back: () => {
      const last = past.current.at(-1)
      past.current = past.current.slice(0, -1)
      if (last !== undefined) setView(last)
    },
    reveal: (token, closer) => {
      const now = at(plot.current)
      const next = revealed(now, token, len, plot.current, closer)
      if (next !== now) change(next, closer)
    },
  }
}
