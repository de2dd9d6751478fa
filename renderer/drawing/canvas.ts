import { type RefObject, useEffect, useRef } from 'react'
import { useSettings } from '../state/settings.ts'
import type { Pen } from './pen.ts'

/** Frames a second from which on every one is drawn. */
const FULL_RATE = 60
const FRAME_SLACK_MS = 4

/** Draws in CSS pixels; the context is already scaled by `dpr`. */
export type Draw = (ctx: Pen, width: number, height: number, dpr: number) => void

/** What is drawn on each canvas of the page now. */
const DRAWN = new WeakMap<HTMLCanvasElement, Draw>()

/** What draws a canvas of `useCanvas`, to draw the same elsewhere; undefined for others. */
export const drawingOf = (canvas: HTMLCanvasElement): Draw | undefined => DRAWN.get(canvas)

/**
 * What draws on each canvas of the page. The pixels are handed over whole, frame by frame: pixels that belong to the page are
 * copied into it, and a page without a GPU takes as long for that as for all else.
 */
const PENS = new WeakMap<HTMLCanvasElement, OffscreenCanvasRenderingContext2D>()

const penOf = (canvas: HTMLCanvasElement): OffscreenCanvasRenderingContext2D | null => {
  const known = PENS.get(canvas)
  if (known !== undefined) return known
  const pen = canvas.transferControlToOffscreen().getContext('2d')
  if (pen !== null) PENS.set(canvas, pen)
  return pen
}

/**
 * A canvas that fills its box at the resolution of the screen. It is drawn anew when `deps` or its size change, at
 * most once a frame.
 */
export const useCanvas = (draw: Draw, deps: readonly unknown[]): RefObject<HTMLCanvasElement | null> => {
  const ref = useRef<HTMLCanvasElement>(null)
  const latest = useRef(draw)
  latest.current = draw
  const redraw = useRef<() => void>(() => {})

  useEffect(() => {
    const canvas = ref.current
    const ctx = canvas === null ? null : penOf(canvas)
    if (canvas === null || ctx === null) return
    DRAWN.set(canvas, (...where) => latest.current(...where))
    let frame = 0
    const paint = (): void => {
      frame = 0
      const dpr = window.devicePixelRatio
      const { clientWidth: width, clientHeight: height } = canvas
      const [w, h] = [Math.round(width * dpr), Math.round(height * dpr)]
      if (w === 0 || h === 0) return
      if (ctx.canvas.width !== w || ctx.canvas.height !== h) {
        ctx.canvas.width = w
        ctx.canvas.height = h
      }
      ctx.setTransform(dpr, 0, 0, dpr, 0, 0)
      ctx.clearRect(0, 0, width, height)
      latest.current(ctx, width, height, dpr)
    }
    let painted = Number.NEGATIVE_INFINITY
    /** Waits for the next frame until enough time has passed for one more. */
    const onFrame = (now: number): void => {
      const { frames } = useSettings.getState().settings
      // Frames come a little early and late.
      if (frames < FULL_RATE && now - painted < 1000 / frames - FRAME_SLACK_MS) {
        frame = requestAnimationFrame(onFrame)
        return
      }
      painted = now
      paint()
    }
    const schedule = (): void => {
      if (frame === 0) frame = requestAnimationFrame(onFrame)
    }
    redraw.current = schedule
    const observer = new ResizeObserver(schedule)
    observer.observe(canvas)
    window.addEventListener('resize', schedule)
    return () => {
      observer.disconnect()
      window.removeEventListener('resize', schedule)
      if (frame !== 0) cancelAnimationFrame(frame)
    }
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller says what a drawing depends on
  useEffect(() => redraw.current(), deps)
  return ref
}
