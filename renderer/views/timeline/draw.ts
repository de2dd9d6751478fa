import { inkOf } from '../../drawing/ink.ts'
import { rankPainter } from '../../drawing/rank-fill.ts'
import { rankInk, type Theme } from '../../theme/colours.ts'
import { drawSpans, laneArea } from './draw-spans.ts'
import { laneTop } from './lanes.ts'
import { xOfTime } from './range.ts'
import type { Scene } from './scene.ts'
import { tickLabel, timeTicks } from './ticks.ts'

const TICK_APART = 110
const STEP_BAND = 18
const STEP_LABEL_ROOM = 34

type Ink = ReturnType<typeof inkOf>

/** Draws the whole view: ruler, lanes, spans, marks. */
export const drawTimeline = (
  ctx: CanvasRenderingContext2D,
  width: number,
  height: number,
  theme: Theme,
  scene: Scene,
): void => {
  const ink = inkOf(ctx.canvas)
  const plot = Math.max(1, width - scene.lanes.labelWidth)
  ctx.save()
  ctx.translate(scene.lanes.labelWidth, 0)
  ctx.beginPath()
  ctx.rect(0, 0, plot, height)
  ctx.clip()
  drawGrid(ctx, scene, plot, height, ink)
  ctx.save()
  ctx.beginPath()
  ctx.rect(0, scene.lanes.rulerHeight, plot, height - scene.lanes.rulerHeight)
  ctx.clip()
  drawSpans(ctx, scene, plot, height, theme, `11px ${ink.ui}`, ink.bg0)
  drawMarks(ctx, scene, plot, ink)
  ctx.restore()
  drawSteps(ctx, scene, plot, height, ink)
  ctx.restore()
  drawLaneLabels(ctx, scene, height, theme, ink)
}

const drawGrid = (
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  plot: number,
  height: number,
  ink: Ink,
): void => {
  const { lanes, range } = scene
  ctx.fillStyle = ink.bg1
  ctx.fillRect(0, 0, plot, lanes.rulerHeight)
  for (let rank = 0; rank < lanes.ranks; rank++) {
    const y = laneTop(rank, lanes)
    if (y > height || y + lanes.laneHeight < lanes.rulerHeight) continue
    ctx.fillStyle = rank === scene.selectedRank ? ink.bg2 : ink.bg1
    ctx.fillRect(0, y, plot, lanes.laneHeight)
  }
  ctx.font = `11px ${ink.mono}`
  ctx.textBaseline = 'middle'
  ctx.textAlign = 'left'
  const { at, stepNs } = timeTicks(range, plot, TICK_APART)
  for (const ns of at) {
    const x = Math.round(xOfTime(ns, range, plot)) + 0.5
    ctx.strokeStyle = ink.line
    ctx.beginPath()
    ctx.moveTo(x, STEP_BAND)
    ctx.lineTo(x, height)
    ctx.stroke()
    ctx.fillStyle = ink.text2
    ctx.fillText(tickLabel(ns, stepNs), x + 4, STEP_BAND + 11)
  }
}

/** Steps as a band above the time axis; borders of wide ones run through the lanes. */
const drawSteps = (
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  plot: number,
  height: number,
  ink: Ink,
): void => {
  const { steps, range, lanes } = scene
  if (steps === null) return
  ctx.font = `11px ${ink.ui}`
  ctx.textBaseline = 'middle'
  ctx.textAlign = 'left'
  for (let i = 0; i < steps.step.length; i++) {
    const start = steps.startNs[i] ?? 0
    const x = xOfTime(start, range, plot)
    const end = xOfTime(start + (steps.wallNs[i] ?? 0), range, plot)
    if (end < 0 || x > plot) continue
    const step = steps.step[i] ?? 0
    const picked = step === scene.selectedStep
    if (!picked && end - x < 2) continue
    ctx.fillStyle = picked ? ink.accent : step % 2 === 0 ? ink.bg2 : ink.line
    ctx.fillRect(x, 2, Math.max(1, end - x - 1), STEP_BAND - 4)
    if (picked) drawPickedStep(ctx, x, end, lanes.rulerHeight, height, ink)
    if (end - x < STEP_LABEL_ROOM) continue
    ctx.fillStyle = picked ? ink.bg0 : ink.text1
    ctx.fillText(end - x > 64 ? `step ${step}` : String(step), Math.max(4, x + 5), STEP_BAND / 2)
  }
}

const drawPickedStep = (
  ctx: CanvasRenderingContext2D,
  x: number,
  end: number,
  top: number,
  bottom: number,
  ink: Ink,
): void => {
  ctx.strokeStyle = ink.accent
  ctx.setLineDash([3, 3])
  ctx.beginPath()
  for (const edge of [Math.round(x) + 0.5, Math.round(end) - 0.5]) {
    ctx.moveTo(edge, top)
    ctx.lineTo(edge, bottom)
  }
  ctx.stroke()
  ctx.setLineDash([])
}

const drawMarks = (ctx: CanvasRenderingContext2D, scene: Scene, plot: number, ink: Ink): void => {
  const { area, selected, hovered, lanes, range } = scene
  if (area !== null) {
    ctx.fillStyle = ink.accent
    ctx.globalAlpha = 0.16
    for (const rank of area.ranks) {
      const box = laneArea(lanes, rank, area.range, range, plot)
      ctx.fillRect(box.x, box.y - lanes.laneGap, box.width, box.height + lanes.laneGap)
    }
    ctx.globalAlpha = 1
  }
  for (const [item, colour, thick] of [
    [hovered, ink.text0, 1],
    [selected, ink.accent, 2],
  ] as const) {
    if (item === null) continue
    const part = { startNs: item.startNs, endNs: item.startNs + item.durNs }
    const box = laneArea(lanes, item.rank, part, range, plot)
    ctx.strokeStyle = colour
    ctx.lineWidth = thick
    ctx.strokeRect(box.x + thick / 2, box.y + thick / 2, Math.max(1, box.width - thick), box.height - thick)
    ctx.lineWidth = 1
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
  ctx.beginPath()
  ctx.rect(0, lanes.rulerHeight, lanes.labelWidth, height)
  ctx.clip()
  const paint = rankPainter(ctx, theme)
  ctx.textBaseline = 'middle'
  for (let rank = 0; rank < lanes.ranks; rank++) {
    const y = laneTop(rank, lanes)
    if (y > height || y + lanes.laneHeight < lanes.rulerHeight) continue
    const chip = Math.min(20, lanes.laneHeight)
    const middle = y + lanes.laneHeight / 2
    paint(rank, 8, middle - chip / 2, 22, chip)
    ctx.font = `11px ${ink.mono}`
    ctx.textAlign = 'center'
    ctx.fillStyle = rankInk(rank, theme)
    ctx.fillText(String(rank), 19, middle + 0.5)
    ctx.font = `12px ${ink.ui}`
    ctx.textAlign = 'left'
    ctx.fillStyle = rank === scene.selectedRank ? ink.text0 : ink.text2
    ctx.fillText('rank', 37, middle + 0.5)
  }
  ctx.restore()
  ctx.font = `11px ${ink.ui}`
  ctx.textAlign = 'left'
  ctx.fillStyle = ink.text2
  ctx.fillText('steps', 8, STEP_BAND / 2)
  ctx.fillText('time', 8, STEP_BAND + 11)
}
