import { STAGES } from '../../../app/trace/stages.ts'
import { sourcesOfBits } from '../../drawing/provenance.ts'
import { isOnGroups, isOnKernels, type Lanes, rankAtY } from './lanes.ts'
import { type TimeRange, timeAtX } from './range.ts'
import type { HoveredItem } from './scene.ts'
import { firstOfRank, itemAt, type SpanTile, type TileItems, type TilePiece } from './tiles.ts'

/** Pixels beside a thin span that still hit it. */
const SLACK_PX = 2

const itemOf = (tile: TileItems, i: number): HoveredItem | null => {
  const stage = STAGES[tile.stage[i] ?? 0]
  if (stage === undefined) return null
  return {
    rank: tile.rank[i] ?? 0,
    startNs: tile.start[i] ?? 0,
    durNs: tile.dur[i] ?? 0,
    busyNs: tile.busy[i] ?? 0,
    waitNs: tile.wait[i] ?? 0,
    stage,
    step: tile.step[i] ?? 0,
    layer: tile.layer[i] ?? -1,
    count: tile.count[i] ?? 1,
    sources: sourcesOfBits(tile.sources[i] ?? 0),
  }
}

const kernelAtTime = (tile: SpanTile, rank: number, ns: number, slack: number): HoveredItem | null => {
  const i = itemAt(tile.kernels, rank, ns, slack)
  const item = i < 0 ? null : itemOf(tile.kernels, i)
  return item === null ? null : { ...item, kernel: tile.kernelNames[tile.kernels.name[i] ?? -1] ?? '' }
}

/** What lies at a point of the plot; null between spans. */
export const itemAtPoint = (
  x: number,
  y: number,
  width: number,
  range: TimeRange,
  lanes: Lanes,
  pieces: readonly TilePiece[],
): HoveredItem | null => {
  const rank = rankAtY(y, lanes)
  if (rank === null || x < 0 || x > width) return null
  const ns = timeAtX(x, range, width)
  const slack = (SLACK_PX * (range.endNs - range.startNs)) / Math.max(1, width)
  const piece = pieces.find((p) => ns >= p.range.startNs && ns < p.range.endNs)
  if (piece === undefined) return null
  if (isOnKernels(y, rank, lanes)) return kernelAtTime(piece.tile, rank, ns, slack)
  if (isOnGroups(y, rank, lanes)) {
    const outer = itemAt(piece.tile.outer, rank, ns, slack)
    return outer < 0 ? null : itemOf(piece.tile.outer, outer)
  }
  const i = itemAt(piece.tile, rank, ns, slack)
  return i < 0 ? null : itemOf(piece.tile, i)
}

/** The item of `rank` that covers `ns` in what is loaded. */
export const itemAtTime = (rank: number, ns: number, pieces: readonly TilePiece[]): HoveredItem | null => {
  for (const { tile } of pieces) {
    const i = itemAt(tile, rank, ns, 0)
    if (i >= 0) return itemOf(tile, i)
  }
  return null
}

/** The next (1) or previous (-1) item on the lane of `rank` after the one that covers `ns`. */
export const neighbourOf = (
  rank: number,
  item: HoveredItem,
  direction: 1 | -1,
  pieces: readonly TilePiece[],
): HoveredItem | null => {
  let best: HoveredItem | null = null
  for (const { tile } of pieces)
    for (let i = firstOfRank(tile, rank); i < tile.rank.length && tile.rank[i] === rank; i++) {
      const start = tile.start[i] ?? 0
      if (direction === 1 ? start <= item.startNs : start >= item.startNs) continue
      if (best !== null && (direction === 1 ? start >= best.startNs : start <= best.startNs)) continue
      best = itemOf(tile, i)
    }
  return best
}
