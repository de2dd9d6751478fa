import type { StoreResult } from '../../../app/protocol/store.ts'
import type { TimeRange } from './range.ts'

export type SpanTile = StoreResult<'spanTile'>

/** The items of a tile, or those of its spans that contain others. */
export type TileItems = SpanTile['outer']

/** Parts into which a tile is merged at most; the tile's length is this many times its resolution. */
export const TILE_BUCKETS = 256

/** What lies this far before the end of a growing trace does not change any more. */
const SETTLED_NS = 3e9

/** A tile's place: resolution 2^level ns a bucket, `index`-th tile from time zero. */
export interface TileKey {
  readonly level: number
  readonly index: number
}

export const tileName = ({ level, index }: TileKey): string => `${level}:${index}`

export const tileSpanNs = (level: number): number => TILE_BUCKETS * 2 ** level

export const tileRange = ({ level, index }: TileKey): TimeRange => ({
  startNs: index * tileSpanNs(level),
  endNs: (index + 1) * tileSpanNs(level),
})

/** The resolution at which a bucket is one to two pixels. */
export const levelOf = (range: TimeRange, width: number): number =>
  Math.max(0, Math.ceil(Math.log2((range.endNs - range.startNs) / Math.max(1, width))))

/** Tiles of a level that touch `range`, from left to right. */
export const tilesOver = (range: TimeRange, level: number): TileKey[] => {
  const span = tileSpanNs(level)
  const first = Math.max(0, Math.floor(range.startNs / span))
  const last = Math.max(first, Math.ceil(range.endNs / span) - 1)
  return Array.from({ length: last - first + 1 }, (_, i) => ({ level, index: first + i }))
}

/** Bytes that a tile holds: an item has at most five 4-byte columns, four 8-byte ones and two of 1 byte. */
const bytesOf = (tile: SpanTile): number =>
  (tile.rank.length + tile.outer.rank.length + tile.kernels.rank.length) * 54 +
  tile.kernelNames.reduce((sum, name) => sum + 2 * name.length, 500)

/** A tile, of which only the part in `range` is to be drawn. */
export interface TilePiece {
  readonly tile: SpanTile
  readonly range: TimeRange
}

interface Kept {
  readonly tile: SpanTile
  /** How far the bundle reached when the tile was asked for. */
  readonly traceEndNs: number
}

/** Tiles of one run, least recently used first; bounded in bytes, so that the window never holds a whole trace. */
export class TileCache {
  #kept = new Map<string, Kept>()
  #bytes = 0

  constructor(private readonly maxBytes = 48 << 20) {}

  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#kept.size
  }

  get(key: TileKey): SpanTile | undefined {
    const name = tileName(key)
    const kept = this.#kept.get(name)
    if (kept === undefined) return undefined
    this.#kept.delete(name)
    this.#kept.set(name, kept)
    return kept.tile
  }

  /**
   * Whether the tile is there and the trace has not grown into it since. Ranks are written one after the other, so
   * the last moments before the end may still be filled.
   */
  isFresh(key: TileKey, traceEndNs: number): boolean {
    const kept = this.#kept.get(tileName(key))
    return (
      kept !== undefined &&
      (kept.traceEndNs >= traceEndNs || kept.traceEndNs >= tileRange(key).endNs + SETTLED_NS)
    )
  }

  put(key: TileKey, tile: SpanTile, traceEndNs: number): void {
    this.#drop(tileName(key))
    this.#kept.set(tileName(key), { tile, traceEndNs })
    this.#bytes += bytesOf(tile)
    for (const name of this.#kept.keys()) {
      if (this.#bytes <= this.maxBytes || this.#kept.size === 1) return
      this.#drop(name)
    }
  }

  #drop(name: string): void {
    const kept = this.#kept.get(name)
    if (kept === undefined) return
    this.#kept.delete(name)
    this.#bytes -= bytesOf(kept.tile)
  }

  /**
   * The best that there is over `range`, one piece a tile of the level: the tile itself, else the next coarser one
   * that covers its place (up to `coarser` levels up), so that zooming in never shows a hole.
   */
  covering(range: TimeRange, level: number, coarser = 12): TilePiece[] {
    return tilesOver(range, level).flatMap((key) => {
      for (let up = 0; up <= coarser; up++) {
        const tile = this.get({ level: level + up, index: Math.floor(key.index / 2 ** up) })
        if (tile !== undefined) return [{ tile, range: tileRange(key) }]
      }
      return []
    })
  }
}

/** First item of `rank`: tiles are sorted by rank, then start. */
export const firstOfRank = (tile: TileItems, rank: number): number => {
  let [low, high] = [0, tile.rank.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((tile.rank[middle] ?? 0) < rank) low = middle + 1
    else high = middle
  }
  return low
}

/** Index of the item of `rank` under `ns`, allowing `slackNs` beside thin ones; -1 in a gap. */
export const itemAt = (tile: TileItems, rank: number, ns: number, slackNs: number): number => {
  const begin = firstOfRank(tile, rank)
  const end = firstOfRank(tile, rank + 1)
  let best = -1
  let distance = slackNs
  for (let i = begin; i < end; i++) {
    const start = tile.start[i] ?? 0
    if (start > ns + slackNs) break
    const away = Math.max(start - ns, ns - start - (tile.dur[i] ?? 0), 0)
    if (away <= distance) {
      best = i
      distance = away
    }
  }
  return best
}
