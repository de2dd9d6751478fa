import type { DumpRank } from '../../../app/protocol/store.ts'
import { inkOf } from '../../drawing/ink.ts'
import { nanPattern, rankColour, type Theme } from '../../theme/colours.ts'
import { valueText } from './map-scale.ts'

type Context = CanvasRenderingContext2D

export const VALUES_EDGE = { left: 64, right: 12 } as const
const TOP = 10
const BOTTOM = 20

export interface ValuesScene {
  readonly ranks: readonly DumpRank[]
  /** [ranks * count]. */
  readonly values: Float64Array
  readonly count: number
  /** Index of the first value. */
  readonly from: number
  /** Drawn on top. */
  readonly rank: number | null
  /** Index under the pointer, from `from` on. */
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

const drawSeries = (
  ctx: Context,
  values: Float64Array,
  x: (i: number) => number,
  y: (value: number) => number,
): void => {
  ctx.beginPath()
  let broken = true
  for (const [i, value] of values.entries()) {
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

/** A line a rank in its colour; NaN in its texture stands at the foot, infinities as bars below and above the plot. */
export const drawValues = (
  ctx: Context,
  width: number,
  height: number,
  theme: Theme,
  { ranks, values, count, from, rank, hovered }: ValuesScene,
): void => {
  const ink = inkOf(ctx.canvas)
  ctx.font = `11px ${ink.mono}`
  ctx.textBaseline = 'middle'
  const plot = Math.max(1, width - VALUES_EDGE.left - VALUES_EDGE.right)
  const base = height - BOTTOM
  const { min, max } = valueRange(values)
  const x = (i: number): number => VALUES_EDGE.left + ((i + 0.5) / Math.max(1, count)) * plot
  const y = (value: number): number => TOP + ((max - value) / (max - min)) * (base - TOP)
  ctx.textAlign = 'right'
  for (const value of [max, 0, min]) {
    if (value < min || value > max) continue
    ctx.fillStyle = ink.line
    ctx.fillRect(VALUES_EDGE.left - 4, Math.round(y(value)), value === 0 ? plot + 4 : 4, 1)
    if (value !== 0 && Math.abs(y(value) - y(0)) < 12) continue
    ctx.fillStyle = ink.text2
    ctx.fillText(valueText(value), VALUES_EDGE.left - 8, y(value))
  }
  ctx.textAlign = 'left'
  ctx.fillStyle = ink.text2
  ctx.fillText(String(from), VALUES_EDGE.left, height - BOTTOM / 2 + 1)
  ctx.textAlign = 'right'
  ctx.fillText(String(from + count - 1), VALUES_EDGE.left + plot, height - BOTTOM / 2 + 1)
  const order = ranks.map((_, i) => i).sort((a, b) => Number(ranks[a] === rank) - Number(ranks[b] === rank))
  for (const i of order) {
    const of = ranks[i]
    const own = values.subarray(i * count, (i + 1) * count)
    ctx.strokeStyle = of === undefined || of === 'reference' ? ink.text0 : rankColour(of, theme)
    ctx.globalAlpha = rank === null || of === rank ? 1 : 0.45
    ctx.lineWidth = of === rank ? 2 : 1
    ctx.setLineDash(of === 'reference' ? [3, 3] : [])
    drawSeries(ctx, own, x, y)
    ctx.globalAlpha = 1
    ctx.setLineDash([])
    own.forEach((value, k) => {
      if (Number.isFinite(value)) return
      ctx.fillStyle = Number.isNaN(value) ? nanPattern(ctx, theme) : ctx.strokeStyle
      const [left, wide] = [x(k) - plot / count / 2, Math.max(2, plot / count)]
      // -inf lies below all values, +inf above.
      if (value === Number.POSITIVE_INFINITY) ctx.fillRect(left, TOP - 6, wide, 4)
      else ctx.fillRect(left, base + (Number.isNaN(value) ? -6 : 2), wide, Number.isNaN(value) ? 6 : 3)
    })
  }
  if (hovered === null) return
  ctx.fillStyle = ink.accent
  ctx.fillRect(Math.round(x(hovered)), TOP, 1, base - TOP)
}

/** Index of the value under a point; null outside. */
export const valueIndexAt = (offsetX: number, width: number, count: number): number | null => {
  const plot = width - VALUES_EDGE.left - VALUES_EDGE.right
  const at = Math.floor(((offsetX - VALUES_EDGE.left) / plot) * count)
  return at < 0 || at >= count ? null : at
}
