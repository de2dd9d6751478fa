import { inkOf } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { rankPainter } from '../../drawing/rank-fill.ts'
import type { Theme } from '../../theme/colours.ts'
import { drawMarks } from './draw-marks.ts'
import { drawColumns, drawShards } from './draw-shards.ts'
import { drawOverview, drawRuler, drawStrip } from './draw-strip.ts'
import { geometryOf } from './geometry.ts'
import type { Picture, Scene } from './scene.ts'

/** Draws the whole picture; work grows with pixels, not with tokens. */
export const drawOwnership = (
  ctx: Pen,
  width: number,
  height: number,
  theme: Theme,
  picture: Picture,
): void => {
  const ink = inkOf()
  const geometry = geometryOf(width, height, picture.paging.dcp)
  const scene: Scene = { ...picture, geometry, theme, ink, paint: rankPainter(ctx, theme) }
  ctx.fillStyle = ink.bg1
  ctx.fillRect(0, 0, width, height)
  ctx.font = `11px ${ink.mono}`
  ctx.textBaseline = 'middle'
  drawOverview(ctx, scene)
  drawRuler(ctx, scene)
  inPlot(ctx, scene, () => {
    drawStrip(ctx, scene)
    drawColumns(ctx, scene)
  })
  drawShards(ctx, scene)
  inPlot(ctx, scene, () => drawMarks(ctx, scene))
}

/** Draws with everything left of the plot and right of it cut off. */
const inPlot = (ctx: Pen, { geometry }: Scene, draw: () => void): void => {
  ctx.save()
  ctx.beginPath()
  ctx.rect(geometry.left, 0, geometry.plotWidth, geometry.height)
  ctx.clip()
  draw()
  ctx.restore()
}
