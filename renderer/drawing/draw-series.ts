import { nanPattern, type Theme } from '../theme/colours.ts'
import { formatValue } from './format.ts'
import { type Ink, inkOf } from './ink.ts'
import type { Pen } from './pen.ts'

export const SERIES_EDGE = { left: 64, right: 12 } as const
const TOP = 10
const BOTTOM = 20

/** One line of values. */
export interface Series {
  readonly values: ArrayLike<number>
  readonly colour: string
  readonly width: number
  /** 0 to 1. */
  readonly alpha: number
  readonly dashed: boolean
}

export interface SeriesScene {
  /** In the order in which they are drawn. */
  readonly series: readonly Series[]
  /** Values of each. */
  readonly count: number
  /** Index under the pointer. */
  readonly hovered: number | null
}

export interface ValueRange {
  readonly min: number
  readonly max: number
}

/** What the finite values span, a little wider; 0 lies within where it is near. */
export const valueRange = (values: ArrayLike<number>): ValueRange => {
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? Number.NaN
    if (!Number.isFinite(value)) continue
    min = Math.min(min, value)
    max = Math.max(max, value)
  }
  if (min > max) return { min: -1, max: 1 }
  if (min > 0 && min < max / 2) min = 0
  if (max < 0 && max > min / 2) max = 0
  const room = max === min ? Math.max(1, Math.abs(max) / 10) : (max - min) * 0.05
  return { min: min - room, max: max + room }
}

const drawLine = (
  ctx: Pen,
  values: ArrayLike<number>,
  x: (i: number) => number,
  y: (value: number) => number,
): void => {
  ctx.beginPath()
  let broken = true
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? Number.NaN
    if (!Number.isFinite(value)) broken = true
    else if (broken) {
      ctx.moveTo(x(i), y(value))
      // A value alone is a dot.
      ctx.lineTo(x(i) + 1, y(value))
      broken = false
    } else ctx.lineTo(x(i), y(value))
  }
  ctx.stroke()
}

/** A line a series; NaN in its texture stands at the foot, infinities as bars below and above the plot. */
export const drawSeries = (
  ctx: Pen,
  width: number,
  height: number,
  theme: Theme,
  { series, count, hovered }: SeriesScene,
): void => {
  const ink = inkOf()
  ctx.font = `11px ${ink.mono}`
  ctx.textBaseline = 'middle'
  const plot = Math.max(1, width - SERIES_EDGE.left - SERIES_EDGE.right)
  const base = height - BOTTOM
  const { min, max } = valueRange(series.flatMap(({ values }) => Array.from(values)))
  const x = (i: number): number => SERIES_EDGE.left + ((i + 0.5) / Math.max(1, count)) * plot
  const y = (value: number): number => TOP + ((max - value) / (max - min)) * (base - TOP)
  drawScale(ctx, { min, max }, y, plot, ink)
  ctx.fillStyle = ink.text2
  ctx.textAlign = 'left'
  ctx.fillText('0', SERIES_EDGE.left, height - BOTTOM / 2 + 2)
  ctx.textAlign = 'right'
  ctx.fillText(String(count - 1), SERIES_EDGE.left + plot, height - BOTTOM / 2 + 2)
  for (const { values, colour, width: thick, alpha, dashed } of series) {
    ctx.strokeStyle = colour
    ctx.globalAlpha = alpha
    ctx.lineWidth = thick
    ctx.setLineDash(dashed ? [3, 3] : [])
    drawLine(ctx, values, x, y)
    ctx.globalAlpha = 1
    ctx.setLineDash([])
    drawOdd(ctx, values, theme, { colour, base, pitch: plot / Math.max(1, count), x })
  }
  if (hovered === null) return
  ctx.fillStyle = ink.accent
  ctx.fillRect(Math.round(x(hovered)), TOP, 1, base - TOP)
}

const drawScale = (
  ctx: Pen,
  { min, max }: ValueRange,
  y: (value: number) => number,
  plot: number,
  ink: Ink,
): void => {
  ctx.textAlign = 'right'
  for (const value of [max, 0, min]) {
    if (value < min || value > max) continue
    ctx.fillStyle = ink.line
    ctx.fillRect(SERIES_EDGE.left - 4, Math.round(y(value)), value === 0 ? plot + 4 : 4, 1)
    if (value !== 0 && Math.abs(y(value) - y(0)) < 12) continue
    ctx.fillStyle = ink.text2
    ctx.fillText(formatValue(value), SERIES_EDGE.left - 8, y(value))
  }
}

/** What is no number: -inf lies below all values, +inf above. */
const drawOdd = (
  ctx: Pen,
  values: ArrayLike<number>,
  theme: Theme,
  at: {
    readonly colour: string
    readonly base: number
    readonly pitch: number
    readonly x: (i: number) => number
  },
): void => {
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? Number.NaN
    if (Number.isFinite(value)) continue
    const nan = Number.isNaN(value)
    ctx.fillStyle = nan ? nanPattern(ctx, theme) : at.colour
    const [left, wide] = [at.x(i) - at.pitch / 2, Math.max(2, at.pitch)]
    if (value === Number.POSITIVE_INFINITY) ctx.fillRect(left, TOP - 6, wide, 4)
    else ctx.fillRect(left, at.base + (nan ? -6 : 2), wide, nan ? 6 : 3)
  }
}

/** Index of the value under a point; null outside. */
export const seriesIndexAt = (offsetX: number, width: number, count: number): number | null => {
  const plot = width - SERIES_EDGE.left - SERIES_EDGE.right
  const at = Math.floor(((offsetX - SERIES_EDGE.left) / plot) * count)
  return at < 0 || at >= count ? null : at
}
