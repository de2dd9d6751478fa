import { useState } from 'react'
import { clamped, fitted, panned, revealed, type Viewport, zoomedAt } from './viewport.ts'

export interface ViewportControl {
  readonly view: Viewport
  /** Width of the plot in pixels. */
  readonly width: number
  /** Tells how wide the plot is. */
  readonly setWidth: (width: number) => void
  /** Zooms about pixel `x` of the plot, or its middle. */
  readonly zoom: (factor: number, x?: number) => void
  readonly pan: (pixels: number) => void
  readonly fit: () => void
  /** Undoes a zoom. */
  readonly back: () => void
  /** Brings a token into view; `closer` also zooms until single tokens can be told. */
  readonly reveal: (token: number, closer: boolean) => void
}

interface State {
  /** null shows everything, however much there gets to be. */
  readonly view: Viewport | null
  readonly past: readonly (Viewport | null)[]
  readonly zoomedAtMs: number
}

const HISTORY = 50
/** Zooms that follow each other within this time are undone together. */
const ONE_ZOOM_MS = 500

/** Zoom and position over `extent` tokens. */
export const useViewport = (extent: number): ViewportControl => {
  const [width, setWidth] = useState(800)
  const [state, setState] = useState<State>({ view: null, past: [], zoomedAtMs: 0 })
  const shown = ({ view }: State): Viewport =>
    view === null ? fitted(extent, width) : clamped(view, extent, width)
  const zoomTo = (next: (view: Viewport) => Viewport | null): void => {
    const now = performance.now()
    setState((s) => ({
      view: next(shown(s)),
      past: now - s.zoomedAtMs < ONE_ZOOM_MS ? s.past : [...s.past, s.view].slice(-HISTORY),
      zoomedAtMs: now,
    }))
  }
  const moveTo = (next: (view: Viewport) => Viewport): void =>
    setState((s) => {
      const before = shown(s)
      const after = next(before)
      return after === before ? s : { ...s, view: after }
    })
  return {
    view: shown(state),
    width,
    setWidth,
    zoom: (factor, x = width / 2) => zoomTo((view) => zoomedAt(view, factor, x, extent, width)),
    pan: (pixels) => moveTo((view) => panned(view, pixels, extent, width)),
    fit: () => zoomTo(() => null),
    back: () =>
      setState((s) => {
        const last = s.past.at(-1)
        return last === undefined ? s : { view: last, past: s.past.slice(0, -1), zoomedAtMs: 0 }
      }),
    reveal: (token, closer) =>
      closer
        ? zoomTo((view) => revealed(view, token, extent, width, true))
        : moveTo((view) => revealed(view, token, extent, width, false)),
  }
}
