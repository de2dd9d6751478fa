import type { TimeRange } from './range.ts'
import { firstOfRank, type TilePiece } from './tiles.ts'

export interface LayerStart {
  readonly layer: number
  readonly startNs: number
  /** Start of the next layer, or the end of what is known. */
  readonly endNs: number
}

/** Where layers begin on rank 0 within `range`; merged items tell nothing of it and are passed over. */
export const layerStarts = (pieces: readonly TilePiece[], range: TimeRange): LayerStart[] => {
  const starts: { layer: number; startNs: number; endNs: number }[] = []
  let last: { layer: number; startNs: number; endNs: number } | undefined
  for (const { tile } of pieces) {
    for (let i = firstOfRank(tile, 0); i < tile.rank.length && tile.rank[i] === 0; i++) {
      if ((tile.count[i] ?? 1) > 1) {
        last = undefined
        continue
      }
      const startNs = tile.start[i] ?? 0
      const endNs = startNs + (tile.dur[i] ?? 0)
      if (endNs <= range.startNs || startNs >= range.endNs) continue
      const layer = tile.layer[i] ?? -1
      if (last !== undefined && layer === last.layer) {
        last.endNs = Math.max(last.endNs, endNs)
        continue
      }
      if (last !== undefined) last.endNs = startNs
      last = { layer, startNs, endNs }
      if (layer >= 0) starts.push(last)
    }
  }
  return starts
}
