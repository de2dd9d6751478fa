import type { Ink } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { LAYER_BAND, STEP_BAND, TIME_BAND } from './lanes.ts'
import { layerStarts } from './layer-starts.ts'
import { xOfTime } from './range.ts'
import type { Scene } from './scene.ts'
import { tickLabel, timeTicks } from './ticks.ts'

const TICK_APART = 110
const STEP_LABEL_ROOM = 34
/** Least distance of layer ticks, and room of their labels. */
const LAYER_APART = 6
const LAYER_LABEL_ROOM = 26

/** Lines of the time axis through the lanes. */
export const drawTickLines = (ctx: Pen, { range }: Scene, plot: number, height: number, ink: Ink): void => {
  ctx.fillStyle = ink.line
  for (const ns of timeTicks(range, plot, TICK_APART).at)
    ctx.fillRect(Math.round(xOfTime(ns, range, plot)), 0, 1, height)
}

/** Tints the selected step's part of the lanes. */
export const drawStepTint = (
  ctx: Pen,
  { steps, range, selectedStep }: Scene,
  plot: number,
  height: number,
  ink: Ink,
): void => {
  const i = steps === null || selectedStep === null ? -1 : steps.step.indexOf(selectedStep)
  const startNs = steps?.startNs[i]
  if (startNs === undefined) return
  const x = xOfTime(startNs, range, plot)
  const end = xOfTime(startNs + (steps?.wallNs[i] ?? 0), range, plot)
  ctx.fillStyle = ink.accent
  ctx.globalAlpha = 0.12
  ctx.fillRect(x, 0, Math.max(1, end - x), height)
  ctx.globalAlpha = 1
}

/** Bands above the lanes: steps, layers, time. */
export const drawRuler = (ctx: Pen, scene: Scene, plot: number, height: number, ink: Ink): void => {
  ctx.fillStyle = ink.bg1
  ctx.fillRect(0, 0, plot, scene.lanes.rulerHeight)
  ctx.textBaseline = 'middle'
  ctx.textAlign = 'left'
  drawTimes(ctx, scene, plot, ink)
  drawLayers(ctx, scene, plot, ink)
  drawSteps(ctx, scene, plot, height, ink)
}

const drawTimes = (ctx: Pen, { range }: Scene, plot: number, ink: Ink): void => {
  const top = STEP_BAND + LAYER_BAND
  const { at, stepNs } = timeTicks(range, plot, TICK_APART)
  ctx.font = `11px ${ink.mono}`
  for (const ns of at) {
    const x = Math.round(xOfTime(ns, range, plot))
    ctx.fillStyle = ink.line
    ctx.fillRect(x, top, 1, TIME_BAND)
    const text = tickLabel(ns, stepNs)
    // A label that would be cut at the edge could be read as another number.
    if (x + 4 + ctx.measureText(text).width > plot) continue
    ctx.fillStyle = ink.text2
    ctx.fillText(text, x + 4, top + TIME_BAND / 2 + 0.5)
  }
}

/** Where the layers of the uppermost lane begin, as far as single spans are loaded. */
const drawLayers = (ctx: Pen, scene: Scene, plot: number, ink: Ink): void => {
  ctx.font = `11px ${ink.mono}`
  let last = Number.NEGATIVE_INFINITY
  for (const { startNs, layer, endNs } of layerStarts(scene.pieces, scene.range)) {
    const x = Math.round(xOfTime(startNs, scene.range, plot))
    if (x - last < LAYER_APART) continue
    last = x
    ctx.fillStyle = ink.text2
    ctx.fillRect(x, STEP_BAND, 1, LAYER_BAND)
    const room = Math.min(plot, xOfTime(endNs, scene.range, plot)) - Math.max(0, x)
    if (room >= LAYER_LABEL_ROOM)
      ctx.fillText(
        room > 60 ? `layer ${layer}` : `L${layer}`,
        Math.max(0, x) + 4,
        STEP_BAND + LAYER_BAND / 2 + 0.5,
      )
  }
}

/** Steps as a band; the selected one is marked through the lanes. */
const drawSteps = (ctx: Pen, scene: Scene, plot: number, height: number, ink: Ink): void => {
  const { steps, range, lanes } = scene
  if (steps === null) return
  ctx.font = `11px ${ink.ui}`
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
    const room = Math.min(end, plot) - Math.max(x, 0)
    if (room < STEP_LABEL_ROOM) continue
    ctx.fillStyle = picked ? ink.bg0 : ink.text1
    ctx.fillText(room > 64 ? `step ${step}` : String(step), Math.max(0, x) + 5, STEP_BAND / 2 + 0.5)
  }
}

const drawPickedStep = (ctx: Pen, x: number, end: number, top: number, bottom: number, ink: Ink): void => {
  ctx.fillStyle = ink.accent
  ctx.globalAlpha = 0.8
  for (const edge of [Math.round(x), Math.round(end) - 1]) ctx.fillRect(edge, top, 1, bottom - top)
  ctx.globalAlpha = 1
}
