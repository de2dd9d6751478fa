import type { Ink } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { clipTop, type Lanes, laneTop, stagesHeight } from './lanes.ts'
import { type TimeRange, xOfTime } from './range.ts'
import type { PathColumns, Scene } from './scene.ts'

/** Thickness of the path, and of the line in the colour of the ground that sets it off. */
const THICK = 3
const HALO = 1.5

/** At the foot of a rank's stages; of ranks that are scrolled away at the border below which they are. */
const baseline = (rank: number, lanes: Lanes): number =>
  Math.max(clipTop(rank, lanes), laneTop(rank, lanes) + stagesHeight(rank, lanes) - THICK - HALO)

/** First segment that ends after `ns`; segments follow each other. */
const firstAfter = ({ end }: PathColumns, ns: number): number => {
  let [low, high] = [0, end.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((end[middle] ?? 0) <= ns) low = middle + 1
    else high = middle
  }
  return low
}

/** The corners of the path within `range`: along the lanes, and across where it goes on on another rank. */
const traced = (ctx: Pen, path: PathColumns, lanes: Lanes, range: TimeRange, plot: number): void => {
  ctx.beginPath()
  let isFirst = true
  for (let i = firstAfter(path, range.startNs); i < path.rank.length; i++) {
    const start = path.start[i] ?? 0
    if (start > range.endNs) break
    const y = baseline(path.rank[i] ?? 0, lanes) + THICK / 2
    const from = Math.max(-THICK, xOfTime(start, range, plot))
    const to = Math.min(plot + THICK, xOfTime(path.end[i] ?? 0, range, plot))
    if (isFirst) ctx.moveTo(from, y)
    else ctx.lineTo(from, y)
    ctx.lineTo(to, y)
    isFirst = false
  }
}

/** The critical path of the selected step: a line along the foot of the lanes that bounded it. */
export const drawPath = (ctx: Pen, { path, lanes, range }: Scene, plot: number, ink: Ink): void => {
  if (path === null) return
  ctx.lineJoin = 'miter'
  for (const [width, colour] of [
    [THICK + 2 * HALO, ink.bg0],
    [THICK, ink.text0],
  ] as const) {
    traced(ctx, path, lanes, range, plot)
    ctx.strokeStyle = colour
    ctx.lineWidth = width
    ctx.stroke()
  }
  ctx.lineWidth = 1
}
