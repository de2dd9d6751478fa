import type { Severity } from '../../../app/trace/stages.ts'
import type { Ink } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { nanPattern, type Theme } from '../../theme/colours.ts'
import { type EventMark, MARK_RADIUS, markPlace, shapeOf } from './event-marks.ts'
import type { Scene } from './scene.ts'

const colourOf = (severity: Severity, ink: Ink): string =>
  severity === 'error' ? ink.bad : severity === 'warning' ? ink.warn : ink.text0

/** Events as marks: NaN in its texture, infinities as diamonds, ranks without keys as rings, wrong rows as crosses. */
export const drawEventMarks = (
  ctx: Pen,
  { events, range, lanes }: Scene,
  plot: number,
  theme: Theme,
  ink: Ink,
): void => {
  const nan = events.some(({ kind }) => shapeOf(kind) === 'nan') ? nanPattern(ctx, theme) : null
  // The worst come first, and lie on top.
  for (const mark of [...events].reverse()) {
    const place = markPlace(mark, range, lanes, plot)
    if (place !== null) drawMark(ctx, mark, place.x, place.y, nan, ink)
  }
  ctx.lineWidth = 1
}

const drawMark = (
  ctx: Pen,
  { kind, severity }: EventMark,
  x: number,
  y: number,
  nan: CanvasPattern | null,
  ink: Ink,
): void => {
  const [r, colour, shape] = [MARK_RADIUS, colourOf(severity, ink), shapeOf(kind)]
  ctx.fillStyle = ink.bg0
  ctx.strokeStyle = colour
  ctx.lineWidth = 2
  ctx.beginPath()
  switch (shape) {
    case 'nan':
      ctx.fillRect(x - r - 1, y - r - 1, 2 * r + 2, 2 * r + 2)
      ctx.fillStyle = nan ?? colour
      ctx.fillRect(x - r, y - r, 2 * r, 2 * r)
      return
    case 'wrong':
      ctx.fillRect(x - r - 1, y - r - 1, 2 * r + 2, 2 * r + 2)
      ctx.moveTo(x - r + 1, y - r + 1)
      ctx.lineTo(x + r - 1, y + r - 1)
      ctx.moveTo(x + r - 1, y - r + 1)
      ctx.lineTo(x - r + 1, y + r - 1)
      break
    case 'inf':
      ctx.moveTo(x, y - r)
      ctx.lineTo(x + r, y)
      ctx.lineTo(x, y + r)
      ctx.lineTo(x - r, y)
      ctx.closePath()
      ctx.fill()
      break
    case 'empty':
      ctx.arc(x, y, r - 1, 0, 2 * Math.PI)
      ctx.fill()
      break
    case 'other':
      ctx.moveTo(x, y - r)
      ctx.lineTo(x + r, y + r)
      ctx.lineTo(x - r, y + r)
      ctx.closePath()
      ctx.fill()
  }
  ctx.stroke()
}
