import type { Look, LookControl } from './look.ts'
import { clampedRange, pannedRange, revealedRange, type TimeRange, zoomedRange } from './range.ts'

export interface RangeControl {
  readonly range: TimeRange
  readonly follow: boolean
  readonly setFollow: (follow: boolean) => void
  /** `at`: share of the width that stays in place. */
  readonly zoom: (factor: number, at?: number) => void
  readonly pan: (share: number) => void
  readonly fit: () => void
  /** Shows a range, as a zoom that can be undone. */
  readonly show: (range: TimeRange) => void
  /** Moves only as far as needed. */
  readonly reveal: (range: TimeRange) => void
  /** Undoes a zoom. */
  readonly back: () => void
}

const HISTORY = 50
const ONE_ZOOM_MS = 500

/** What of `whole` a look shows; the end of a live run when it is followed. */
export const shownRange = (look: Look, whole: TimeRange, live: boolean): TimeRange => {
  if (look.range === null) return clampedRange(whole, whole)
  if (!(live && look.follow)) return clampedRange(look.range, whole)
  const span = look.range.endNs - look.range.startNs
  return clampedRange({ startNs: whole.endNs - span, endNs: whole.endNs }, whole)
}

/** Goes to `range` and remembers where it came from, unless this goes on with the last zoom. */
export const zoomedLook = (look: Look, range: TimeRange | null, nowMs: number): Partial<Look> => ({
  range,
  past: nowMs - look.zoomedAtMs > ONE_ZOOM_MS ? [...look.past, look.range].slice(-HISTORY) : look.past,
  zoomedAtMs: nowMs,
})

/** Goes to `range` in one step of its own: what was zoomed before and what is zoomed next are other steps. */
export const jumpedLook = (look: Look, range: TimeRange | null): Partial<Look> => ({
  range,
  past: [...look.past, look.range].slice(-HISTORY),
  zoomedAtMs: Number.NEGATIVE_INFINITY,
})

/** The look before the last zoom. */
export const undoneLook = (look: Look): Partial<Look> => {
  const last = look.past.at(-1)
  return last === undefined
    ? {}
    : { range: last, past: look.past.slice(0, -1), zoomedAtMs: Number.NEGATIVE_INFINITY }
}

/** Which part of time is shown, and how it moves. */
export const useRange = ({ look, change }: LookControl, whole: TimeRange, live: boolean): RangeControl => {
  const now = (l: Look): TimeRange => shownRange(l, whole, live)
  return {
    range: now(look),
    follow: look.follow,
    setFollow: (follow) => change((l) => ({ range: l.range === null ? null : now(l), follow })),
    zoom: (factor, at = 0.5) =>
      change((l) =>
        zoomedLook(l, zoomedRange(now(l), factor, live && l.follow ? 1 : at, whole), performance.now()),
      ),
    pan: (share) => change((l) => ({ range: pannedRange(now(l), share, whole), follow: false })),
    fit: () => change((l) => (l.range === null ? {} : { ...jumpedLook(l, null), follow: true })),
    show: (range) => change((l) => ({ ...jumpedLook(l, clampedRange(range, whole)), follow: false })),
    reveal: (range) => change((l) => ({ range: revealedRange(now(l), range, whole), follow: false })),
    back: () => change(undoneLook),
  }
}
