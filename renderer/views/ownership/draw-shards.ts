import { globalIndex, localLength, newestOwner } from '../../../app/dcp/ownership.ts'
import { tableWidth } from '../../../app/dcp/pages.ts'
import { formatInt } from '../../drawing/format.ts'
import type { Pen } from '../../drawing/pen.ts'
import { rankInk } from '../../theme/colours.ts'
import { drawRowLabel, fits, plotRight } from './draw-strip.ts'
import { localX } from './geometry.ts'
import type { Scene } from './scene.ts'
import { positionAt } from './viewport.ts'

/** Columns of the block table that are in view: [first, end). */
const columnsInView = ({ len, paging, view, geometry }: Scene): [number, number] => {
  const tokens = paging.page * paging.dcp
  const last = Math.ceil(positionAt(geometry.plotWidth, view) / tokens)
  return [Math.max(0, Math.floor(view.start / tokens)), Math.min(tableWidth(len, paging), last)]
}

const columnX = (column: number, { paging, view, geometry }: Scene): number =>
  geometry.left + localX(column * paging.page, view, paging.dcp)

const pageText = (column: number, { pages }: Scene): string => {
  if (pages === null) return ''
  const page = pages[column] ?? -1
  return page < 0 ? 'not allocated' : `page ${formatInt(page)}`
}

/** Longest name of a column that fits. */
const columnText = (column: number, width: number, scene: Scene): string => {
  const page = pageText(column, scene)
  const index = formatInt(column)
  const long = page === '' ? `column ${index}` : `column ${index} · ${page}`
  const middle = page === '' ? `c${index}` : `c${index} · ${page.replace('page ', 'p')}`
  const short = page === '' ? index : page.replace('page ', 'p').replace('not allocated', '–')
  return [long, middle, short].find((text) => fits(text, width)) ?? ''
}

/** Least pixels between page borders that are drawn. */
const MIN_COLUMN = 5

const drawColumnCount = (ctx: Pen, count: number, { geometry, ink, paging }: Scene): void => {
  const { left, plotWidth, columns } = geometry
  ctx.fillStyle = ink.text2
  const text = `${formatInt(count)} columns of ${formatInt(paging.page * paging.dcp)} tokens; zoom in for pages`
  ctx.fillText(text, left + plotWidth / 2, columns.top + columns.height / 2)
}

/** Virtual pages with the physical page that holds their part on every rank. */
export const drawColumns = (ctx: Pen, scene: Scene): void => {
  const { geometry, ink, paging, view } = scene
  const { columns } = geometry
  const width = paging.page * paging.dcp * view.scale
  ctx.textAlign = 'center'
  const [first, end] = columnsInView(scene)
  if (width < MIN_COLUMN) {
    drawColumnCount(ctx, end - first, scene)
    return
  }
  for (let column = first; column < end; column++) {
    const x = columnX(column, scene)
    const left = Math.max(x, geometry.left)
    const right = Math.min(x + width, plotRight(geometry))
    ctx.fillStyle = ink.bg2
    ctx.fillRect(left, columns.top, Math.max(1, right - left - 1), columns.height - 3)
    const text = columnText(column, right - left, scene)
    if (text === '') continue
    ctx.fillStyle = ink.text1
    ctx.fillText(text, (left + right) / 2, columns.top + (columns.height - 3) / 2 + 0.5)
  }
}

const drawShard = (ctx: Pen, rank: number, scene: Scene): void => {
  const { geometry, paging, view, len, ink, paint } = scene
  const { top, row, bar } = geometry.shards
  const y = top + rank * row
  const right = plotRight(geometry)
  const clip = (x: number): number => Math.min(Math.max(x, geometry.left), right)
  const from = clip(geometry.left + localX(0, view, paging.dcp))
  const filled = clip(geometry.left + localX(localLength(len, rank, paging), view, paging.dcp))
  const allocated = clip(columnX(tableWidth(len, paging), scene))
  ctx.fillStyle = ink.bg2
  ctx.fillRect(from, y, Math.max(0, allocated - from), bar)
  if (filled > from) paint(rank, from, y, filled - from, bar)
}

/** Borders of keys, the same for all shards, and of pages, which stand out. */
const drawBorders = (ctx: Pen, scene: Scene): void => {
  const { geometry, paging, view, ink } = scene
  const { top, bottom } = geometry.shards
  const key = paging.dcp * view.scale
  const line = (x: number, width: number): void => {
    if (x > geometry.left && x < plotRight(geometry))
      ctx.fillRect(Math.round(x) - width, top, width, bottom - top)
  }
  ctx.fillStyle = ink.bg1
  if (key >= 6) {
    const first = Math.floor(view.start / paging.dcp)
    const end = Math.ceil(positionAt(geometry.plotWidth, view) / paging.dcp)
    for (let local = first; local <= end; local++) line(geometry.left + localX(local, view, paging.dcp), 1)
  }
  if (key * paging.page < MIN_COLUMN) return
  const [first, end] = columnsInView(scene)
  for (let column = first; column <= end; column++) line(columnX(column, scene), key >= 6 ? 3 : 1)
}

/** Local indices inside the keys, and the token of each below it, where there is room. */
const drawKeys = (ctx: Pen, rank: number, scene: Scene): void => {
  const { geometry, paging, view, len, theme } = scene
  const { top, row, bar } = geometry.shards
  const width = paging.dcp * view.scale
  const held = localLength(len, rank, paging)
  const first = Math.max(0, Math.floor(view.start / paging.dcp))
  const end = Math.min(held, Math.ceil(positionAt(geometry.plotWidth, view) / paging.dcp))
  if (bar < 13 || !fits(formatInt(Math.max(0, end - 1)), width)) return
  const both = bar >= 34 && fits(`t ${formatInt(Math.max(0, len - 1))}`, width)
  ctx.fillStyle = rankInk(rank, theme)
  ctx.textAlign = 'center'
  for (let local = first; local < end; local++) {
    const x = geometry.left + localX(local + 0.5, view, paging.dcp)
    const y = top + rank * row + bar / 2 + 0.5
    ctx.fillText(formatInt(local), x, both ? y - 8 : y)
    if (both) ctx.fillText(`t ${formatInt(globalIndex(local, rank, paging))}`, x, y + 8)
  }
}

const drawShardLabel = (ctx: Pen, rank: number, scene: Scene): void => {
  const { geometry, paint, theme, ink } = scene
  const { top, row, bar } = geometry.shards
  const y = top + rank * row
  const chip = { x: 20, width: 24, height: Math.min(bar, 16) }
  const offset = (bar - chip.height) / 2
  paint(rank, chip.x, y + offset, chip.width, chip.height)
  if (scene.rank === rank) {
    ctx.strokeStyle = ink.accent
    ctx.lineWidth = 2
    ctx.strokeRect(chip.x - 2, y + offset - 2, chip.width + 4, chip.height + 4)
  }
  if (row < 11) {
    drawSparseLabel(ctx, rank, y + bar / 2, scene)
    return
  }
  ctx.fillStyle = rankInk(rank, theme)
  ctx.textAlign = 'center'
  ctx.fillText(String(rank), chip.x + chip.width / 2, y + bar / 2 + 0.5)
}

/** Where rows are too narrow for a number in each chip, every few ranks have theirs beside it. */
const drawSparseLabel = (ctx: Pen, rank: number, y: number, { geometry, ink }: Scene): void => {
  if (rank % Math.ceil(14 / geometry.shards.row) !== 0) return
  ctx.fillStyle = ink.text2
  ctx.textAlign = 'right'
  ctx.fillText(String(rank), 15, y)
}

/** One row a rank: the keys that it holds, in the pages that it has. */
export const drawShards = (ctx: Pen, scene: Scene): void => {
  const { geometry, paging, len } = scene
  const { columns, shards } = geometry
  drawRowLabel(ctx, 'page', columns.top + columns.height / 2 - 1, scene)
  for (let rank = 0; rank < paging.dcp; rank++) drawShard(ctx, rank, scene)
  drawBorders(ctx, scene)
  ctx.save()
  ctx.beginPath()
  ctx.rect(geometry.left, 0, geometry.plotWidth, geometry.height)
  ctx.clip()
  for (let rank = 0; rank < paging.dcp; rank++) drawKeys(ctx, rank, scene)
  ctx.restore()
  for (let rank = 0; rank < paging.dcp; rank++) drawShardLabel(ctx, rank, scene)
  const newest = newestOwner(len, paging)
  if (newest === null) return
  ctx.fillStyle = scene.ink.accent
  ctx.textAlign = 'left'
  ctx.fillText('▸', geometry.left - 7, shards.top + newest * shards.row + shards.bar / 2)
}
