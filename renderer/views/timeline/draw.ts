import { type Ink, inkOf } from '../../drawing/ink.ts'
import { rankPainter } from '../../drawing/rank-fill.ts'
import { rankColour, rankInk, rankPattern, type Theme } from '../../theme/colours.ts'
import { drawFlows } from './draw-flows.ts'
import { drawMarks, drawOutlines, drawZoomBox } from './draw-marks.ts'
import { drawPath } from './draw-path.ts'
import { drawRuler, drawStepTint, drawTickLines } from './draw-ruler.ts'
import { drawLabels, drawSpans, type Plate, plateOf } from './draw-spans.ts'
import { kernelTop, type Lanes, laneBottom, laneTop } from './lanes.ts'
import type { Scene } from './scene.ts'

/**
 * Draws the whole view: spans, what lies behind them, ruler, marks, labels of the lanes. Gives the plate, to be kept
 * for the next drawing.
 */
export const drawTimeline = (
  ctx: CanvasRenderingContext2D,
  width: number,
  height: number,
  dpr: number,
  theme: Theme,
  scene: Scene,
  kept: Plate | null,
): Plate => {
  const ink = inkOf(ctx.canvas)
  const { labelWidth, rulerHeight } = scene.lanes
  const plot = Math.max(1, width - labelWidth)
  const plate = plateOf(
    kept,
    Math.max(1, ctx.canvas.width - Math.round(labelWidth * dpr)),
    Math.max(1, ctx.canvas.height),
    dpr,
  )
  const labels = drawSpans(ctx, scene, plate, dpr, theme, { ground: ink.bg1, hatch: ink.bg0 })
  ctx.save()
  ctx.translate(labelWidth, 0)
  clipTo(ctx, 0, rulerHeight, plot, height - rulerHeight)
  // The spans were put without blending, so what lies behind them comes after: nearest first.
  ctx.globalCompositeOperation = 'destination-over'
  drawTickLines(ctx, scene, plot, height, ink)
  drawStepTint(ctx, scene, plot, height, ink)
  drawGround(ctx, scene, plot, height, ink)
  ctx.globalCompositeOperation = 'source-over'
  drawLabels(ctx, labels, theme, `11px ${ink.ui}`)
  drawPath(ctx, scene, plot, ink)
  drawFlows(ctx, scene, plot, ink)
  drawOutlines(ctx, scene, plot, ink)
  ctx.restore()
  ctx.save()
  ctx.translate(labelWidth, 0)
  clipTo(ctx, 0, 0, plot, height)
  drawRuler(ctx, scene, plot, height, ink)
  drawMarks(ctx, scene, plot, height, ink)
  drawZoomBox(ctx, scene, plot, height, ink)
  ctx.restore()
  drawLaneLabels(ctx, scene, height, theme, ink)
  return plate
}

const clipTo = (ctx: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void => {
  ctx.beginPath()
  ctx.rect(x, y, width, height)
  ctx.clip()
}

/** Whether anything of a rank's lanes lies between ruler and lower edge. */
const isSeen = (rank: number, lanes: Lanes, height: number): boolean =>
  laneTop(rank, lanes) <= height && laneBottom(rank, lanes) >= lanes.rulerHeight

/** Backgrounds of the lanes, the selected one lifted. */
const drawGround = (
  ctx: CanvasRenderingContext2D,
  { lanes, selectedRank }: Scene,
  plot: number,
  height: number,
  ink: Ink,
): void => {
  for (let rank = 0; rank < lanes.ranks; rank++) {
    const y = laneTop(rank, lanes)
    if (!isSeen(rank, lanes, height)) continue
    ctx.fillStyle = rank === selectedRank ? ink.bg2 : ink.bg1
    ctx.fillRect(0, y, plot, lanes.laneHeight)
    if (lanes.kernelHeight > 0) ctx.fillRect(0, kernelTop(rank, lanes), plot, lanes.kernelHeight)
  }
}

const drawLaneLabels = (
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  height: number,
  theme: Theme,
  ink: Ink,
): void => {
  const { lanes } = scene
  ctx.fillStyle = ink.bg0
  ctx.fillRect(0, 0, lanes.labelWidth, height)
  ctx.save()
  clipTo(ctx, 0, lanes.rulerHeight, lanes.labelWidth, height)
  const paint = rankPainter(ctx, theme)
  ctx.textBaseline = 'middle'
  for (let rank = 0; rank < lanes.ranks; rank++) {
    const y = laneTop(rank, lanes)
    if (!isSeen(rank, lanes, height)) continue
    const chip = Math.min(20, lanes.laneHeight)
    const middle = y + lanes.laneHeight / 2
    paint(rank, 8, middle - chip / 2, 22, chip)
    // The number stays readable on the hatch of ranks beyond the sixteenth.
    if (rankPattern(rank, theme) !== 0) {
      ctx.fillStyle = rankColour(rank, theme)
      ctx.fillRect(11, middle - 7, 16, 14)
    }
    ctx.font = `11px ${ink.mono}`
    ctx.textAlign = 'center'
    ctx.fillStyle = rankInk(rank, theme)
    ctx.fillText(String(rank), 19, middle + 0.5)
    ctx.font = `12px ${ink.ui}`
    ctx.textAlign = 'left'
    ctx.fillStyle = rank === scene.selectedRank ? ink.text0 : ink.text2
    ctx.fillText('rank', 37, middle + 0.5)
    if (lanes.kernelHeight === 0) continue
    ctx.font = `11px ${ink.ui}`
    ctx.fillStyle = ink.text2
    ctx.fillText('kernels', 8, kernelTop(rank, lanes) + lanes.kernelHeight / 2 + 0.5)
  }
  ctx.restore()
}
