import { strokeWithHalo } from '../../drawing/halo.ts'
import { type Box, shardBox, stripBox } from './geometry.ts'
import type { Scene } from './scene.ts'

type Context = CanvasRenderingContext2D

/** A box wide enough to be seen, about the same middle. */
const visible = (box: Box): Box => {
  const width = Math.max(3, box.width)
  return { ...box, x: box.x + (box.width - width) / 2, width }
}

const outline = (ctx: Context, box: Box, scene: Scene, colour: string, width: number): void => {
  const { x, y, width: w, height: h } = visible(box)
  strokeWithHalo(ctx, scene.ink, colour, width, () => ctx.rect(x - 0.5, y - 0.5, w, h + 1))
}

/** Joins the cell of a token in the strip with its key in the shard of its owner. */
const drawJoin = (ctx: Context, token: number, scene: Scene, colour: string, width: number): void => {
  const { view, geometry, paging } = scene
  const above = visible(stripBox(token, view, geometry))
  const below = visible(shardBox(token, view, geometry, paging))
  const from = { x: above.x + above.width / 2, y: above.y + above.height + 1 }
  const to = { x: below.x + below.width / 2, y: below.y }
  const turn = geometry.columns.top - 8
  strokeWithHalo(ctx, scene.ink, colour, width, () => {
    ctx.moveTo(from.x, from.y)
    ctx.bezierCurveTo(from.x, turn - 6, to.x, from.y + 10, to.x, turn)
    ctx.lineTo(to.x, to.y)
  })
  outline(ctx, above, scene, colour, width)
  outline(ctx, below, scene, colour, width)
}

/** Flag on the newest token, in the strip and in its shard. */
const drawNewest = (ctx: Context, scene: Scene): void => {
  const { len, view, geometry, paging, ink } = scene
  if (len === 0) return
  const above = stripBox(len - 1, view, geometry)
  const below = shardBox(len - 1, view, geometry, paging)
  const x = above.x + above.width / 2
  const y = above.y + above.height
  const right = geometry.left + geometry.plotWidth
  ctx.fillStyle = ink.accent
  ctx.textAlign = 'right'
  if (x > right) {
    ctx.fillText('newest ▸', right - 4, y + 10)
    return
  }
  ctx.beginPath()
  ctx.moveTo(x, y + 2)
  ctx.lineTo(x - 5, y + 9)
  ctx.lineTo(x + 5, y + 9)
  ctx.fill()
  outline(ctx, below, scene, ink.accent, 1)
  ctx.textAlign = x - 80 > geometry.left ? 'right' : 'left'
  ctx.fillText('newest', x + (ctx.textAlign === 'right' ? -8 : 8), y + 10)
}

export const drawMarks = (ctx: Context, scene: Scene): void => {
  const { hovered, selected, len, ink } = scene
  drawNewest(ctx, scene)
  if (selected !== null && selected < len) drawJoin(ctx, selected, scene, ink.accent, 2)
  if (hovered !== null && hovered < len && hovered !== selected) drawJoin(ctx, hovered, scene, ink.text0, 1.5)
}
