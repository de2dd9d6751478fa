import { type ReactNode, useState } from 'react'
import { type Draw, useCanvas } from '../../drawing/canvas.ts'
import { HEAT_EDGE, mapGrid, mapHeight } from '../../drawing/draw-heat.ts'
import { heatHit } from '../../drawing/heat.ts'
import { useSelection } from '../../state/selection.ts'
import type { CaptureShape } from './model.ts'

export interface MapCell {
  readonly row: number
  readonly head: number
}

interface Props {
  readonly capture: CaptureShape
  readonly picked: MapCell
  readonly draw: Draw
  /** What the drawing depends on. */
  readonly deps: readonly unknown[]
  readonly label: string
  readonly testId: string
  /** What is said of the cell under the pointer, else of the picked one. */
  readonly note: (cell: MapCell) => ReactNode
}

/** A map with a cell for every row and head; a click picks one. */
export const RowHeadMap = ({ capture, picked, draw, deps, label, testId, note }: Props) => {
  const select = useSelection((s) => s.select)
  const [hovered, setHovered] = useState<MapCell | null>(null)
  const canvas = useCanvas(draw, deps)
  const cellAt = (event: { nativeEvent: { offsetX: number; offsetY: number } }): MapCell | null => {
    const element = canvas.current
    if (element === null) return null
    const grid = mapGrid(capture, element.clientWidth, element.clientHeight)
    const { offsetX, offsetY } = event.nativeEvent
    return heatHit(capture.relErr, grid, offsetX - HEAT_EDGE.left, offsetY - HEAT_EDGE.top)
  }
  const shown = hovered ?? picked
  return (
    <>
      <p className="num merge-note" data-testid={`${testId}-note`}>
        row {shown.row}, head {shown.head}: {note(shown)}
      </p>
      <canvas
        ref={canvas}
        role="img"
        data-testid={testId}
        style={{ height: mapHeight(capture.rows) }}
        aria-label={label}
        onPointerMove={(event) => setHovered(cellAt(event))}
        onPointerLeave={() => setHovered(null)}
        onClick={(event) => {
          const cell = cellAt(event)
          if (cell === null) return
          select({
            request: capture.request[cell.row] ?? null,
            qIndex: capture.qIndex[cell.row] ?? null,
            head: cell.head,
          })
        }}
      />
    </>
  )
}
