import { formatFloat } from '../../drawing/format.ts'
import { type Ink, inkOf } from '../../drawing/ink.ts'
import { type RankPainter, rankPainter } from '../../drawing/rank-fill.ts'
import { nanPattern, rankInk, type Theme } from '../../theme/colours.ts'
import { axisTicks, type LseAxis, lseAxis, tickDigits } from './lse-axis.ts'
import type { MergeModel, RankPart } from './model.ts'
import { segmentsOf } from './weight-bar.ts'

type Context = CanvasRenderingContext2D

const OFF = 64
const EDGE = 14
const BAR = 26
const CHIP = { width: 20, height: 14 } as const

interface Frame {
  readonly left: number
  readonly width: number
  /** The axis line, with marks above it and ticks below. */
  readonly axis: number
  readonly barTop: number
  readonly lane: number
}

const frameOf = (width: number, height: number, lanes: number): Frame => {
  const axis = height - BAR - 34
  return {
    left: OFF + EDGE,
    width: Math.max(10, width - OFF - 2 * EDGE),
    axis,
    barTop: height - BAR,
    lane: Math.min(18, Math.max(4, (axis - 24) / lanes)),
  }
}

const axisOf = (model: MergeModel, width: number): LseAxis =>
  lseAxis(model.ranks, [model.lse, model.referenceLse], Math.max(10, width - OFF - 2 * EDGE), CHIP.width + 2)

const chipY = (frame: Frame, lane: number): number => frame.axis - 8 - lane * frame.lane - CHIP.height

const drawChip = (
  ctx: Context,
  part: { readonly rank: number },
  x: number,
  y: number,
  selected: boolean,
  look: { readonly ink: Ink; readonly paint: RankPainter; readonly theme: Theme },
): void => {
  look.paint(part.rank, x, y, CHIP.width, CHIP.height)
  ctx.fillStyle = rankInk(part.rank, look.theme)
  ctx.textAlign = 'center'
  ctx.fillText(String(part.rank), x + CHIP.width / 2, y + CHIP.height / 2 + 0.5)
  if (!selected) return
  ctx.strokeStyle = look.ink.accent
  ctx.lineWidth = 2
  ctx.strokeRect(x - 1, y - 1, CHIP.width + 2, CHIP.height + 2)
}

const drawAxis = (ctx: Context, axis: LseAxis, frame: Frame, ink: Ink): void => {
  ctx.fillStyle = ink.line
  ctx.fillRect(frame.left, frame.axis, frame.width, 1)
  const ticks = axisTicks(axis.min, axis.max, Math.max(2, frame.width / 110))
  const digits = tickDigits(ticks)
  ctx.textAlign = 'center'
  for (const tick of ticks) {
    const x = frame.left + axis.xOf(tick)
    ctx.fillStyle = ink.line
    ctx.fillRect(Math.round(x), frame.axis, 1, 5)
    ctx.fillStyle = ink.text2
    ctx.fillText(formatFloat(tick, digits), x, frame.axis + 13)
  }
}

/** A value that stands across the axis, named at the top. */
const drawLine = (
  ctx: Context,
  x: number,
  frame: Frame,
  line: { readonly name: string; readonly colour: string; readonly dash: number[]; readonly top: number },
): void => {
  ctx.strokeStyle = line.colour
  ctx.lineWidth = 1.5
  ctx.setLineDash(line.dash)
  ctx.beginPath()
  ctx.moveTo(x, line.top + 6)
  ctx.lineTo(x, frame.axis + 4)
  ctx.stroke()
  ctx.setLineDash([])
  ctx.fillStyle = line.colour
  const leftwards = x > frame.left + frame.width / 2
  ctx.textAlign = leftwards ? 'right' : 'left'
  ctx.fillText(line.name, x + (leftwards ? -4 : 4), line.top + 4)
}

/** Ranks without a number on the axis: empty ones plain, NaN in its texture. */
const drawOff = (
  ctx: Context,
  off: readonly RankPart[],
  frame: Frame,
  chip: (part: RankPart, x: number, y: number) => void,
  look: { readonly ink: Ink; readonly theme: Theme },
): void => {
  ctx.fillStyle = look.ink.text2
  ctx.textAlign = 'center'
  ctx.fillText('no keys', OFF / 2, frame.axis + 13)
  const room = Math.max(1, Math.floor((frame.axis - 20) / 18))
  for (const [i, part] of off.slice(0, room * 2).entries()) {
    const x = 8 + (i % 2) * (CHIP.width + 6)
    const y = chipY(frame, 0) - Math.floor(i / 2) * 18
    chip(part, x, y)
    if (part.state !== 'nan') continue
    ctx.fillStyle = nanPattern(ctx, look.theme)
    ctx.fillRect(x, y + CHIP.height, CHIP.width, 3)
  }
  if (off.length <= room * 2) return
  ctx.fillStyle = look.ink.text2
  ctx.textAlign = 'left'
  ctx.fillText(`+${off.length - room * 2}`, 8, 8)
}

const drawBar = (
  ctx: Context,
  model: MergeModel,
  frame: Frame,
  rank: number | null,
  look: { readonly ink: Ink; readonly paint: RankPainter; readonly theme: Theme },
): void => {
  const { ink, paint, theme } = look
  const height = BAR - 4
  ctx.fillStyle = ink.bg2
  ctx.fillRect(frame.left, frame.barTop, frame.width, height)
  ctx.fillStyle = ink.text2
  ctx.textAlign = 'center'
  ctx.fillText('weight', OFF / 2, frame.barTop + height / 2)
  for (const { rank: r, from, size } of segmentsOf(model.ranks)) {
    const x = frame.left + from * frame.width
    const width = size * frame.width
    paint(r, x, frame.barTop, Math.max(0.5, width - (width > 4 ? 1 : 0)), height)
    ctx.fillStyle = rankInk(r, theme)
    ctx.textAlign = 'center'
    const long = `${r}: ${(size * 100).toFixed(1)} %`
    const text = width >= long.length * 6.7 + 6 ? long : width >= 18 ? String(r) : ''
    ctx.fillText(text, x + width / 2, frame.barTop + height / 2)
    if (r !== rank) continue
    ctx.strokeStyle = ink.accent
    ctx.lineWidth = 2
    ctx.strokeRect(x, frame.barTop - 1, Math.max(2, width), height + 2)
  }
  if (model.weightSum > 0) return
  ctx.fillStyle = ink.text2
  ctx.textAlign = 'left'
  ctx.fillText('every rank is empty: the result is 0', frame.left + 6, frame.barTop + height / 2)
}

export const drawLse = (
  ctx: Context,
  width: number,
  height: number,
  theme: Theme,
  model: MergeModel,
  rank: number | null,
): void => {
  const ink = inkOf(ctx.canvas)
  const look = { ink, theme, paint: rankPainter(ctx, theme) }
  const axis = axisOf(model, width)
  const frame = frameOf(width, height, axis.lanes)
  ctx.fillStyle = ink.bg1
  ctx.fillRect(0, 0, width, height)
  ctx.font = `11px ${ink.mono}`
  ctx.textBaseline = 'middle'
  drawAxis(ctx, axis, frame, ink)
  const { referenceLse, lse } = model
  if (referenceLse !== null && Number.isFinite(referenceLse))
    drawLine(ctx, frame.left + axis.xOf(referenceLse), frame, {
      name: 'reference',
      colour: ink.text1,
      dash: [4, 3],
      top: 14,
    })
  if (Number.isFinite(lse))
    drawLine(ctx, frame.left + axis.xOf(lse), frame, { name: 'merged', colour: ink.accent, dash: [], top: 2 })
  // Stems first, so that none crosses the number of a rank in a lower lane.
  ctx.fillStyle = ink.text2
  for (const mark of axis.marks) {
    const below = chipY(frame, mark.lane) + CHIP.height
    ctx.fillRect(Math.round(frame.left + mark.x), below, 1, frame.axis - below)
  }
  for (const mark of axis.marks)
    drawChip(
      ctx,
      mark,
      frame.left + mark.x - CHIP.width / 2,
      chipY(frame, mark.lane),
      mark.rank === rank,
      look,
    )
  drawOff(ctx, axis.off, frame, (part, x, y) => drawChip(ctx, part, x, y, part.rank === rank, look), look)
  drawBar(ctx, model, frame, rank, look)
}

/** Rank whose mark or part of the bar lies under a point; null where there is none. */
export const rankAt = (
  x: number,
  y: number,
  width: number,
  height: number,
  model: MergeModel,
): number | null => {
  const axis = axisOf(model, width)
  const frame = frameOf(width, height, axis.lanes)
  if (y >= frame.barTop) {
    const share = (x - frame.left) / frame.width
    return segmentsOf(model.ranks).find((s) => share >= s.from && share < s.from + s.size)?.rank ?? null
  }
  const mark = axis.marks.findLast((m) => {
    const top = chipY(frame, m.lane)
    return Math.abs(frame.left + m.x - x) <= CHIP.width / 2 && y >= top && y < top + CHIP.height
  })
  return mark?.rank ?? null
}
