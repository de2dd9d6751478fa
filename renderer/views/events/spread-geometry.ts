import { cellText, markText, type SpreadGrid } from './grid.ts'

/** Where things of a spread picture stand, in the units of its viewBox. */
export interface SpreadGeometry {
  readonly width: number
  readonly height: number
  /** Left edge of the first column, top of the first rank and of the merged row. */
  readonly left: number
  readonly top: number
  readonly mergedTop: number
  readonly pitch: number
  readonly column: number
  /** Room between columns. */
  readonly gap: number
}

const WIDTH = 400
const LEFT = 46
const TOP = 14
const TALLEST = 240
export const MERGED_HEIGHT = 13

export const spreadGeometry = ({ ranks, columns }: Pick<SpreadGrid, 'ranks' | 'columns'>): SpreadGeometry => {
  const pitch = Math.max(4, Math.min(15, Math.floor(TALLEST / (ranks + 1))))
  const column = Math.min(40, (WIDTH - LEFT) / Math.max(1, columns))
  const mergedTop = TOP + ranks * pitch + 4
  return {
    width: WIDTH,
    height: mergedTop + MERGED_HEIGHT + 3,
    left: LEFT,
    top: TOP,
    mergedTop,
    pitch,
    column,
    gap: column >= 6 ? 1 : 0,
  }
}

/** Column and rank under a point; rank null on the merged row. Null outside of both. */
export const spreadHit = (
  { ranks, columns }: Pick<SpreadGrid, 'ranks' | 'columns'>,
  { left, top, mergedTop, pitch, column }: SpreadGeometry,
  x: number,
  y: number,
): { readonly column: number; readonly rank: number | null } | null => {
  const place = Math.floor((x - left) / column)
  if (place < 0 || place >= columns) return null
  if (y >= mergedTop && y < mergedTop + MERGED_HEIGHT) return { column: place, rank: null }
  const rank = Math.floor((y - top) / pitch)
  return rank < 0 || rank >= ranks ? null : { column: place, rank }
}

/** What stands at a place of the picture. */
export const spotText = (
  grid: SpreadGrid,
  { column, rank }: { readonly column: number; readonly rank: number | null },
): string => {
  if (rank === null) {
    const found = grid.merged.find((one) => one.column === column)
    return `merged, ${grid.columnWord(column)}: ${found === undefined ? 'nothing bad' : markText(found.mark)}`
  }
  const cell = grid.cells.find((one) => one.column === column && one.rank === rank)
  return cell === undefined ? `rank ${rank}, ${grid.columnWord(column)}: nothing bad` : cellText(grid, cell)
}
