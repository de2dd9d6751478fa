import { globalIndex, localIndex, localLength, owner } from '../../../app/dcp/ownership.ts'
import type { Paging } from '../../../app/dcp/types.ts'
import { positionAt, type Viewport, xOf } from './viewport.ts'

/** Where things stand on the canvas, in CSS pixels. */
export interface Geometry {
  readonly width: number
  readonly height: number
  /** Left edge and width of the part that scrolls; rank labels stand left of it. */
  readonly left: number
  readonly plotWidth: number
  readonly overview: Span
  readonly ruler: Span
  readonly strip: Span
  /** Block-table columns with their physical page. */
  readonly columns: Span
  readonly shards: {
    readonly top: number
    readonly row: number
    readonly bar: number
    readonly bottom: number
  }
}

export interface Span {
  readonly top: number
  readonly height: number
}

/** Left edge of the part that scrolls, pixels. */
export const PLOT_LEFT = 52
const RIGHT = 10
const SHARDS_TOP = 152

/** Layout for `dcp` ranks; `row` is the pitch of a shard and `bar` what of it is drawn. */
export const geometryOf = (width: number, height: number, dcp: number): Geometry => {
  const row = Math.min(Math.max(64, height / 9), Math.max(5, (height - SHARDS_TOP - 12) / dcp))
  return {
    width,
    height,
    left: PLOT_LEFT,
    plotWidth: Math.max(1, width - PLOT_LEFT - RIGHT),
    overview: { top: 4, height: 8 },
    ruler: { top: 18, height: 18 },
    strip: { top: 38, height: 36 },
    columns: { top: 126, height: 20 },
    shards: { top: SHARDS_TOP, row, bar: row >= 12 ? row - 4 : row - 1, bottom: SHARDS_TOP + row * dcp },
  }
}

/**
 * A key stands dcp times as wide in its shard as in the strip, so that page borders of all shards lie exactly
 * below the borders of their virtual page.
 */
export const localX = (local: number, view: Viewport, dcp: number): number => xOf(local * dcp, view)

/**
 * Tokens that the picture spans: the request, or more where the last round is not full and a shard reaches
 * beyond the end of the strip.
 */
export const extentOf = (len: number, paging: Paging): number =>
  Math.max(len, localLength(len, 0, paging) * paging.dcp)

export interface Point {
  readonly x: number
  readonly y: number
}

export interface Box extends Point {
  readonly width: number
  readonly height: number
}

/** Box of a token in the strip. */
export const stripBox = (token: number, view: Viewport, geometry: Geometry): Box => ({
  x: geometry.left + xOf(token, view),
  y: geometry.strip.top,
  width: view.scale,
  height: geometry.strip.height,
})

/** Box of a local index in the shard of a rank. */
export const keyBox = (
  local: number,
  rank: number,
  view: Viewport,
  geometry: Geometry,
  { dcp }: Paging,
): Box => ({
  x: geometry.left + localX(local, view, dcp),
  y: geometry.shards.top + rank * geometry.shards.row,
  width: view.scale * dcp,
  height: geometry.shards.bar,
})

/** Box of a token in the shard of its owner. */
export const shardBox = (token: number, view: Viewport, geometry: Geometry, paging: Paging): Box =>
  keyBox(localIndex(token, paging), owner(token, paging), view, geometry, paging)

export type Hit =
  | { readonly kind: 'token'; readonly token: number; readonly part: 'strip' | 'shard' }
  | { readonly kind: 'rank'; readonly rank: number }
  | { readonly kind: 'overview'; readonly position: number }
  | { readonly kind: 'nothing' }

export const NOTHING: Hit = { kind: 'nothing' }

const within = (y: number, span: Span): boolean => y >= span.top && y < span.top + span.height

const tokenHit = (token: number, len: number, part: 'strip' | 'shard'): Hit =>
  token >= 0 && token < len ? { kind: 'token', token, part } : NOTHING

/** What lies under a point of the canvas. */
export const hitAt = (
  { x, y }: Point,
  view: Viewport,
  geometry: Geometry,
  len: number,
  paging: Paging,
): Hit => {
  const inPlot = x >= geometry.left && x < geometry.left + geometry.plotWidth
  const position = positionAt(x - geometry.left, view)
  if (inPlot && within(y, { top: 0, height: geometry.ruler.top }))
    return { kind: 'overview', position: ((x - geometry.left) / geometry.plotWidth) * extentOf(len, paging) }
  if (inPlot && within(y, geometry.strip)) return tokenHit(Math.floor(position), len, 'strip')
  const { top, row, bottom } = geometry.shards
  if (y < top || y >= bottom) return NOTHING
  const rank = Math.min(paging.dcp - 1, Math.floor((y - top) / row))
  if (x < geometry.left) return { kind: 'rank', rank }
  const local = Math.floor(position / paging.dcp)
  return inPlot && local >= 0 && local < len
    ? tokenHit(globalIndex(local, rank, paging), len, 'shard')
    : NOTHING
}

/** Where the card of a token stands beside the pointer: on the side that does not hide the line to its key. */
export interface CardPlace {
  readonly left: boolean
  readonly above: boolean
}

const CARD = { width: 220, height: 170 } as const

export const cardPlace = (
  at: Point,
  token: number,
  view: Viewport,
  geometry: Geometry,
  paging: Paging,
): CardPlace => {
  const strip = stripBox(token, view, geometry)
  const shard = shardBox(token, view, geometry, paging)
  const leans = shard.x + shard.width / 2 > strip.x + strip.width / 2
  const inShard = at.y >= geometry.shards.top
  const wanted = inShard ? !leans : leans
  const left = wanted ? at.x > CARD.width : at.x > geometry.width - CARD.width
  return { left, above: at.y + CARD.height > geometry.height }
}
