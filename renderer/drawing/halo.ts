import type { Ink } from './ink.ts'
import type { Pen } from './pen.ts'

/** Strokes what `trace` draws, with a halo that sets it off from every colour below. */
export const strokeWithHalo = (
  ctx: Pen,
  ink: Ink,
  colour: string,
  width: number,
  trace: () => void,
): void => {
  ctx.beginPath()
  trace()
  ctx.strokeStyle = ink.bg1
  ctx.lineWidth = width + 3
  ctx.stroke()
  ctx.strokeStyle = colour
  ctx.lineWidth = width
  ctx.stroke()
}
