import { OUTER_STAGES } from '../../../app/trace/stages.ts'
import { formatNs } from '../../drawing/format.ts'
import type { Ink } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { laneArea, type RowName } from './draw-spans.ts'
import { LAYER_BAND, STEP_BAND, TIME_BAND } from './lanes.ts'
import { type Measure, measuresOf } from './measure.ts'
import { xOfTime } from './range.ts'
import type { HoveredItem, Scene } from './scene.ts'

/** The marked area, and lines around the span under the pointer and the selected one. */
export const drawOutlines = (ctx: Pen, scene: Scene, plot: number, ink: Ink): void => {
  const { area, selected, hovered, pickedKernel, lanes, range } = scene
  if (area !== null) {
    ctx.fillStyle = ink.accent
    ctx.globalAlpha = 0.18
    for (const rank of area.ranks) {
      const box = laneArea(lanes, rank, area.range, range, plot)
      if (box !== null) ctx.fillRect(box.x, box.y, box.width, box.height)
    }
    ctx.globalAlpha = 1
  }
  for (const [item, colour, thick] of [
    [hovered, ink.text0, 1],
    [selected, ink.accent, 2],
    [pickedKernel, ink.accent, 2],
  ] as const) {
    if (item === null) continue
    const part = { startNs: item.startNs, endNs: item.startNs + item.durNs }
    const box = laneArea(lanes, item.rank, part, range, plot, rowOf(item))
    if (box === null) continue
    // A line in the colour of the ground parts the outline from the stage's colour.
    outline(ctx, box, thick + 1.5, ink.bg0)
    outline(ctx, box, thick, colour)
  }
}

const rowOf = (item: HoveredItem): RowName => {
  if (item.kernel !== undefined) return 'kernels'
  return OUTER_STAGES.includes(item.stage) ? 'group' : 'stages'
}

const outline = (
  ctx: Pen,
  box: NonNullable<ReturnType<typeof laneArea>>,
  thick: number,
  colour: string,
): void => {
  ctx.strokeStyle = colour
  ctx.lineWidth = thick
  ctx.strokeRect(
    box.x + thick / 2,
    box.y + thick / 2,
    Math.max(1, box.width - thick),
    Math.max(1, box.height - thick),
  )
  ctx.lineWidth = 1
}

/** Shades what lies outside of the part that is being marked to be zoomed to. */
export const drawZoomBox = (
  ctx: Pen,
  { zoomBox, range }: Scene,
  plot: number,
  height: number,
  ink: Ink,
): void => {
  if (zoomBox === null) return
  const [from, to] = [xOfTime(zoomBox.startNs, range, plot), xOfTime(zoomBox.endNs, range, plot)]
  ctx.fillStyle = ink.bg0
  ctx.globalAlpha = 0.6
  ctx.fillRect(0, 0, Math.max(0, from), height)
  ctx.fillRect(to, 0, Math.max(0, plot - to), height)
  ctx.globalAlpha = 1
  ctx.fillStyle = ink.accent
  for (const x of [from, to - 1]) ctx.fillRect(Math.round(x), 0, 1, height)
}

/** Middle of the band of the ruler on which measures stand. */
const MEASURE_Y = STEP_BAND + LAYER_BAND + TIME_BAND / 2

/** Times that a person marked, numbered in the order of time; between neighbours stands how far they are apart. */
export const drawMarks = (ctx: Pen, scene: Scene, plot: number, height: number, ink: Ink): void => {
  const { marks, range } = scene
  ctx.font = `11px ${ink.mono}`
  ctx.textBaseline = 'middle'
  for (const measure of measuresOf(marks)) drawMeasure(ctx, measure, scene, plot, ink)
  ctx.textAlign = 'left'
  marks.forEach((ns, i) => {
    const x = Math.round(xOfTime(ns, range, plot))
    if (x < -80 || x > plot) return
    ctx.fillStyle = ink.warn
    ctx.fillRect(x, 0, 1, height)
    const text = `M${i + 1}`
    ctx.fillRect(x, 0, ctx.measureText(text).width + 8, STEP_BAND - 2)
    ctx.fillStyle = ink.bg0
    ctx.fillText(text, x + 4, STEP_BAND / 2)
  })
}

/** A line between two marks with the time between them, in the middle of what is seen of it. */
const drawMeasure = (ctx: Pen, { fromNs, toNs }: Measure, { range }: Scene, plot: number, ink: Ink): void => {
  const [from, to] = [Math.max(0, xOfTime(fromNs, range, plot)), Math.min(plot, xOfTime(toNs, range, plot))]
  if (to <= 0 || from >= plot) return
  ctx.fillStyle = ink.bg1
  ctx.fillRect(from, STEP_BAND + LAYER_BAND, to - from, TIME_BAND)
  ctx.fillStyle = ink.warn
  ctx.fillRect(from, Math.round(MEASURE_Y), to - from, 1)
  const text = formatNs(toNs - fromNs)
  const width = ctx.measureText(text).width + 8
  // Beside a part that is too narrow for it, where there is room.
  const middle = (from + to) / 2
  const left = Math.min(Math.max(0, middle - width / 2), plot - width)
  ctx.fillStyle = ink.bg1
  ctx.fillRect(left, STEP_BAND + LAYER_BAND, width, TIME_BAND)
  ctx.textAlign = 'center'
  ctx.fillStyle = ink.warn
  ctx.fillText(text, left + width / 2, MEASURE_Y + 0.5)
}
