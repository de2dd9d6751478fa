import { useState } from 'react'
import { useCanvas } from '../../drawing/canvas.ts'
import { drawHeat, HEAT_EDGE, mapGrid, mapHeight } from '../../drawing/draw-heat.ts'
import { heatHit } from '../../drawing/heat.ts'
import { useSelection } from '../../state/selection.ts'
import { useTheme } from '../../theme/use-theme.ts'
import type { CaptureShape } from './model.ts'
import { sciText } from './Verdicts.tsx'

interface Props {
  readonly capture: CaptureShape
  readonly row: number
  readonly head: number
}

interface Cell {
  readonly row: number
  readonly head: number
}

/** Relative error of every row and head; a click picks one. */
export const ErrorMap = ({ capture, row, head }: Props) => {
  const theme = useTheme()
  const select = useSelection((s) => s.select)
  const [hovered, setHovered] = useState<Cell | null>(null)
  const canvas = useCanvas(
    (ctx, width, height) => drawHeat(ctx, width, height, theme, capture, { row, head }),
    [theme, capture, row, head],
  )
  const cellAt = (event: { nativeEvent: { offsetX: number; offsetY: number } }): Cell | null => {
    const element = canvas.current
    if (element === null) return null
    const grid = mapGrid(capture, element.clientWidth, element.clientHeight)
    const { offsetX, offsetY } = event.nativeEvent
    return heatHit(capture.relErr, grid, offsetX - HEAT_EDGE.left, offsetY - HEAT_EDGE.top)
  }
  const shown = hovered ?? { row, head }
  if (!capture.hasReference)
    return (
      <div className="merge-map">
        <h3>Error of every row and head</h3>
        <p className="merge-quiet">The capture has no reference, so there is no error to map.</p>
      </div>
    )
  return (
    <div className="merge-map">
      <h3>
        Error of every row and head
        <span className="num merge-note">
          row {shown.row}, head {shown.head}:{' '}
          {sciText(capture.relErr[shown.row * capture.heads + shown.head] ?? Number.NaN)}
        </span>
      </h3>
      <canvas
        ref={canvas}
        role="img"
        data-testid="merge-map"
        style={{ height: mapHeight(capture.rows) }}
        aria-label={`Relative error of ${capture.rows} rows and ${capture.heads} heads; arrow keys move the picked one`}
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
    </div>
  )
}
