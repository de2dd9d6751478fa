import { create } from 'zustand'
import { useCompare } from './compare.ts'
import { useDump } from './dump.ts'
import { goTo, type Place, placeNow, sameGround, samePlace } from './place.ts'
import { useSelection } from './selection.ts'
import { useSession } from './session.ts'
import { useView } from './view.ts'
import { type Zoom, zoomOf } from './zoom.ts'

/** Places that a person was at, with the present one between them. */
export interface Trail {
  /** Oldest first. */
  readonly past: readonly Place[]
  readonly now: Place
  /** Nearest first. */
  readonly future: readonly Place[]
  /** When the present place was last changed, ms. */
  readonly movedAtMs: number
}

const MOST = 100
/** Moves of the selection that follow each other within this time are one: scrubbing, playing, held keys. */
export const ONE_MOVE_MS = 700

/** The trail after a person came to `place`; `zoom` is how the place that was left was zoomed at last. */
export const visited = (trail: Trail, place: Place, zoom: Zoom, nowMs: number): Trail => {
  const { past, now, movedAtMs } = trail
  if (samePlace(now, place)) return trail
  const goesOn = sameGround(now, place) && nowMs - movedAtMs < ONE_MOVE_MS
  return {
    past: goesOn ? past : [...past, { ...now, zoom }].slice(-MOST),
    now: place,
    future: [],
    movedAtMs: nowMs,
  }
}

/** The trail one place back or forward; the same trail where there is none. */
export const stepped = (trail: Trail, way: 'back' | 'forward', zoom: Zoom): Trail => {
  const { past, now, future } = trail
  const target = way === 'back' ? past.at(-1) : future[0]
  if (target === undefined) return trail
  const here = { ...now, zoom }
  return {
    past: way === 'back' ? past.slice(0, -1) : [...past, here],
    now: target,
    future: way === 'back' ? [here, ...future] : future.slice(1),
    // What is selected next is a move of its own.
    movedAtMs: Number.NEGATIVE_INFINITY,
  }
}

interface TrailStore {
  readonly trail: Trail
  readonly go: (way: 'back' | 'forward') => void
}

const zoomNow = ({ now }: Trail): Zoom => zoomOf(now.view, now.run)

/** The way back and forward over the places of this session. */
export const useTrail = create<TrailStore>((set, get) => ({
  trail: { past: [], now: placeNow(), future: [], movedAtMs: Number.NEGATIVE_INFINITY },
  go: (way) => {
    const { trail } = get()
    const next = stepped(trail, way, zoomNow(trail))
    if (next === trail) return
    set({ trail: next })
    goTo(next.now)
  },
}))

/** Follows the person from now on. What changes at once, such as view and selection, is one move. */
export const followPlaces = (): void => {
  let waiting = false
  const note = (): void => {
    if (waiting) return
    waiting = true
    // Read at once: what is selected next may be brought into view.
    const zoom = zoomNow(useTrail.getState().trail)
    queueMicrotask(() => {
      waiting = false
      const { trail } = useTrail.getState()
      const next = visited(trail, placeNow(), zoom, performance.now())
      // A live run changes the session ten times a second.
      if (next !== trail) useTrail.setState({ trail: next })
    })
  }
  for (const store of [useView, useSelection, useDump, useSession, useCompare]) store.subscribe(note)
}
