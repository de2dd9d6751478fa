import { type PointerEvent, type RefObject, useEffect, useRef } from 'react'
import { itemAtPoint } from './items.ts'
import { type Lanes, rankAtY, slotAtY } from './lanes.ts'
import { type TimeRange, timeAtX, withMargin } from './range.ts'
import type { Area, HoveredItem } from './scene.ts'
import type { TilePiece } from './tiles.ts'
import type { RangeControl } from './use-range.ts'

/** A place on the canvas, CSS pixels. */
export interface Point {
  readonly x: number
  readonly y: number
}

interface Drag {
  readonly kind: 'pan' | 'area' | 'zoom' | 'measure' | 'lane'
  readonly fromX: number
  readonly fromY: number
  /** Whose lane it began on. */
  readonly rank: number | null
  x: number
  moved: boolean
}

interface Surface {
  readonly canvas: RefObject<HTMLCanvasElement | null>
  readonly control: RangeControl
  readonly lanes: Lanes
  readonly pieces: readonly TilePiece[]
  /** Where the pointer rests; null while it drags or is elsewhere. */
  readonly setPointer: (at: Point | null) => void
  readonly onPick: (rank: number | null, ns: number, item: HoveredItem | null, at: Point) => void
  readonly onArea: (area: Area | null) => void
  /** The part of time that is being marked to be zoomed to; null when the drag is over. */
  readonly onZoomBox: (range: TimeRange | null) => void
  /** Two times on the ruler, between which is measured. */
  readonly onMeasure: (fromNs: number, toNs: number) => void
  /** The lane of a rank is dragged to a place of the order. */
  readonly onLane: (rank: number, slot: number) => void
  readonly onScroll: (pixels: number) => void
}

/** Pixels that a pointer may move and still click. */
const CLICK_SLOP = 3
/** Factor of a zoom for one pixel of wheel movement; a pinch comes as a wheel with Ctrl and small steps. */
const WHEEL_ZOOM = 1.0022
const PINCH_ZOOM = 1.012
/** Pixels of a wheel step that is given in lines. */
const LINE = 16

/** Ranks whose lanes lie between two heights; all when both are on the ruler. */
const ranksBetween = (y0: number, y1: number, lanes: Lanes): number[] => {
  const [top, bottom] = [Math.min(y0, y1), Math.max(y0, y1)]
  if (bottom < lanes.rulerHeight) return Array.from({ length: lanes.ranks }, (_, rank) => rank)
  const found = new Set<number>()
  for (let y = top; y <= bottom; y += 2) {
    const rank = rankAtY(y, lanes)
    if (rank !== null) found.add(rank)
  }
  return [...found]
}

/** What a drag does: of the name of a lane it moves the lane, on the ruler it measures, with Ctrl it zooms, with Shift it marks. */
const kindOf = (event: PointerEvent, { x, y }: Point, lanes: Lanes): Drag['kind'] => {
  if (x < lanes.labelWidth && rankAtY(y, lanes) !== null) return 'lane'
  if (event.ctrlKey || event.metaKey) return 'zoom'
  if (event.shiftKey) return 'area'
  return y < lanes.rulerHeight ? 'measure' : 'pan'
}

/** Pointer and wheel on the canvas: hover, click, drags as `kindOf` says, wheel to zoom. */
export const useGestures = ({
  canvas,
  control,
  lanes,
  pieces,
  setPointer,
  onPick,
  onArea,
  onZoomBox,
  onMeasure,
  onLane,
  onScroll,
}: Surface) => {
  const drag = useRef<Drag | null>(null)
  const plotWidth = (): number => Math.max(1, (canvas.current?.clientWidth ?? 1) - lanes.labelWidth)
  const wheel = useRef<(event: WheelEvent) => void>(() => {})

  wheel.current = (event) => {
    const element = canvas.current
    if (element === null) return
    event.preventDefault()
    const x = event.clientX - element.getBoundingClientRect().left - lanes.labelWidth
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 1
    if (x < 0) return onScroll(event.deltaY * unit)
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.deltaY
      return control.pan((by * unit) / plotWidth())
    }
    const pinch = event.ctrlKey && Math.abs(event.deltaY) < 50
    control.zoom((pinch ? PINCH_ZOOM : WHEEL_ZOOM) ** (-event.deltaY * unit), Math.min(1, x / plotWidth()))
  }

  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    const listen = (event: WheelEvent): void => wheel.current(event)
    // React listens passively, which cannot keep the page from scrolling.
    element.addEventListener('wheel', listen, { passive: false })
    return () => element.removeEventListener('wheel', listen)
  }, [canvas])

  const at = (event: PointerEvent<HTMLCanvasElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    return { x: event.clientX - box.left, y: event.clientY - box.top }
  }
  const itemUnder = (x: number, y: number): HoveredItem | null =>
    itemAtPoint(x - lanes.labelWidth, y, plotWidth(), control.range, lanes, pieces)

  const timeAt = (x: number): number => timeAtX(x - lanes.labelWidth, control.range, plotWidth())

  const markedRange = (from: Drag, x: number): TimeRange => {
    const [a, b] = [timeAt(from.fromX), timeAt(x)]
    return { startNs: Math.max(0, Math.min(a, b)), endNs: Math.max(a, b) }
  }

  const markedArea = (from: Drag, x: number, y: number): Area | null => {
    const range = markedRange(from, x)
    const ranks = ranksBetween(from.fromY, y, lanes)
    return ranks.length === 0 || range.endNs <= range.startNs ? null : { range, ranks }
  }

  const onPointerDown = (event: PointerEvent<HTMLCanvasElement>): void => {
    if (event.button !== 0) return
    const { x, y } = at(event)
    event.currentTarget.setPointerCapture(event.pointerId)
    drag.current = {
      kind: kindOf(event, { x, y }, lanes),
      fromX: x,
      fromY: y,
      rank: rankAtY(y, lanes),
      x,
      moved: false,
    }
    setPointer(null)
  }
  const onPointerMove = (event: PointerEvent<HTMLCanvasElement>): void => {
    const { x, y } = at(event)
    const now = drag.current
    if (now === null) {
      setPointer({ x, y })
      return
    }
    now.moved ||= Math.abs(x - now.fromX) > CLICK_SLOP || Math.abs(y - now.fromY) > CLICK_SLOP
    if (!now.moved) return
    switch (now.kind) {
      case 'area':
        onArea(markedArea(now, x, y))
        break
      case 'zoom':
        onZoomBox(markedRange(now, x))
        break
      case 'measure':
        onMeasure(timeAt(now.fromX), timeAt(x))
        break
      case 'lane':
        if (now.rank !== null) onLane(now.rank, slotAtY(y, lanes))
        break
      case 'pan':
        control.pan((now.x - x) / plotWidth())
    }
    now.x = x
  }
  const onPointerUp = (event: PointerEvent<HTMLCanvasElement>): void => {
    const { x, y } = at(event)
    const now = drag.current
    drag.current = null
    if (now === null) return
    if (now.kind === 'zoom') {
      onZoomBox(null)
      if (now.moved) control.show(markedRange(now, x))
    } else if (!now.moved) onPick(rankAtY(y, lanes), timeAt(x), itemUnder(x, y), { x, y })
  }
  const onPointerLeave = (): void => setPointer(null)
  const onPointerCancel = (): void => {
    drag.current = null
    onZoomBox(null)
  }
  const onDoubleClick = (event: { clientX: number; clientY: number }): void => {
    const box = canvas.current?.getBoundingClientRect()
    if (box === undefined) return
    const item = itemUnder(event.clientX - box.left, event.clientY - box.top)
    if (item === null) return
    control.show(withMargin({ startNs: item.startNs, endNs: item.startNs + item.durNs }))
  }
  return { onPointerDown, onPointerMove, onPointerUp, onPointerLeave, onPointerCancel, onDoubleClick }
}
