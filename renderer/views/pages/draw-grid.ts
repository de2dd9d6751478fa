import type { Ink } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { rgbOf, slantPattern } from '../../drawing/texture.ts'
import { sequentialColour, sequentialInk, type Theme } from '../../theme/colours.ts'
import type { Box } from './geometry.ts'

/**
 * How a mark looks: a place on the ramp; `free` and `plain` are quiet, `stale` is hatched, `reserved` outlined, `bad` in the
 * colour of what is wrong; null leaves it out.
 */
export type Look = number | 'free' | 'plain' | 'stale' | 'reserved' | 'bad' | null

/** Marks row by row from the top left corner of `box` on, each as large as `mark`. */
export interface Grid {
  readonly box: Box
  readonly mark: { readonly width: number; readonly height: number }
  readonly across: number
  readonly down: number
  readonly lookOf: (index: number) => Look
  /** Text of a mark where there is room for it; null none. */
  readonly textOf: (index: number) => string | null
}

export interface GridPens {
  readonly ink: Ink
  readonly theme: Theme
}

/** Width of a character of the 11 px monospace font. */
export const CHARACTER = 6.7

/** Marks as pixels of a canvas of their own, scaled up without smoothing: the cost is that of the pixels. */
const drawColours = (ctx: Pen, { box, mark, across, down, lookOf }: Grid, { ink, theme }: GridPens): void => {
  const tile = document.createElement('canvas')
  tile.width = across
  tile.height = down
  const pen = tile.getContext('2d')
  if (pen === null) return
  const image = pen.createImageData(across, down)
  const named = { free: rgbOf(ink.bg2), plain: rgbOf(ink.line), bad: rgbOf(ink.bad), back: rgbOf(ink.bg1) }
  const shades = Array.from({ length: 65 }, (_, i) => rgbOf(sequentialColour(i / 64, theme)))
  for (let i = 0; i < across * down; i++) {
    const look = lookOf(i)
    if (look === null) continue
    const rgb =
      typeof look === 'number'
        ? shades[Math.round(look * 64)]
        : look === 'free' || look === 'plain' || look === 'bad'
          ? named[look]
          : named.back
    if (rgb === undefined) continue
    image.data[4 * i] = rgb[0]
    image.data[4 * i + 1] = rgb[1]
    image.data[4 * i + 2] = rgb[2]
    image.data[4 * i + 3] = 255
  }
  pen.putImageData(image, 0, 0)
  ctx.imageSmoothingEnabled = false
  ctx.drawImage(tile, box.x, box.y, across * mark.width, down * mark.height)
}

/** Marks from this side on stand apart. */
const APART = 8

const drawGaps = (ctx: Pen, { box, mark, across, down }: Grid, ink: Ink): void => {
  ctx.fillStyle = ink.bg1
  if (mark.width >= APART)
    for (let i = 1; i <= across; i++) ctx.fillRect(box.x + i * mark.width - 1, box.y, 1, down * mark.height)
  if (mark.height >= APART)
    for (let i = 1; i <= down; i++) ctx.fillRect(box.x, box.y + i * mark.height - 1, across * mark.width, 1)
}

/** Textures of what is not a colour; neighbours of one look in a line become one rectangle. */
const drawTextures = (ctx: Pen, { box, mark, across, down, lookOf }: Grid, { ink }: GridPens): void => {
  let lines: CanvasPattern | string | undefined
  const apart = mark.width >= APART ? 1 : 0
  for (let row = 0; row < down; row++)
    for (let column = 0; column < across; ) {
      const look = lookOf(row * across + column)
      let end = column + 1
      while (end < across && lookOf(row * across + end) === look) end++
      const y = box.y + row * mark.height
      if (look === 'stale') {
        lines ??= slantPattern(ctx, ink, { opacity: 0.55 })
        ctx.fillStyle = lines
        ctx.fillRect(box.x + column * mark.width, y, (end - column) * mark.width - apart, mark.height - 1)
      } else if (look === 'reserved') {
        ctx.strokeStyle = ink.text2
        ctx.lineWidth = 1
        for (let at = column; at < end; at++)
          ctx.strokeRect(box.x + at * mark.width + 0.5, y + 0.5, mark.width - 1 - apart, mark.height - 2)
      }
      column = end
    }
}

/** Numbers where they have room. */
const drawTexts = (ctx: Pen, grid: Grid, { ink, theme }: GridPens): void => {
  const { box, mark, across, down, lookOf, textOf } = grid
  if (mark.width < 14 || mark.height < 12) return
  ctx.textAlign = 'center'
  for (let i = 0; i < across * down; i++) {
    const look = lookOf(i)
    const text = look === null ? null : textOf(i)
    if (look === null || text === null || text.length * CHARACTER > mark.width - 2) continue
    ctx.fillStyle =
      typeof look === 'number' ? sequentialInk(look, theme) : look === 'bad' ? ink.bg0 : ink.text2
    const x = box.x + ((i % across) + 0.5) * mark.width
    const y = box.y + (Math.floor(i / across) + 0.5) * mark.height + 0.5
    if (look === 'stale') {
      // A number on a hatch is not read.
      const half = (text.length * CHARACTER) / 2 + 1
      const under = ctx.fillStyle
      ctx.fillStyle = ink.bg1
      ctx.fillRect(x - half, y - 6, 2 * half, 11)
      ctx.fillStyle = under
    }
    ctx.fillText(text, x, y)
  }
}

export const drawGrid = (ctx: Pen, grid: Grid, pens: GridPens): void => {
  if (grid.across === 0 || grid.down === 0) return
  drawColours(ctx, grid, pens)
  drawGaps(ctx, grid, pens.ink)
  drawTextures(ctx, grid, pens)
  drawTexts(ctx, grid, pens)
}
