import { useState } from 'react'
import { PITCH, type Ring, type RingView } from './ring.ts'

export interface RingControl {
  readonly view: RingView
  readonly zoom: (factor: number) => void
  /** Shows turns that are newer, or older where `turns` is negative. */
  readonly scroll: (ring: Ring, turns: number) => void
  /** As many turns as there is room for, up to the newest. */
  readonly fit: () => void
  /** Undoes a zoom. */
  readonly back: () => void
  /** Leaves the turns of `ring` where they are when `token` is selected from it. */
  readonly hold: (ring: Ring, token: number) => void
}

interface State {
  readonly pitch: number
  /** A first turn that was chosen while the token `by` was selected: another token brings its own turn into view. */
  readonly chosen: { readonly first: number; readonly by: number | null; readonly free: boolean } | null
  readonly past: readonly number[]
}

const HISTORY = 50

/** Which turns of a ring are shown, and how wide; `selected` is the token that is to be seen. */
export const useRing = (selected: number | null): RingControl => {
  const [state, setState] = useState<State>({ pitch: PITCH.usual, chosen: null, past: [] })
  const zoomTo = (pitch: number): void =>
    setState((s) => ({
      ...s,
      pitch: Math.min(PITCH.most, Math.max(PITCH.least, pitch)),
      past: [...s.past, s.pitch].slice(-HISTORY),
    }))
  const choose = (first: number, by: number | null, free: boolean): void =>
    setState((s) => ({ ...s, chosen: { first, by, free } }))
  const chosen = state.chosen?.by === selected ? state.chosen : null
  return {
    view: { pitch: state.pitch, first: chosen?.first ?? null, free: chosen?.free ?? false },
    zoom: (factor) => zoomTo(state.pitch * factor),
    scroll: (ring, turns) =>
      choose(Math.min(Math.max(0, ring.first + turns), ring.total - ring.count), selected, true),
    fit: () => {
      zoomTo(PITCH.least)
      setState((s) => ({ ...s, chosen: null }))
    },
    back: () =>
      setState((s) => {
        const last = s.past.at(-1)
        return last === undefined ? s : { ...s, pitch: last, past: s.past.slice(0, -1) }
      }),
    hold: (ring, token) => choose(ring.first, token, false),
  }
}
