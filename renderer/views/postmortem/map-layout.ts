import type { StoreResult } from '../../../app/protocol/store.ts'

export type TensorMap = StoreResult<'tensorMap'>

export interface Box {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** Room of a panel: its title above the cells, and between panels. */
export const TITLE = 18
const GAP = 10
/** Room for the frame of a picked cell. */
const FRAME = 2
/** Pixels of a row where there is room. */
const MOST_ROW = 28
const MOST_COLUMN = 48

/**
 * Boxes of the cells of `count` maps, as many side by side as leaves the cells as large as they get. Cells of small maps
 * stop growing.
 */
export const panelBoxes = (
  count: number,
  cells: { readonly rows: number; readonly columns: number },
  width: number,
  height: number,
): Box[] => {
  if (count === 0 || width <= 0 || height <= 0) return []
  const boxOf = (across: number): { width: number; height: number } => ({
    width: Math.min((width - 2 * FRAME - GAP * (across - 1)) / across, cells.columns * MOST_COLUMN),
    height: Math.min(
      (height - (GAP + TITLE) * Math.ceil(count / across)) / Math.ceil(count / across),
      cells.rows * MOST_ROW,
    ),
  })
  /** How large the smaller side of a cell gets. */
  const worth = (across: number): number => {
    const box = boxOf(across)
    if (box.width <= 0 || box.height <= 0) return Number.NEGATIVE_INFINITY
    return Math.min(box.width / cells.columns, box.height / cells.rows) * Math.min(box.width, box.height)
  }
  const choices = Array.from({ length: count }, (_, i) => i + 1)
  const across = choices.reduce((best, one) => (worth(one) >= worth(best) ? one : best), 1)
  const box = boxOf(across)
  return Array.from({ length: count }, (_, i) => ({
    left: FRAME + (i % across) * (box.width + GAP),
    top: TITLE + Math.floor(i / across) * (box.height + TITLE + GAP),
    width: Math.max(1, box.width),
    height: Math.max(1, box.height),
  }))
}

const worse = (a: number, b: number): boolean =>
  Number.isNaN(b) ? false : Number.isNaN(a) || Math.abs(a) > Math.abs(b)

/** Cells that are drawn: `across` by `down`, each the worst of those of the map that it stands for. */
export interface Picture {
  readonly across: number
  readonly down: number
  readonly cells: Float32Array
}

/** A map with at most a cell a pixel. */
export const pictureOf = (
  { cells, mapRows, mapColumns }: Pick<TensorMap, 'cells' | 'mapRows' | 'mapColumns'>,
  box: Pick<Box, 'width' | 'height'>,
): Picture => {
  const across = Math.max(1, Math.min(mapColumns, Math.floor(box.width)))
  const down = Math.max(1, Math.min(mapRows, Math.floor(box.height)))
  if (across === mapColumns && down === mapRows) return { across, down, cells }
  const coarse = new Float32Array(across * down)
  const taken = new Uint8Array(across * down)
  for (let row = 0; row < mapRows; row++)
    for (let column = 0; column < mapColumns; column++) {
      const at = Math.floor((row * down) / mapRows) * across + Math.floor((column * across) / mapColumns)
      const value = cells[row * mapColumns + column] ?? Number.NaN
      if (taken[at] === 0 || worse(value, coarse[at] ?? 0)) coarse[at] = value
      taken[at] = 1
    }
  return { across, down, cells: coarse }
}

/** First row and column of the tensor under a point of a box; null outside. */
export const cellAt = (
  map: Pick<TensorMap, 'mapRows' | 'mapColumns' | 'rowsPerCell' | 'columnsPerCell'>,
  box: Box,
  x: number,
  y: number,
): { row: number; column: number } | null => {
  const row = Math.floor(((y - box.top) / box.height) * map.mapRows)
  const column = Math.floor(((x - box.left) / box.width) * map.mapColumns)
  return row < 0 || row >= map.mapRows || column < 0 || column >= map.mapColumns
    ? null
    : { row: row * map.rowsPerCell, column: column * map.columnsPerCell }
}

/** Value of the map at a cell of the tensor. */
export const mapValue = (map: TensorMap, cell: { readonly row: number; readonly column: number }): number =>
  map.cells[
    Math.floor(cell.row / map.rowsPerCell) * map.mapColumns + Math.floor(cell.column / map.columnsPerCell)
  ] ?? Number.NaN

/** `2nd`, `3rd`, `11th`, `22nd`. */
export const ordinal = (n: number): string => {
  const ending = n % 100 >= 11 && n % 100 <= 13 ? undefined : ['th', 'st', 'nd', 'rd'][n % 10]
  return `${n}${ending ?? 'th'}`
}

/** What the map leaves out or puts together, in words; null where it shows every cell of every row. */
export const coarseText = ({ grid, rowStep, rowsPerCell, columnsPerCell }: TensorMap): string | null => {
  const parts = [
    ...(rowStep > 1 ? [`every ${ordinal(rowStep)} ${grid.rowName} is read`] : []),
    ...(rowsPerCell > rowStep || columnsPerCell > 1
      ? [`a cell is the worst of ${rowsPerCell} by ${columnsPerCell}`]
      : []),
  ]
  return parts.length === 0 ? null : parts.join('; ')
}
