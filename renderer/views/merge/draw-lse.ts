import { formatFloat } from '../../drawing/format.ts'
import { type Ink, inkOf } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { type RankPainter, rankPainter } from '../../drawing/rank-fill.ts'
import { nanPattern, rankInk, type Theme } from '../../theme/colours.ts'
import { axisTicks, type LseAxis, lseAxis, type Mark, tickDigits } from './lse-axis.ts'
import type { MergeModel, RankPart } from './model.ts'
import { segmentsOf } from './weight-bar.ts'

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

const axisLeft = OFF + EDGE
const axisWidth = (width: number): number => Math.max(10, width - OFF - 2 * EDGE)
const axisTop = (height: number): number => height - BAR - 34

/** Room above the axis for marks: below the names of the lines, and off the axis. */
const LINES = 25
const STEM = 8
const GAP = 2
/** Least distance of lanes, with a pixel between, in which a number can be read. */
const LANE = 11

const frameOf = (width: number, height: number, lanes: number): Frame => {
  const axis = axisTop(height)
  return {
    left: axisLeft,
    width: axisWidth(width),
    axis,
    barTop: height - BAR,
    lane: Math.min(CHIP.height + GAP, Math.max(0.5, (axis - STEM - LINES) / lanes)),
  }
}

const axisOf = (model: MergeModel, width: number, height: number): LseAxis =>
  lseAxis(model.ranks, [model.lse, model.referenceLse], axisWidth(width), {
    label: CHIP.width,
    gap: GAP,
    lanes: Math.max(1, Math.floor((axisTop(height) - STEM - LINES) / LANE)),
  })

const laneBottom = (frame: Frame, lane: number): number => frame.axis - STEM - lane * frame.lane

/** A rank's mark as it is drawn, with its number or without. */
export interface Chip {
  readonly rank: number
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly labelled: boolean
}

const chipOf = (mark: Mark, slim: number, frame: Frame, selected: boolean): Chip => {
  const labelled = mark.labelled || selected
  const width = labelled ? CHIP.width : slim
  const height = Math.min(CHIP.height, Math.max(labelled ? LANE - 1 : 1, frame.lane - 1))
  return {
    rank: mark.rank,
    x: frame.left + mark.x - width / 2,
    y: laneBottom(frame, mark.lane) - height,
    width,
    height,
    labelled,
  }
}

const overlap = (a: Chip, b: Chip): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

/**
 * Marks in the order in which they are drawn. The selected rank's comes last and always has its number, on top of
 * narrow neighbours, so that no mark moves when the selection does; a number under it is left out.
 */
const chipsOn = (axis: LseAxis, frame: Frame, rank: number | null): Chip[] => {
  const selected = axis.marks.find((mark) => mark.rank === rank)
  const top = selected === undefined ? null : chipOf(selected, axis.slim, frame, true)
  const chips = axis.marks
    .filter((mark) => mark !== selected)
    .map((mark) => chipOf(mark, axis.slim, frame, false))
    .map((chip) => (top !== null && overlap(chip, top) ? { ...chip, labelled: false } : chip))
  return top === null ? chips : [...chips, top]
}

export const chipsOf = (model: MergeModel, width: number, height: number, rank: number | null): Chip[] => {
  const axis = axisOf(model, width, height)
  return chipsOn(axis, frameOf(width, height, axis.lanes), rank)
}

const drawChip = (
  ctx: Pen,
  { rank, x, y, width, height, labelled }: Chip,
  selected: boolean,
  look: { readonly ink: Ink; readonly paint: RankPainter; readonly theme: Theme },
): void => {
  look.paint(rank, x, y, width, height)
  if (labelled) {
    ctx.fillStyle = rankInk(rank, look.theme)
    ctx.textAlign = 'center'
    ctx.fillText(String(rank), x + width / 2, y + height / 2 + 0.5)
  }
  if (!selected) return
  ctx.strokeStyle = look.ink.accent
  ctx.lineWidth = 2
  ctx.strokeRect(x - 1, y - 1, width + 2, height + 2)
}

const drawAxis = (ctx: Pen, axis: LseAxis, frame: Frame, ink: Ink): void => {
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
  ctx: Pen,
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

/** The first ranks beside the axis, as many as have room, and the selected one. */
export const offShown = (off: readonly RankPart[], room: number, rank: number | null): RankPart[] => {
  const first = off.slice(0, room)
  const selected = off.slice(room).find((part) => part.rank === rank)
  return selected === undefined ? first : [...first.slice(0, -1), selected]
}

/** Ranks without a number on the axis: empty ones plain, NaN in its texture. */
const drawOff = (
  ctx: Pen,
  off: readonly RankPart[],
  frame: Frame,
  rank: number | null,
  look: { readonly ink: Ink; readonly paint: RankPainter; readonly theme: Theme },
): void => {
  ctx.fillStyle = look.ink.text2
  ctx.textAlign = 'center'
  ctx.fillText('no keys', OFF / 2, frame.axis + 13)
  const room = 2 * Math.max(1, Math.floor((frame.axis - 20) / 18))
  for (const [i, part] of offShown(off, room, rank).entries()) {
    const x = 8 + (i % 2) * (CHIP.width + 6)
    const y = laneBottom(frame, 0) - CHIP.height - Math.floor(i / 2) * 18
    drawChip(ctx, { rank: part.rank, x, y, ...CHIP, labelled: true }, part.rank === rank, look)
    if (part.state !== 'nan') continue
    ctx.fillStyle = nanPattern(ctx, look.theme)
    ctx.fillRect(x, y + CHIP.height, CHIP.width, 3)
  }
  if (off.length <= room) return
  ctx.fillStyle = look.ink.text2
  ctx.textAlign = 'left'
  ctx.fillText(`+${off.length - room}`, 8, 8)
}

const drawBar = (
  ctx: Pen,
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
    const text = width >= long.length * 6.7 + 6 ? long : width >= String(r).length * 6.7 + 4 ? String(r) : ''
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
  ctx: Pen,
  width: number,
  height: number,
  theme: Theme,
  model: MergeModel,
  rank: number | null,
): void => {
  const ink = inkOf()
  const look = { ink, theme, paint: rankPainter(ctx, theme) }
  const axis = axisOf(model, width, height)
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
    const below = laneBottom(frame, mark.lane)
    ctx.fillRect(Math.round(frame.left + mark.x), below, 1, frame.axis - below)
  }
  for (const chip of chipsOn(axis, frame, rank)) drawChip(ctx, chip, chip.rank === rank, look)
  drawOff(ctx, axis.off, frame, rank, look)
  drawBar(ctx, model, frame, rank, look)
}

/** Rank whose mark or part of the bar lies under a point; null where there is none. */
export const rankAt = (
  x: number,
  y: number,
  width: number,
  height: number,
  model: MergeModel,
  selected: number | null,
): number | null => {
  const axis = axisOf(model, width, height)
  const frame = frameOf(width, height, axis.lanes)
  if (y >= frame.barTop) {
    const share = (x - frame.left) / frame.width
    return segmentsOf(model.ranks).find((s) => share >= s.from && share < s.from + s.size)?.rank ?? null
  }
  const hit = chipsOn(axis, frame, selected).findLast(
    (chip) => x >= chip.x && x < chip.x + chip.width && y >= chip.y && y < chip.y + chip.height,
  )
  return hit?.rank ?? null
}
