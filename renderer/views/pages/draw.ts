import { inkOf } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { rankPainter } from '../../drawing/rank-fill.ts'
import type { Theme } from '../../theme/colours.ts'
import { drawJoins, drawScrolls } from './draw-joins.ts'
import { drawPage } from './draw-page.ts'
import { drawPool, drawTable } from './draw-table.ts'
import type { Geometry } from './geometry.ts'
import type { Picture, Scene } from './scene.ts'

/** Draws the whole picture; work grows with pixels, not with pages. */
export const drawPages = (ctx: Pen, geometry: Geometry, theme: Theme, picture: Picture): void => {
  const ink = inkOf()
  const scene: Scene = { ...picture, geometry, theme, ink, paint: rankPainter(ctx, theme) }
  ctx.fillStyle = ink.bg1
  ctx.fillRect(0, 0, geometry.width, geometry.height)
  ctx.font = `11px ${ink.mono}`
  ctx.textBaseline = 'middle'
  drawTable(ctx, scene)
  drawPool(ctx, scene)
  drawScrolls(ctx, scene)
  drawJoins(ctx, scene)
  drawPage(ctx, scene)
}
