import { strokeWithHalo } from '../../drawing/halo.ts'
import type { Ink } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { clipTop, type Lanes, laneTop, stagesHeight } from './lanes.ts'
import { xOfTime } from './range.ts'
import type { Meeting, Scene } from './scene.ts'

/** Waiting that is narrower than this needs no line to say for whom it is, px. */
const LEAST_WAIT = 14
/** Lines that are drawn at once: more would hide what they join. */
const MOST = 120
const DOT = 3.5

/** Of a rank's stages; of ranks that are scrolled away at the border below which they are. */
const middleOf = (rank: number, lanes: Lanes): number =>
  Math.max(clipTop(rank, lanes), laneTop(rank, lanes) + stagesHeight(rank, lanes) / 2)

/** A round mark where a rank entered, with a halo. */
const dot = (ctx: Pen, ink: Ink, x: number, y: number, colour: string): void => {
  ctx.fillStyle = ink.bg0
  ctx.beginPath()
  ctx.arc(x, y, DOT + 1.5, 0, 2 * Math.PI)
  ctx.fill()
  ctx.fillStyle = colour
  ctx.beginPath()
  ctx.arc(x, y, DOT, 0, 2 * Math.PI)
  ctx.fill()
}

/**
 * From the rank that entered a collective last to those that waited for it: a line across the lanes at that time, with a dot
 * on the lane of the last rank.
 */
export const drawFlows = (ctx: Pen, scene: Scene, plot: number, ink: Ink): void => {
  const { flows, lanes, range } = scene
  const seen = flows.filter(({ firstEnterNs, lastEnterNs }) => {
    const [from, to] = [xOfTime(firstEnterNs, range, plot), xOfTime(lastEnterNs, range, plot)]
    return to >= 0 && to <= plot && to - from >= LEAST_WAIT
  })
  if (seen.length <= MOST)
    for (const { lastEnterNs, lastRank, ranks } of seen) {
      const x = Math.round(xOfTime(lastEnterNs, range, plot)) + 0.5
      ctx.globalAlpha = 0.75
      ctx.fillStyle = ink.text1
      const heights = ranks.map((rank) => middleOf(rank, lanes))
      const [top, bottom] = [Math.min(...heights), Math.max(...heights)]
      ctx.fillRect(x - 0.5, top, 1, bottom - top)
      ctx.globalAlpha = 1
      dot(ctx, ink, x, middleOf(lastRank, lanes), ink.text0)
    }
  if (scene.meeting !== null) drawMeeting(ctx, scene.meeting, scene, plot, ink)
}

/** The selected collective: when each rank entered, and the line at which all had. */
const drawMeeting = (
  ctx: Pen,
  { entries, lastRank, lastEnterNs }: Meeting,
  { lanes, range }: Scene,
  plot: number,
  ink: Ink,
): void => {
  const x = xOfTime(lastEnterNs, range, plot)
  const heights = entries.map(({ rank }) => middleOf(rank, lanes))
  strokeWithHalo(ctx, ink, ink.accent, 2, () => {
    ctx.moveTo(x, Math.min(...heights))
    ctx.lineTo(x, Math.max(...heights))
    for (const { rank, enterNs } of entries) {
      const y = middleOf(rank, lanes)
      ctx.moveTo(xOfTime(enterNs, range, plot), y)
      ctx.lineTo(x, y)
    }
  })
  for (const { rank, enterNs } of entries)
    dot(
      ctx,
      ink,
      xOfTime(enterNs, range, plot),
      middleOf(rank, lanes),
      rank === lastRank ? ink.accent : ink.text0,
    )
  ctx.lineWidth = 1
}
