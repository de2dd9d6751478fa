import type { Ink } from './ink.ts'
import type { Pen } from './pen.ts'

/** Parts of `#rrggbb`, or of `#rgb`, to which a style sheet may be shortened. */
export const rgbOf = (hex: string): readonly [number, number, number] => {
  const digits = hex.length === 4 ? [...hex.slice(1)].map((digit) => digit + digit).join('') : hex.slice(1)
  const part = (at: number): number => Number.parseInt(digits.slice(at, at + 2), 16)
  return [part(0), part(2), part(4)]
}

/** Lines at a slant of an opacity, on `back`, or on what is there already. */
export const slantPattern = (
  ctx: Pen,
  ink: Ink,
  { opacity, back }: { readonly opacity: number; readonly back?: string },
): CanvasPattern | string => {
  const tile = document.createElement('canvas')
  tile.width = 6
  tile.height = 6
  const pen = tile.getContext('2d')
  if (pen === null) return ink.bg2
  if (back !== undefined) {
    pen.fillStyle = back
    pen.fillRect(0, 0, 6, 6)
  }
  pen.strokeStyle = ink.text2
  pen.globalAlpha = opacity
  pen.lineWidth = 1
  pen.beginPath()
  for (const x of [-3, 3, 9]) {
    pen.moveTo(x - 4, 7)
    pen.lineTo(x + 4, -1)
  }
  pen.stroke()
  return ctx.createPattern(tile, 'repeat') ?? ink.bg2
}
