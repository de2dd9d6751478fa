import { formatNs } from '../../drawing/format.ts'
import type { Ink } from '../../drawing/ink.ts'
import { laneArea } from './draw-spans.ts'
import { STEP_BAND } from './lanes.ts'
import { xOfTime } from './range.ts'
import type { Scene } from './scene.ts'

/** The marked area, and lines around the span under the pointer and the selected one. */
export const drawOutlines = (ctx: CanvasRenderingContext2D, scene: Scene, plot: number, ink: Ink): void => {
  const { area, selected, hovered, pickedKernel, lanes, range } = scene
  if (area !== null) {
    ctx.fillStyle = ink.accent
    ctx.globalAlpha = 0.18
    for (const rank of area.ranks) {
      const box = laneArea(lanes, rank, area.range, range, plot)
      ctx.fillRect(box.x, box.y - lanes.laneGap, box.width, box.height + lanes.laneGap)
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
    const box = laneArea(lanes, item.rank, part, range, plot, item.kernel !== undefined)
    // A line in the colour of the ground parts the outline from the stage's colour.
    outline(ctx, box, thick + 1.5, ink.bg0)
    outline(ctx, box, thick, colour)
  }
}

const outline = (
  ctx: CanvasRenderingContext2D,
  box: ReturnType<typeof laneArea>,
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

/** Times that a person marked, numbered in the order of time; between neighbours stands how far they are apart. */
export const drawMarks = (
  ctx: CanvasRenderingContext2D,
  { marks, range }: Scene,
  plot: number,
  height: number,
  ink: Ink,
): void => {
  ctx.font = `11px ${ink.mono}`
  ctx.textBaseline = 'middle'
  ctx.textAlign = 'left'
  marks.forEach((ns, i) => {
    const x = Math.round(xOfTime(ns, range, plot))
    if (x < -80 || x > plot) return
    ctx.fillStyle = ink.warn
    ctx.fillRect(x, 0, 1, height)
    const before = marks[i - 1]
    const text = before === undefined ? `M${i + 1}` : `M${i + 1} +${formatNs(ns - before)}`
    const width = ctx.measureText(text).width + 8
    ctx.fillRect(x, 0, width, STEP_BAND - 2)
    ctx.fillStyle = ink.bg0
    ctx.fillText(text, x + 4, STEP_BAND / 2)
  })
}
