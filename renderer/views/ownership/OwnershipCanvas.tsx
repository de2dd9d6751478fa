import { type PointerEvent, useRef, useState } from 'react'
import type { LayoutRequest } from '../../../app/dcp/layout.ts'
import { useViewKeys } from '../../controls/use-view-keys.ts'
import { useWheelZoom } from '../../controls/use-wheel-zoom.ts'
import { useCanvas } from '../../drawing/canvas.ts'
import { useSelection } from '../../state/selection.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { type Copies, NO_COPIES } from './copies.ts'
import { drawOwnership } from './draw.ts'
import { factsOf } from './facts.ts'
import {
  cardPlace,
  type Geometry,
  geometryOf,
  type Hit,
  hitAt,
  NOTHING,
  PLOT_LEFT,
  type Point,
} from './geometry.ts'
import { HoverCard } from './HoverCard.tsx'
import { movedToken } from './selection-moves.ts'
import { detailText, stripOf } from './strip.ts'
import type { ViewportControl } from './use-viewport.ts'
import { positionAt } from './viewport.ts'

interface Props {
  readonly layout: LayoutRequest
  readonly pages: Int32Array | null
  readonly hasTable: boolean
  readonly copies?: Copies
  readonly viewport: ViewportControl
  readonly testId?: string
}

interface Pointer {
  readonly at: Point
  readonly geometry: Geometry
}

interface Drag {
  readonly from: number
  x: number
  moved: boolean
}

/** Pixels that a pointer may move and still click. */
const CLICK_SLOP = 3
const PAN = 80
const ZOOM = 1.3

const pointOf = (event: { clientX: number; clientY: number }, element: Element): Point => {
  const box = element.getBoundingClientRect()
  return { x: event.clientX - box.left, y: event.clientY - box.top }
}

export const OwnershipCanvas = ({
  layout,
  pages,
  hasTable,
  copies = NO_COPIES,
  viewport,
  testId = 'ownership-canvas',
}: Props) => {
  const theme = useTheme()
  const token = useSelection((s) => s.token)
  const rank = useSelection((s) => s.rank)
  const select = useSelection((s) => s.select)
  const [pointer, setPointer] = useState<Pointer | null>(null)
  const drag = useRef<Drag | null>(null)
  const { len, dcp } = layout
  const selected = token !== null && token < len ? token : null
  // Where the pointer is, not what it pointed at: the picture may move below it.
  const under: Hit =
    pointer === null ? NOTHING : hitAt(pointer.at, viewport.view, pointer.geometry, len, layout)
  const hovered = under.kind === 'token' ? under.token : null

  const canvas = useCanvas(
    (ctx, width, height) => {
      const geometry = geometryOf(width, height, dcp)
      viewport.setWidth(geometry.plotWidth)
      drawOwnership(ctx, width, height, theme, {
        len,
        paging: layout,
        view: viewport.view,
        pages,
        hovered,
        selected,
        rank,
        copies,
      })
    },
    [layout, theme, viewport.view.start, viewport.view.scale, pages, hovered, selected, rank, copies],
  )

  const hit = (point: Point): Hit => {
    const element = canvas.current
    if (element === null) return NOTHING
    const geometry = geometryOf(element.clientWidth, element.clientHeight, dcp)
    return hitAt(point, viewport.view, geometry, len, layout)
  }

  const act = (what: Hit): void => {
    switch (what.kind) {
      case 'token':
        select({ token: what.token })
        return
      case 'rank':
        select({ rank: what.rank === rank ? null : what.rank })
        return
      case 'overview':
        viewport.pan((what.position - positionAt(viewport.width / 2, viewport.view)) * viewport.view.scale)
        return
      case 'nothing':
        return
    }
  }

  useWheelZoom(canvas, {
    zoom: (factor, x) => viewport.zoom(factor, x - PLOT_LEFT),
    pan: viewport.pan,
  })
  useViewKeys((event) => {
    const moved = movedToken(event.code, event.shiftKey, selected, len, layout.interleave * dcp)
    if (moved !== null) {
      select({ token: moved })
      viewport.reveal(moved, false)
      return true
    }
    return viewportKey(event.code, viewport, selected)
  })

  const onPointerMove = (event: PointerEvent<HTMLCanvasElement>): void => {
    const point = pointOf(event, event.currentTarget)
    const dragging = drag.current
    if (dragging !== null) {
      dragging.moved ||= Math.abs(point.x - dragging.from) > CLICK_SLOP
      if (dragging.moved) {
        viewport.pan(dragging.x - point.x)
        dragging.x = point.x
        setPointer(null)
      }
      return
    }
    const { clientWidth, clientHeight } = event.currentTarget
    setPointer({ at: point, geometry: geometryOf(clientWidth, clientHeight, dcp) })
  }

  return (
    <div className="ownership-picture">
      <canvas
        ref={canvas}
        className="ownership-canvas"
        data-testid={testId}
        role="img"
        tabIndex={0}
        aria-label={`${len} tokens on ${dcp} ranks, ${detailText(stripOf(viewport.view, viewport.width, len, layout), layout)}; arrows move the selected token, W and S zoom, A and D pan`}
        onPointerDown={(event) => {
          if (event.button !== 0) return
          const { x } = pointOf(event, event.currentTarget)
          drag.current = { from: x, x, moved: false }
          event.currentTarget.setPointerCapture(event.pointerId)
        }}
        onPointerUp={(event) => {
          const dragged = drag.current
          drag.current = null
          if (dragged !== null && !dragged.moved) act(hit(pointOf(event, event.currentTarget)))
        }}
        onPointerCancel={() => {
          drag.current = null
        }}
        onPointerMove={onPointerMove}
        onPointerLeave={() => setPointer(null)}
      />
      {pointer === null || hovered === null ? null : (
        <HoverCard
          at={pointer.at}
          place={cardPlace(pointer.at, hovered, viewport.view, pointer.geometry, layout)}
          facts={factsOf(hovered, len, layout, pages)}
          hasTable={hasTable}
        />
      )}
    </div>
  )
}

const viewportKey = (code: string, viewport: ViewportControl, selected: number | null): boolean => {
  switch (code) {
    case 'KeyW':
      viewport.zoom(ZOOM)
      return true
    case 'KeyS':
      viewport.zoom(1 / ZOOM)
      return true
    case 'KeyA':
      viewport.pan(-PAN)
      return true
    case 'KeyD':
      viewport.pan(PAN)
      return true
    case 'KeyF':
      if (selected !== null) viewport.reveal(selected, true)
      return true
    case 'Digit0':
    case 'Numpad0':
      viewport.fit()
      return true
    case 'Backspace':
      viewport.back()
      return true
    default:
      return false
  }
}
