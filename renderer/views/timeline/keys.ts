import { useEffect, useRef } from 'react'

/** Physical keys that act as long as they are held. */
export const HELD_KEYS = ['KeyW', 'KeyS', 'KeyA', 'KeyD'] as const
export type HeldKey = (typeof HELD_KEYS)[number]

export const isHeldKey = (code: string): code is HeldKey => HELD_KEYS.some((key) => key === code)

export interface Motion {
  /** Factor of a zoom. */
  readonly zoom: number
  /** Share of the width to pan by. */
  readonly pan: number
}

const ZOOM_PER_SECOND = 5
const WIDTHS_PER_SECOND = 1.2
/** What a short press does at least, as time held. */
export const TAP_SECONDS = 0.09

/** Zoom and pan of the held keys over a time, whatever the frame rate. */
export const motionOf = (held: ReadonlySet<HeldKey>, seconds: number): Motion => {
  const zooming = Number(held.has('KeyW')) - Number(held.has('KeyS'))
  const panning = Number(held.has('KeyD')) - Number(held.has('KeyA'))
  return { zoom: ZOOM_PER_SECOND ** (zooming * seconds), pan: panning * WIDTHS_PER_SECOND * seconds }
}

/** Moves smoothly while keys are held; gives the handlers that note them. */
export const useHeldKeys = (move: (motion: Motion) => void): { press: (code: HeldKey) => void } => {
  const latest = useRef(move)
  latest.current = move
  const held = useRef(new Set<HeldKey>())
  const frame = useRef(0)
  const before = useRef(0)

  useEffect(() => {
    const release = (event: KeyboardEvent): void => {
      if (isHeldKey(event.code)) held.current.delete(event.code)
    }
    const releaseAll = (): void => held.current.clear()
    window.addEventListener('keyup', release)
    window.addEventListener('blur', releaseAll)
    return () => {
      window.removeEventListener('keyup', release)
      window.removeEventListener('blur', releaseAll)
      cancelAnimationFrame(frame.current)
      frame.current = 0
    }
  }, [])

  const tick = (now: number): void => {
    frame.current = 0
    if (held.current.size === 0) return
    latest.current(motionOf(held.current, Math.min(0.1, (now - before.current) / 1000)))
    before.current = now
    frame.current = requestAnimationFrame(tick)
  }
  const press = (code: HeldKey): void => {
    if (held.current.has(code)) return
    held.current.add(code)
    latest.current(motionOf(new Set([code]), TAP_SECONDS))
    before.current = performance.now()
    if (frame.current === 0) frame.current = requestAnimationFrame(tick)
  }
  return { press }
}
