/** Powers of ten between which the error map is coloured. */
export interface HeatRange {
  readonly from: number
  readonly to: number
}

/** The whole decades that the finite errors span, at least one; [-8, 0] when there are none above 0. */
export const heatRange = (errors: ArrayLike<number>): HeatRange => {
  let least = Number.POSITIVE_INFINITY
  let most = 0
  for (let i = 0; i < errors.length; i++) {
    const error = errors[i] ?? Number.NaN
    if (!Number.isFinite(error) || error <= 0) continue
    least = Math.min(least, error)
    most = Math.max(most, error)
  }
  if (most === 0) return { from: -8, to: 0 }
  const from = Math.floor(Math.log10(least))
  return { from, to: Math.max(from + 1, Math.ceil(Math.log10(most))) }
}

/** Place of a relative error on the logarithmic ramp, 0 to 1; null for NaN, which has a texture of its own. */
export const heatOf = (error: number, { from, to }: HeatRange): number | null => {
  if (Number.isNaN(error)) return null
  if (error <= 0) return 0
  return Math.min(1, Math.max(0, (Math.log10(error) - from) / (to - from)))
}

/** Cells of the map; one cell stands for `rowsPerCell` rows when there are more rows than fit. */
export interface HeatGrid {
  readonly rows: number
  readonly heads: number
  readonly rowsPerCell: number
  readonly cellRows: number
  readonly cellWidth: number
  readonly cellHeight: number
}

/** Pixels of a row where there is room. */
export const MAX_CELL_HEIGHT = 22

export const heatGrid = (rows: number, heads: number, width: number, height: number): HeatGrid => {
  const rowsPerCell = Math.max(1, Math.ceil(rows / Math.max(1, Math.floor(height / 3))))
  const cellRows = Math.ceil(rows / rowsPerCell)
  return {
    rows,
    heads,
    rowsPerCell,
    cellRows,
    cellWidth: width / Math.max(1, heads),
    cellHeight: Math.min(MAX_CELL_HEIGHT, height / Math.max(1, cellRows)),
  }
}

const worse = (a: number, b: number): boolean => (Number.isNaN(b) ? false : Number.isNaN(a) || a > b)

/** Row of a cell with the worst error (NaN is the worst), so that a coarse map hides nothing. */
export const worstRow = (
  errors: ArrayLike<number>,
  grid: HeatGrid,
  cellRow: number,
  head: number,
): number => {
  const first = cellRow * grid.rowsPerCell
  const end = Math.min(grid.rows, first + grid.rowsPerCell)
  const at = (row: number): number => errors[row * grid.heads + head] ?? Number.NaN
  let worst = first
  for (let row = first + 1; row < end; row++) if (worse(at(row), at(worst))) worst = row
  return worst
}

/** Row and head under a point of the map; null outside. */
export const heatHit = (
  errors: ArrayLike<number>,
  grid: HeatGrid,
  x: number,
  y: number,
): { row: number; head: number } | null => {
  const head = Math.floor(x / grid.cellWidth)
  const cellRow = Math.floor(y / grid.cellHeight)
  if (head < 0 || head >= grid.heads || cellRow < 0 || cellRow >= grid.cellRows) return null
  return { row: worstRow(errors, grid, cellRow, head), head }
}
