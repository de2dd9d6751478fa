import { owner } from '../../../app/dcp/ownership.ts'
import { columnOf } from '../../../app/dcp/pages.ts'
import { strokeWithHalo } from '../../drawing/halo.ts'
import type { Pen } from '../../drawing/pen.ts'
import { inBox } from './draw-table.ts'
import { type Box, broughtIn, cellBox, pageBox } from './geometry.ts'
import type { Joined, Scene } from './scene.ts'
import { pagingFor } from './use-pages.ts'

/** How far beside the table lines run up or down, and how round their corners are. */
const CHANNEL = 12
const TURN = 8

const grown = ({ x, y, width, height }: Box): Box => {
  const [w, h] = [Math.max(5, width - 1), Math.max(5, height - 1)]
  return { x: x - (w - width + 1) / 2, y: y - (h - height + 1) / 2, width: w, height: h }
}

const outline = (ctx: Pen, box: Box, scene: Scene, colour: string, width: number): void => {
  const { x, y, width: w, height: h } = grown(box)
  strokeWithHalo(ctx, scene.ink, colour, width, () => ctx.rect(x, y, w, h))
}

/** An arrow head at the edge of a panel beyond which what is meant lies. */
const drawBeyond = (ctx: Pen, { x, y, width, height }: Box, frame: Box, colour: string): void => {
  const up = y <= frame.y
  const tip = up ? y : y + height
  const base = up ? tip + 7 : tip - 7
  ctx.fillStyle = colour
  ctx.beginPath()
  ctx.moveTo(x + width / 2, tip)
  ctx.lineTo(x + width / 2 - 5, base)
  ctx.lineTo(x + width / 2 + 5, base)
  ctx.fill()
}

/** A cell joined with its page; of either that is out of view the edge is, with an arrow. */
const drawJoin = (
  ctx: Pen,
  { request, column, page }: Joined,
  scene: Scene,
  colour: string,
  width: number,
): void => {
  const { geometry: g, sizes } = scene
  const cell = broughtIn(cellBox(request, column, g), g.table)
  const target = page >= 0 && page < sizes.pages ? broughtIn(pageBox(page, g), g.pool) : null
  if (target !== null) {
    // Along the borders of cells and pages, so that no number is crossed out.
    const from = { x: cell.box.x + cell.box.width / 2, y: cell.box.y + cell.box.height - 0.5 }
    const to = { x: target.box.x + target.box.width / 2, y: target.box.y - 0.5 }
    const middle = g.table.x + g.table.width + CHANNEL
    const turn = Math.min(TURN, Math.abs(to.y - from.y) / 2)
    strokeWithHalo(ctx, scene.ink, colour, width, () => {
      ctx.moveTo(from.x, from.y)
      ctx.arcTo(middle, from.y, middle, to.y, turn)
      ctx.arcTo(middle, to.y, to.x, to.y, turn)
      ctx.lineTo(to.x, to.y)
    })
    if (target.moved) drawBeyond(ctx, target.box, g.pool, colour)
    else outline(ctx, target.box, scene, colour, width)
  }
  if (cell.moved) drawBeyond(ctx, cell.box, g.table, colour)
  else outline(ctx, cell.box, scene, colour, width)
}

/** A corner on the column of each request that has its newest token: filled where the shown rank holds it. */
const drawNewest = (ctx: Pen, scene: Scene): void => {
  const { cells, geometry: g, ink, pages } = scene
  if (cells === null) return
  const { params, data } = cells
  for (let row = 0; row < data.requests; row++) {
    const newest = data.newest[row] ?? -1
    const request = params.requestFrom + row
    const paging = pagingFor(pages, request)
    if (newest < 0 || paging === null) continue
    const box = cellBox(request, columnOf(newest, paging), g)
    const side = Math.min(7, box.width, box.height - 1)
    if (side < 4) continue
    const [right, bottom] = [box.x + box.width - 1, box.y + box.height - 1]
    ctx.beginPath()
    ctx.moveTo(right, bottom - side)
    ctx.lineTo(right, bottom)
    ctx.lineTo(right - side, bottom)
    ctx.closePath()
    ctx.fillStyle = owner(newest, paging) === pages.shown.rank ? ink.accent : ink.bg1
    ctx.fill()
    ctx.strokeStyle = ink.accent
    ctx.lineWidth = 1
    ctx.stroke()
  }
}

export const drawJoins = (ctx: Pen, scene: Scene): void => {
  const { selected, hovered, hoveredPage, geometry: g, ink } = scene
  inBox(ctx, g.table, () => drawNewest(ctx, scene))
  if (selected !== null) drawJoin(ctx, selected, scene, ink.accent, 2)
  for (const one of hovered) drawJoin(ctx, one, scene, ink.text0, 1.5)
  if (hoveredPage !== null && hovered.length === 0)
    outline(ctx, pageBox(hoveredPage, g), scene, ink.text0, 1.5)
}

/** How far a panel is scrolled, where not all of it is in view. */
export const drawScrolls = (ctx: Pen, { geometry: g, sizes, ink }: Scene): void => {
  const bar = (box: Box, vertical: boolean, from: number, shown: number, all: number): void => {
    if (shown >= all) return
    const length = vertical ? box.height : box.width
    const [at, size] = [(from / all) * length, Math.max(12, (shown / all) * length)]
    ctx.fillStyle = ink.line
    if (vertical) ctx.fillRect(box.x + box.width + 2, box.y + Math.min(at, length - size), 4, size)
    else ctx.fillRect(box.x + Math.min(at, length - size), box.y + box.height + 1, size, 4)
  }
  bar(g.table, true, g.scroll.requestFrom, g.rows, sizes.requests)
  bar(g.table, false, g.scroll.markFrom, g.marks, Math.ceil(sizes.columns / g.tableZoom.perMark))
  const lines = Math.ceil(sizes.pages / g.poolZoom.perMark / g.perLine)
  bar({ ...g.pool, width: g.perLine * g.poolZoom.width }, true, g.scroll.lineFrom, g.lines, lines)
}
