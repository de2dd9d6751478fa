import { formatValue } from '../../drawing/format.ts'
import { inkOf } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { rankColour, statusColour, type Theme } from '../../theme/colours.ts'
import type { Bar } from './histogram.ts'

export const HISTOGRAM_EDGE = { left: 12, right: 12 } as const
const TOP = 8
const BOTTOM = 18

export interface HistogramScene {
  readonly bars: readonly Bar[]
  readonly rank: number | null
  readonly hovered: Bar | null
}

/** Bars with the square root of their counts as height, so that rare values are seen beside common ones. */
export const drawHistogram = (
  ctx: Pen,
  width: number,
  height: number,
  theme: Theme,
  { bars, rank, hovered }: HistogramScene,
): void => {
  const ink = inkOf()
  ctx.font = `11px ${ink.mono}`
  ctx.textBaseline = 'middle'
  const plot = width - HISTOGRAM_EDGE.left - HISTOGRAM_EDGE.right
  const base = height - BOTTOM
  ctx.fillStyle = ink.line
  ctx.fillRect(HISTOGRAM_EDGE.left, base, plot, 1)
  const most = Math.sqrt(Math.max(0, ...bars.map(({ count }) => count)))
  if (most === 0) return
  const pitch = plot / bars.length
  for (const [i, bar] of bars.entries()) {
    if (bar.count === 0) continue
    const tall = Math.max(1, (Math.sqrt(bar.count) / most) * (base - TOP))
    ctx.fillStyle =
      bar === hovered ? ink.accent : rank === null ? statusColour('ok', theme) : rankColour(rank, theme)
    ctx.fillRect(HISTOGRAM_EDGE.left + i * pitch, base - tall, Math.max(1, pitch - (pitch > 4 ? 1 : 0)), tall)
  }
  drawEnds(ctx, bars, plot, height, ink.text2)
}

const drawEnds = (ctx: Pen, bars: readonly Bar[], plot: number, height: number, colour: string): void => {
  const y = height - BOTTOM / 2 + 1
  const first = bars[0]
  const last = bars.at(-1)
  if (first === undefined || last === undefined) return
  ctx.fillStyle = colour
  ctx.textAlign = 'left'
  ctx.fillText(formatValue(first.from), HISTOGRAM_EDGE.left, y)
  ctx.textAlign = 'right'
  ctx.fillText(formatValue(last.to), HISTOGRAM_EDGE.left + plot, y)
  const zero = bars.findIndex(({ from, to }) => from >= 0 || (from < 0 && to > 0))
  const bar = bars[zero]
  if (bar === undefined || zero <= 0) return
  const share = bar.from < 0 ? -bar.from / (bar.to - bar.from) : 0
  const x = HISTOGRAM_EDGE.left + ((zero + share) / bars.length) * plot
  ctx.fillRect(x, height - BOTTOM, 1, 5)
  if (x < 70 || x > plot - 60) return
  ctx.textAlign = 'center'
  ctx.fillText('0', x, y)
}
