import { type Ink, inkOf } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { type RankPainter, rankPainter } from '../../drawing/rank-fill.ts'
import { rankColour, rankInk, rankPattern, type Theme } from '../../theme/colours.ts'
import { drawEventMarks } from './draw-event-marks.ts'
import { drawFlows } from './draw-flows.ts'
import { drawMarks, drawOutlines, drawZoomBox } from './draw-marks.ts'
import { drawNotes } from './draw-notes.ts'
import { drawPath } from './draw-path.ts'
import { drawRuler, drawStepTint, drawTickLines } from './draw-ruler.ts'
import { drawLabels, drawSpans, type Plate, plateOf } from './draw-spans.ts'
import {
  clipTop,
  groupTop,
  kernelsHeight,
  kernelTop,
  type Lanes,
  laneBottom,
  laneTop,
  rankTop,
  stagesHeight,
} from './lanes.ts'
import type { Scene } from './scene.ts'

/**
 * Draws the whole view: spans, what lies behind them, ruler, marks, labels of the lanes. Gives the plate, to be kept
 * for the next drawing.
 */
export const drawTimeline = (
  ctx: Pen,
  width: number,
  height: number,
  dpr: number,
  theme: Theme,
  scene: Scene,
  kept: Plate | null,
): Plate => {
  const ink = inkOf()
  const { labelWidth, rulerHeight } = scene.lanes
  const plot = Math.max(1, width - labelWidth)
  const plate = plateOf(
    kept,
    Math.max(1, Math.round(width * dpr) - Math.round(labelWidth * dpr)),
    Math.max(1, Math.round(height * dpr)),
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
  drawNotes(ctx, scene, plot, ink)
  drawOutlines(ctx, scene, plot, ink)
  ctx.restore()
  ctx.save()
  ctx.translate(labelWidth, 0)
  clipTo(ctx, 0, 0, plot, height)
  drawRuler(ctx, scene, plot, height, ink)
  drawEventMarks(ctx, scene, plot, theme, ink)
  drawMarks(ctx, scene, plot, height, ink)
  drawZoomBox(ctx, scene, plot, height, ink)
  ctx.restore()
  drawLaneLabels(ctx, scene, width, height, theme, ink)
  return plate
}

const clipTo = (ctx: Pen, x: number, y: number, width: number, height: number): void => {
  ctx.beginPath()
  ctx.rect(x, y, width, height)
  ctx.clip()
}

/** Whether anything of a rank's rows is seen. */
const isSeen = (rank: number, lanes: Lanes, height: number): boolean =>
  rankTop(rank, lanes) <= height && laneBottom(rank, lanes) > clipTop(rank, lanes)

/** Backgrounds of the rows, those of the selected rank lifted. */
const drawGround = (
  ctx: Pen,
  { lanes, selectedRank }: Scene,
  plot: number,
  height: number,
  ink: Ink,
): void => {
  for (const rank of lanes.order) {
    if (!isSeen(rank, lanes, height)) continue
    ctx.fillStyle = rank === selectedRank ? ink.bg2 : ink.bg1
    const row = (top: number, size: number): void => {
      const from = Math.max(top, clipTop(rank, lanes))
      if (top + size > from) ctx.fillRect(0, from, plot, top + size - from)
    }
    row(groupTop(rank, lanes), lanes.groupHeight)
    row(laneTop(rank, lanes), stagesHeight(rank, lanes))
    row(kernelTop(rank, lanes), kernelsHeight(rank, lanes))
  }
}

const drawLaneLabels = (
  ctx: Pen,
  scene: Scene,
  width: number,
  height: number,
  theme: Theme,
  ink: Ink,
): void => {
  const { lanes } = scene
  ctx.fillStyle = ink.bg0
  ctx.fillRect(0, 0, lanes.labelWidth, height)
  const paint = rankPainter(ctx, theme)
  for (const rank of lanes.order) {
    if (!isSeen(rank, lanes, height)) continue
    ctx.save()
    const top = Math.max(clipTop(rank, lanes), rankTop(rank, lanes))
    clipTo(ctx, 0, top, lanes.labelWidth, laneBottom(rank, lanes) - top)
    drawLaneLabel(ctx, rank, scene, theme, ink, paint)
    ctx.restore()
  }
  if (lanes.pinned.size > 0 && lanes.pinned.size < lanes.ranks) {
    ctx.fillStyle = ink.accent
    ctx.fillRect(0, lanes.pinnedBottom - 1, width, 1)
  }
}

/** Least height of a lane below which a word has room under that of the rank. */
const TWO_LINES = 40

/** Number of the rank on its colour, and what was done to its lane. */
const drawLaneLabel = (
  ctx: Pen,
  rank: number,
  { lanes, selectedRank }: Scene,
  theme: Theme,
  ink: Ink,
  paint: RankPainter,
): void => {
  const [top, stages] = [rankTop(rank, lanes), laneTop(rank, lanes)]
  const isFolded = lanes.folded.has(rank)
  const size = isFolded ? stages - top + stagesHeight(rank, lanes) : stagesHeight(rank, lanes)
  const chip = Math.min(20, size)
  const middle = (isFolded ? top : stages) + size / 2
  ctx.textBaseline = 'middle'
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
  ctx.textAlign = 'left'
  const isPinned = lanes.pinned.has(rank)
  if (isPinned) {
    ctx.fillStyle = ink.accent
    ctx.fillRect(0, top, 3, laneBottom(rank, lanes) - top)
  }
  ctx.font = `12px ${ink.ui}`
  ctx.fillStyle = rank === selectedRank ? ink.text0 : ink.text2
  ctx.fillText('rank', 37, middle + 0.5)
  ctx.font = `11px ${ink.ui}`
  ctx.fillStyle = ink.text2
  if (isPinned && size >= TWO_LINES) ctx.fillText('pinned', 8, middle + 20)
  if (isFolded) return
  if (lanes.groupHeight > 0) ctx.fillText('graph', 8, top + lanes.groupHeight / 2 + 0.5)
  if (lanes.kernelHeight > 0)
    ctx.fillText('kernels', 8, kernelTop(rank, lanes) + lanes.kernelHeight / 2 + 0.5)
}
