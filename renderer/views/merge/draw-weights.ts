import { beginMap, type ErrorGrid, HEAT_EDGE, outlineCell } from '../../drawing/draw-heat.ts'
import { worstRow } from '../../drawing/heat.ts'
import { inkOf } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { rankPathPainter } from '../../drawing/rank-fill.ts'
import { nanPattern, type Theme } from '../../theme/colours.ts'
import { type Weights, weightAt } from './weights.ts'

/** Pixels at the foot of a cell that say that a rank's lse is NaN. */
const NAN_FOOT = 5

interface Cell {
  readonly row: number
  readonly head: number
  readonly x: number
  readonly y: number
}

/** The weights of the ranks as a stacked bar in the cell of every row and head, rank 0 on top. Cells are those of the map of errors. */
export const drawWeights = (
  ctx: Pen,
  width: number,
  height: number,
  theme: Theme,
  capture: ErrorGrid,
  weights: Weights,
  picked: { readonly row: number; readonly head: number },
): void => {
  const grid = beginMap(ctx, width, height, capture)
  const gapX = grid.cellWidth >= 6 ? 1 : 0
  const gapY = grid.cellHeight >= 6 ? 1 : 0
  const [cellWidth, cellHeight] = [grid.cellWidth - gapX, grid.cellHeight - gapY]
  const cells: Cell[] = []
  for (let cellRow = 0; cellRow < grid.cellRows; cellRow++)
    for (let head = 0; head < grid.heads; head++)
      cells.push({
        row: worstRow(capture.relErr, grid, cellRow, head),
        head,
        x: HEAT_EDGE.left + head * grid.cellWidth,
        y: HEAT_EDGE.top + cellRow * grid.cellHeight,
      })
  ctx.fillStyle = inkOf().bg2
  for (const { x, y } of cells) ctx.fillRect(x, y, cellWidth, cellHeight)
  const paint = rankPathPainter(ctx, theme)
  const above = new Float64Array(cells.length)
  for (let rank = 0; rank < weights.ranks; rank++) {
    ctx.beginPath()
    for (const [i, { row, head, x, y }] of cells.entries()) {
      const size = weightAt(weights, rank, row, head) * cellHeight
      ctx.rect(x, y + (above[i] ?? 0), cellWidth, size)
      above[i] = (above[i] ?? 0) + size
    }
    paint(rank)
  }
  ctx.fillStyle = nanPattern(ctx, theme)
  for (const { row, head, x, y } of cells)
    if (weights.isNan[row * weights.heads + head] === 1)
      ctx.fillRect(x, y + cellHeight - NAN_FOOT, cellWidth, NAN_FOOT)
  ctx.fillStyle = inkOf().text2
  ctx.textAlign = 'left'
  ctx.fillText(
    'rank 0 on top; NaN lse hatched',
    HEAT_EDGE.left,
    HEAT_EDGE.top + grid.cellRows * grid.cellHeight + 10,
  )
  outlineCell(ctx, grid, picked)
}
