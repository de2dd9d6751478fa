import { useState } from 'react'
import type { LayoutRequest } from '../../../app/dcp/layout.ts'
import { useViewKeys } from '../../controls/use-view-keys.ts'
import { useWheelZoom } from '../../controls/use-wheel-zoom.ts'
import { useCanvas } from '../../drawing/canvas.ts'
import { useSelection } from '../../state/selection.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { drawRing } from './draw-ring.ts'
import { factsOf } from './facts.ts'
import { NOTHING, type Point } from './geometry.ts'
import { HoverCard } from './HoverCard.tsx'
import { isShown, type Ring, ringHit, ringOf, ringTexts, turnOf } from './ring.ts'
import { movedToken } from './selection-moves.ts'
import type { RingControl } from './use-ring.ts'

interface Props {
  readonly layout: LayoutRequest
  readonly pages: Int32Array | null
  readonly hasTable: boolean
  readonly control: RingControl
  readonly testId?: string
}

/** The pointer, and the ring that was there below it. */
interface Pointer {
  readonly at: Point
  readonly ring: Ring
  readonly width: number
}

const ZOOM = 1.3
/** Room for the numbers of a token beside the pointer, pixels. */
const CARD_WIDTH = 220

/** The tokens of a request on a ring, a sector to each rank. */
export const RingCanvas = ({ layout, pages, hasTable, control, testId = 'ownership-ring' }: Props) => {
  const theme = useTheme()
  const token = useSelection((s) => s.token)
  const rank = useSelection((s) => s.rank)
  const select = useSelection((s) => s.select)
  const [pointer, setPointer] = useState<Pointer | null>(null)
  const { len, dcp } = layout
  const selected = token !== null && token < len ? token : null
  const { view } = control
  const under = pointer === null ? NOTHING : ringHit(pointer.at, pointer.ring, len, layout)
  const hovered = under.kind === 'token' ? under.token : null
  const canvas = useCanvas(
    (ctx, width, height) =>
      drawRing(ctx, width, height, theme, {
        ring: ringOf(width, height, len, layout, view, selected),
        len,
        paging: layout,
        hovered,
        selected,
        rank,
      }),
    [layout, theme, view.pitch, view.first, view.free, hovered, selected, rank],
  )
  const ringNow = (): Ring | null => {
    const element = canvas.current
    return element === null
      ? null
      : ringOf(element.clientWidth, element.clientHeight, len, layout, view, selected)
  }
  const pick = (next: number, ring: Ring | null): void => {
    if (ring !== null && isShown(turnOf(next, layout).turn, ring)) control.hold(ring, next)
    select({ token: next })
  }
  const act = (at: Point): void => {
    const ring = ringNow()
    if (ring === null) return
    const hit = ringHit(at, ring, len, layout)
    if (hit.kind === 'token') pick(hit.token, ring)
    else if (hit.kind === 'rank') select({ rank: hit.rank === rank ? null : hit.rank })
  }
  useWheelZoom(canvas, {
    zoom: control.zoom,
    pan: (pixels) => {
      const ring = ringNow()
      if (ring !== null) control.scroll(ring, Math.sign(pixels))
    },
  })
  useViewKeys((event) => {
    const ring = ringNow()
    const moved = movedToken(event.code, event.shiftKey, selected, len, layout.interleave * dcp)
    if (moved === null) return ring !== null && ringKey(event.code, control, ring)
    pick(moved, ring)
    return true
  })
  const card = hovered === null || pointer === null ? null : { hovered, pointer }
  return (
    <div className="ownership-picture">
      <canvas
        ref={canvas}
        className="ownership-canvas"
        data-testid={testId}
        role="img"
        tabIndex={0}
        aria-label={`Ring of ${len} tokens on ${dcp} ranks; ${ringTexts(ringNow() ?? ringOf(1, 1, len, layout, view, selected), layout).join(', ')}; arrows move the selected token, W and S widen and narrow turns, A and D show older and newer ones`}
        onPointerMove={({ nativeEvent: { offsetX: x, offsetY: y }, currentTarget }) => {
          const ring = ringNow()
          if (ring !== null) setPointer({ at: { x, y }, ring, width: currentTarget.clientWidth })
        }}
        onPointerLeave={() => setPointer(null)}
        onClick={({ nativeEvent: { offsetX: x, offsetY: y } }) => act({ x, y })}
      />
      {card === null ? null : (
        <HoverCard
          at={card.pointer.at}
          place={{
            left: card.pointer.at.x > card.pointer.width - CARD_WIDTH,
            above: card.pointer.at.y > card.pointer.ring.centre.y,
          }}
          facts={factsOf(card.hovered, len, layout, pages)}
          hasTable={hasTable}
        />
      )}
    </div>
  )
}

const ringKey = (code: string, control: RingControl, ring: Ring): boolean => {
  switch (code) {
    case 'KeyW':
      control.zoom(ZOOM)
      return true
    case 'KeyS':
      control.zoom(1 / ZOOM)
      return true
    case 'KeyA':
      control.scroll(ring, -1)
      return true
    case 'KeyD':
      control.scroll(ring, 1)
      return true
    case 'Digit0':
    case 'Numpad0':
      control.fit()
      return true
    case 'Backspace':
      control.back()
      return true
    default:
      return false
  }
}
