import type { Theme } from '../theme/colours.ts'
import { rankColour, rankInk, rankPattern } from '../theme/colours.ts'
import type { Pen } from './pen.ts'

const TILE = 8
/** Side from which a hatch can be told from noise. */
const MIN_HATCHED = 4

/** Lines over a rank's colour that tell ranks of the same colour apart; null for the first ones. */
const hatchOf = (ctx: Pen, rank: number, theme: Theme): CanvasPattern | null => {
  const variant = rankPattern(rank, theme)
  if (variant === 0) return null
  const tile = document.createElement('canvas')
  tile.width = TILE
  tile.height = TILE
  const pen = tile.getContext('2d')
  if (pen === null) return null
  pen.strokeStyle = rankInk(rank, theme)
  pen.globalAlpha = 0.45
  pen.lineWidth = 1.5
  pen.beginPath()
  if (variant !== 2) {
    pen.moveTo(-2, TILE + 2)
    pen.lineTo(TILE + 2, -2)
  }
  if (variant !== 1) {
    pen.moveTo(-2, -2)
    pen.lineTo(TILE + 2, TILE + 2)
  }
  pen.stroke()
  return ctx.createPattern(tile, 'repeat')
}

interface Fill {
  readonly colour: string
  readonly hatch: CanvasPattern | null
}

/** Colour and hatch by rank, each made once. */
const rankFills = (ctx: Pen, theme: Theme): ((rank: number) => Fill) => {
  const fills = new Map<number, Fill>()
  return (rank) => {
    const known = fills.get(rank)
    if (known !== undefined) return known
    const made = { colour: rankColour(rank, theme), hatch: hatchOf(ctx, rank, theme) }
    fills.set(rank, made)
    return made
  }
}

/** Fills rectangles in the colour of a rank, with the hatch of ranks whose colour repeats. */
export type RankPainter = (rank: number, x: number, y: number, width: number, height: number) => void

export const rankPainter = (ctx: Pen, theme: Theme): RankPainter => {
  const fillOf = rankFills(ctx, theme)
  return (rank, x, y, width, height) => {
    const { colour, hatch } = fillOf(rank)
    ctx.fillStyle = colour
    ctx.fillRect(x, y, width, height)
    if (hatch === null || width < MIN_HATCHED || height < MIN_HATCHED) return
    ctx.fillStyle = hatch
    ctx.fillRect(x, y, width, height)
  }
}

/** Fills the current path as a rank painter fills rectangles. */
export const rankPathPainter = (ctx: Pen, theme: Theme): ((rank: number) => void) => {
  const fillOf = rankFills(ctx, theme)
  return (rank) => {
    const { colour, hatch } = fillOf(rank)
    ctx.fillStyle = colour
    ctx.fill()
    if (hatch === null) return
    ctx.fillStyle = hatch
    ctx.fill()
  }
}
