import { formatFloat, formatSci } from '../../drawing/format.ts'
import { type Ink, inkOf } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { divergingColour, nanPattern, rankColour, type Theme } from '../../theme/colours.ts'
import { gapsOf, type Range, rangeOf, signedErrors } from './vector-plot.ts'

export const PLOT_EDGE = { left: 64, right: 12 } as const
const TOP = 8
const BETWEEN = 22
const BOTTOM = 16

export interface VectorScene {
  readonly merged: ArrayLike<number>
  /** What the merged vector is held against, and its name. */
  readonly truth: ArrayLike<number>
  readonly truthName: string
  /** The selected rank's share of the merged vector; null when no rank is selected. */
  readonly share: ArrayLike<number> | null
  readonly rank: number | null
  /** Value under the pointer. */
  readonly entry: number | null
}

interface Area {
  readonly left: number
  readonly width: number
  readonly top: number
  readonly height: number
}

const yOf = (value: number, range: Range, area: Area): number =>
  area.top + ((range.max - value) / (range.max - range.min)) * area.height

const drawLine = (
  ctx: Pen,
  values: ArrayLike<number>,
  range: Range,
  area: Area,
  colour: string,
  width: number,
) => {
  const pitch = area.width / values.length
  ctx.strokeStyle = colour
  ctx.lineWidth = width
  ctx.lineJoin = 'round'
  ctx.beginPath()
  let broken = true
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? Number.NaN
    const x = area.left + (i + 0.5) * pitch
    if (!Number.isFinite(value)) broken = true
    else if (broken) {
      ctx.moveTo(x, yOf(value, range, area))
      broken = false
    } else ctx.lineTo(x, yOf(value, range, area))
  }
  ctx.stroke()
}

const drawGaps = (ctx: Pen, values: ArrayLike<number>, area: Area, theme: Theme): void => {
  const pitch = area.width / values.length
  ctx.fillStyle = nanPattern(ctx, theme)
  for (const { first, end } of gapsOf(values))
    ctx.fillRect(area.left + first * pitch, area.top, Math.max(2, (end - first) * pitch), area.height)
}

const drawScale = (ctx: Pen, range: Range, area: Area, ink: Ink): void => {
  ctx.fillStyle = ink.line
  ctx.fillRect(area.left, area.top + area.height, area.width, 1)
  ctx.textAlign = 'right'
  for (const value of [range.max, 0, range.min]) {
    if (value < range.min || value > range.max) continue
    const y = yOf(value, range, area)
    ctx.fillStyle = ink.line
    ctx.fillRect(area.left - 4, Math.round(y), value === 0 ? area.width + 4 : 4, 1)
    ctx.fillStyle = ink.text2
    ctx.fillText(tickText(value), area.left - 8, y)
  }
}

/** Values of ordinary size as they are, others in exponent form. */
const tickText = (value: number): string => {
  const size = Math.abs(value)
  if (value === 0) return '0'
  return size >= 1e-2 && size < 1e4 ? formatFloat(value, 3) : formatSci(value)
}

const drawErrors = (ctx: Pen, scene: VectorScene, area: Area, theme: Theme, ink: Ink): void => {
  const { errors, limit } = signedErrors(scene.merged, scene.truth)
  const scale = limit === 0 ? 1 : limit
  const range = { min: -scale, max: scale }
  const pitch = area.width / errors.length
  const zero = yOf(0, range, area)
  for (let i = 0; i < errors.length; i++) {
    const error = errors[i] ?? Number.NaN
    if (!Number.isFinite(error) || error === 0) continue
    const y = yOf(error, range, area)
    ctx.fillStyle = divergingColour(error / scale, theme)
    ctx.fillRect(
      area.left + i * pitch,
      Math.min(y, zero),
      Math.max(1, pitch - 0.25),
      Math.max(1, Math.abs(y - zero)),
    )
  }
  drawGaps(ctx, errors, area, theme)
  drawScale(ctx, range, area, ink)
}

const drawLegend = (ctx: Pen, scene: VectorScene, area: Area, theme: Theme, ink: Ink): void => {
  const entries: [string, string][] = [
    ['merged', ink.accent],
    [scene.truthName, ink.text2],
    ...(scene.rank === null
      ? []
      : ([[`share of rank ${scene.rank}`, rankColour(scene.rank, theme)]] as [string, string][])),
  ]
  let x = area.left
  const y = area.top + area.height + BETWEEN / 2 + 1
  ctx.textAlign = 'left'
  for (const [name, colour] of entries) {
    ctx.fillStyle = colour
    ctx.fillRect(x, y - 1, 14, 3)
    ctx.fillStyle = ink.text2
    ctx.fillText(name, x + 18, y)
    x += 18 + name.length * 6.7 + 16
  }
}

export const drawVector = (
  ctx: Pen,
  width: number,
  height: number,
  theme: Theme,
  scene: VectorScene,
): void => {
  const ink = inkOf()
  const plotWidth = Math.max(10, width - PLOT_EDGE.left - PLOT_EDGE.right)
  const free = Math.max(20, height - TOP - BETWEEN - BOTTOM)
  const values: Area = { left: PLOT_EDGE.left, width: plotWidth, top: TOP, height: free * 0.62 }
  const errors: Area = { ...values, top: TOP + values.height + BETWEEN, height: free * 0.38 }
  const range = rangeOf([scene.merged, scene.truth, ...(scene.share === null ? [] : [scene.share])])
  ctx.fillStyle = ink.bg1
  ctx.fillRect(0, 0, width, height)
  ctx.font = `11px ${ink.mono}`
  ctx.textBaseline = 'middle'
  drawScale(ctx, range, values, ink)
  drawGaps(ctx, scene.merged, values, theme)
  if (scene.share !== null && scene.rank !== null)
    drawLine(ctx, scene.share, range, values, rankColour(scene.rank, theme), 1)
  drawLine(ctx, scene.truth, range, values, ink.text2, 3)
  drawLine(ctx, scene.merged, range, values, ink.accent, 1)
  drawLegend(ctx, scene, values, theme, ink)
  drawErrors(ctx, scene, errors, theme, ink)
  if (scene.entry === null) return
  ctx.fillStyle = ink.text0
  const x = PLOT_EDGE.left + ((scene.entry + 0.5) / scene.merged.length) * plotWidth
  ctx.fillRect(Math.round(x), TOP, 1, free + BETWEEN)
}
