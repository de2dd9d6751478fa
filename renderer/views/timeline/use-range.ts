import { useRef, useState } from 'react'
import { clampedRange, pannedRange, revealedRange, type TimeRange, zoomedRange } from './range.ts'

export interface RangeControl {
  readonly range: TimeRange
  /** Whether the end of a live run stays in view. */
  readonly follow: boolean
  readonly setFollow: (follow: boolean) => void
  /** `at`: share of the width that stays in place. */
  readonly zoom: (factor: number, at?: number) => void
  readonly pan: (share: number) => void
  readonly fit: () => void
  readonly show: (range: TimeRange) => void
  readonly reveal: (range: TimeRange) => void
  /** Undoes a zoom. */
  readonly back: () => void
}

interface State {
  /** null shows all, however long the run gets. */
  readonly range: TimeRange | null
  readonly follow: boolean
  readonly past: readonly (TimeRange | null)[]
}

const HISTORY = 50
/** Zooms that follow each other within this time are undone together. */
const ONE_ZOOM_MS = 500
const START: State = { range: null, follow: true, past: [] }

/** Which part of time is shown; a state of its own for each run. */
export const useRange = (run: string | null, whole: TimeRange, live: boolean): RangeControl => {
  const [kept, setKept] = useState<{ run: string | null; state: State }>({ run, state: START })
  const zoomedAt = useRef(0)
  const state = kept.run === run ? kept.state : START
  const set = (next: (state: State) => State): void =>
    setKept((k) => ({ run, state: next(k.run === run ? k.state : START) }))

  const shown = (s: State): TimeRange => {
    if (s.range === null) return clampedRange(whole, whole)
    if (!(live && s.follow)) return clampedRange(s.range, whole)
    const span = s.range.endNs - s.range.startNs
    return clampedRange({ startNs: whole.endNs - span, endNs: whole.endNs }, whole)
  }
  const goTo = (s: State, range: TimeRange | null, follow: boolean, remember: boolean): State => ({
    range,
    follow,
    past: remember ? [...s.past, s.range].slice(-HISTORY) : s.past,
  })

  return {
    range: shown(state),
    follow: state.follow,
    setFollow: (follow) => set((s) => ({ ...s, range: s.range === null ? null : shown(s), follow })),
    zoom: (factor, at = 0.5) => {
      const now = performance.now()
      const remember = now - zoomedAt.current > ONE_ZOOM_MS
      zoomedAt.current = now
      set((s) => goTo(s, zoomedRange(shown(s), factor, live && s.follow ? 1 : at, whole), s.follow, remember))
    },
    pan: (share) => set((s) => goTo(s, pannedRange(shown(s), share, whole), false, false)),
    fit: () => set((s) => goTo(s, null, true, s.range !== null)),
    show: (range) => set((s) => goTo(s, clampedRange(range, whole), false, true)),
    reveal: (range) => set((s) => goTo(s, revealedRange(shown(s), range, whole), false, false)),
    back: () =>
      set((s) => {
        const last = s.past.at(-1)
        return last === undefined ? s : { range: last, follow: s.follow, past: s.past.slice(0, -1) }
      }),
  }
}
