import { nanPattern, sequentialColour, type Theme } from '../theme/colours.ts'
import { strokeWithHalo } from './halo.ts'
import {
  type HeatGrid,
  type HeatRange,
  heatGrid,
  heatOf,
  heatRange,
  MAX_CELL_HEIGHT,
  worstRow,
} from './heat.ts'
import { inkOf } from './ink.ts'
import type { Pen } from './pen.ts'

/** Relative errors of a capture, [rows * heads]. */
export interface ErrorGrid {
  readonly rows: number
  readonly heads: number
  readonly relErr: Float32Array
}

/** Room for the row and head numbers, and to the border. */
export const HEAT_EDGE = { left: 34, top: 16, right: 12 } as const
const SHADES = 48
const LEGEND = 22

/** Cells by shade, so that the colour changes a few times and not for every cell; the last list is NaN. */
const cellsByShade = (errors: Float32Array, grid: HeatGrid, range: HeatRange): [number, number][][] => {
  const lists: [number, number][][] = Array.from({ length: SHADES + 1 }, () => [])
  for (let cellRow = 0; cellRow < grid.cellRows; cellRow++)
    for (let head = 0; head < grid.heads; head++) {
      const row = worstRow(errors, grid, cellRow, head)
      const heat = heatOf(errors[row * grid.heads + head] ?? Number.NaN, range)
      const shade = heat === null ? SHADES : Math.min(SHADES - 1, Math.floor(heat * SHADES))
      lists[shade]?.push([cellRow, head])
    }
  return lists
}

const drawCells = (ctx: Pen, errors: Float32Array, grid: HeatGrid, range: HeatRange, theme: Theme): void => {
  const gapX = grid.cellWidth >= 6 ? 1 : 0
  const gapY = grid.cellHeight >= 6 ? 1 : 0
  for (const [shade, cells] of cellsByShade(errors, grid, range).entries()) {
    if (cells.length === 0) continue
    ctx.fillStyle =
      shade === SHADES ? nanPattern(ctx, theme) : sequentialColour((shade + 0.5) / SHADES, theme)
    for (const [cellRow, head] of cells)
      ctx.fillRect(
        HEAT_EDGE.left + head * grid.cellWidth,
        HEAT_EDGE.top + cellRow * grid.cellHeight,
        grid.cellWidth - gapX,
        grid.cellHeight - gapY,
      )
  }
}

/** Every n-th number, so that labels stay `room` pixels apart. */
const every = (pitch: number, room: number): number =>
  [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024].find((n) => n * pitch >= room) ?? 2048

const drawNumbers = (ctx: Pen, grid: HeatGrid): void => {
  ctx.textAlign = 'center'
  const heads = every(grid.cellWidth, 26)
  for (let head = 0; head < grid.heads; head += heads)
    ctx.fillText(String(head), HEAT_EDGE.left + (head + 0.5) * grid.cellWidth, HEAT_EDGE.top / 2)
  ctx.textAlign = 'right'
  const rows = every(grid.cellHeight, 14)
  for (let cellRow = 0; cellRow < grid.cellRows; cellRow += rows)
    ctx.fillText(
      String(cellRow * grid.rowsPerCell),
      HEAT_EDGE.left - 6,
      HEAT_EDGE.top + (cellRow + 0.5) * grid.cellHeight,
    )
}

const drawLegend = (
  ctx: Pen,
  width: number,
  top: number,
  theme: Theme,
  ends: { readonly range: HeatRange; readonly text: string },
): void => {
  const bar = Math.min(140, width / 3)
  const left = HEAT_EDGE.left + 36
  for (let shade = 0; shade < SHADES; shade++) {
    ctx.fillStyle = sequentialColour((shade + 0.5) / SHADES, theme)
    ctx.fillRect(left + (shade / SHADES) * bar, top + 6, bar / SHADES + 0.5, 8)
  }
  const right = left + bar
  ctx.fillStyle = ends.text
  ctx.textAlign = 'right'
  ctx.fillText(decade(ends.range.from), left - 6, top + 10)
  ctx.textAlign = 'left'
  ctx.fillText(decade(ends.range.to), right + 6, top + 10)
  ctx.fillStyle = nanPattern(ctx, theme)
  ctx.fillRect(right + 46, top + 4, 18, 12)
  ctx.fillStyle = ends.text
  ctx.fillText('NaN', right + 70, top + 10)
}

const decade = (exponent: number): string => (exponent === 0 ? '1' : `1e${exponent}`.replace('-', '−'))

/** The map of errors; `range` where several maps share their colours. */
export const drawHeat = (
  ctx: Pen,
  width: number,
  height: number,
  theme: Theme,
  capture: ErrorGrid,
  picked: { readonly row: number; readonly head: number },
  range = heatRange(capture.relErr),
): void => {
  const grid = beginMap(ctx, width, height, capture)
  drawCells(ctx, capture.relErr, grid, range, theme)
  const text = inkOf().text2
  drawLegend(ctx, width, HEAT_EDGE.top + grid.cellRows * grid.cellHeight, theme, { range, text })
  outlineCell(ctx, grid, picked)
}

/** Ground and numbers of a map of rows and heads; the grid of its cells. */
export const beginMap = (ctx: Pen, width: number, height: number, capture: ErrorGrid): HeatGrid => {
  const ink = inkOf()
  const grid = mapGrid(capture, width, height)
  ctx.fillStyle = ink.bg1
  ctx.fillRect(0, 0, width, height)
  ctx.font = `11px ${ink.mono}`
  ctx.textBaseline = 'middle'
  ctx.fillStyle = ink.text2
  drawNumbers(ctx, grid)
  return grid
}

/** Frame around the cell of a row and head. */
export const outlineCell = (
  ctx: Pen,
  grid: HeatGrid,
  { row, head }: { readonly row: number; readonly head: number },
): void => {
  const ink = inkOf()
  strokeWithHalo(ctx, ink, ink.accent, 2, () =>
    ctx.rect(
      HEAT_EDGE.left + head * grid.cellWidth - 1,
      HEAT_EDGE.top + Math.floor(row / grid.rowsPerCell) * grid.cellHeight - 1,
      grid.cellWidth + 1,
      grid.cellHeight + 1,
    ),
  )
}

/** The grid of a map on a canvas of this size, below the head numbers and above the legend. */
export const mapGrid = (capture: ErrorGrid, width: number, height: number): HeatGrid =>
  heatGrid(
    capture.rows,
    capture.heads,
    width - HEAT_EDGE.left - HEAT_EDGE.right,
    height - HEAT_EDGE.top - LEGEND,
  )

/** Height at which every row has a cell of full height; the map is scaled down where that is not free. */
export const mapHeight = (rows: number): number => HEAT_EDGE.top + LEGEND + rows * MAX_CELL_HEIGHT
