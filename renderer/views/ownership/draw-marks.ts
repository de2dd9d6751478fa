import { formatInt } from '../../drawing/format.ts'
import { strokeWithHalo } from '../../drawing/halo.ts'
import type { Pen } from '../../drawing/pen.ts'
import { fits, widthOf } from './draw-strip.ts'
import { type Box, keyBox, shardBox, stripBox } from './geometry.ts'
import type { Scene } from './scene.ts'
import { detailText, stripOf } from './strip.ts'

/** A box wide enough to be seen, about the same middle. */
const visible = (box: Box): Box => {
  const width = Math.max(3, box.width)
  return { ...box, x: box.x + (box.width - width) / 2, width }
}

const outline = (ctx: Pen, box: Box, scene: Scene, colour: string, width: number): void => {
  const { x, y, width: w, height: h } = visible(box)
  strokeWithHalo(ctx, scene.ink, colour, width, () => ctx.rect(x - 0.5, y - 0.5, w, h + 1))
}

/** Joins the cell of a token in the strip with a key in a shard. */
const drawJoin = (ctx: Pen, token: number, key: Box, scene: Scene, colour: string, width: number): void => {
  const { view, geometry } = scene
  const above = visible(stripBox(token, view, geometry))
  const below = visible(key)
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
const drawNewest = (ctx: Pen, scene: Scene): void => {
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
  // Left of the flag, unless what one cell is stands there.
  const detail = detailText(stripOf(view, geometry.plotWidth, len, paging), paging)
  const isFree = x - 8 - widthOf('newest') > geometry.left + widthOf(detail)
  ctx.textAlign = isFree ? 'right' : 'left'
  const at = isFree ? x - 8 : Math.max(x + 8, geometry.left + widthOf(detail))
  ctx.fillText('newest', at, y + 10)
}

/** Where a token was stored beside its place, joined with it where it is selected. */
const drawCopies = (ctx: Pen, scene: Scene): void => {
  const { copies, selected, geometry, view, paging, ink } = scene
  const { token, places } = copies
  if (token === null) return
  const boxes = places.flatMap(({ rank, localIndex }) =>
    localIndex === null ? [] : [keyBox(localIndex, rank, view, geometry, paging)],
  )
  for (const box of boxes)
    if (selected === token) drawJoin(ctx, token, box, scene, ink.bad, 2)
    else outline(ctx, box, scene, ink.bad, 2)
  const text = `t ${formatInt(token)}`
  ctx.fillStyle = ink.bad
  ctx.textAlign = 'left'
  // Beside the lines, which go down the middle.
  for (const box of boxes)
    if (box.height >= 13 && fits(text, box.width)) ctx.fillText(text, box.x + 4, box.y + box.height - 8)
}

export const drawMarks = (ctx: Pen, scene: Scene): void => {
  const { hovered, selected, len, ink, view, geometry, paging } = scene
  const join = (token: number, colour: string, width: number): void =>
    drawJoin(ctx, token, shardBox(token, view, geometry, paging), scene, colour, width)
  drawNewest(ctx, scene)
  drawCopies(ctx, scene)
  if (selected !== null && selected < len) join(selected, ink.accent, 2)
  if (hovered !== null && hovered < len && hovered !== selected) join(hovered, ink.text0, 1.5)
}
