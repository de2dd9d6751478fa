import type { Ink } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { clipTop, laneTop, stagesHeight } from './lanes.ts'
import { xOfTime } from './range.ts'
import type { Scene } from './scene.ts'

const FLAG_WIDTH = 9
const FLAG_HEIGHT = 7

/** A flag at the beginning of each span with a note. */
export const drawNotes = (ctx: Pen, { notes, lanes, range }: Scene, plot: number, ink: Ink): void => {
  for (const { rank, startNs } of notes) {
    const x = Math.round(xOfTime(startNs, range, plot))
    const y = laneTop(rank, lanes)
    if (x < -FLAG_WIDTH || x > plot || rank >= lanes.ranks || y < clipTop(rank, lanes)) continue
    ctx.fillStyle = ink.bg0
    ctx.fillRect(x - 1, y, FLAG_WIDTH + 4, FLAG_HEIGHT + 3)
    ctx.fillStyle = ink.accent
    ctx.fillRect(x, y, 2, Math.min(stagesHeight(rank, lanes), 16))
    ctx.beginPath()
    ctx.moveTo(x + 2, y + 1)
    ctx.lineTo(x + 2 + FLAG_WIDTH, y + 1 + FLAG_HEIGHT / 2)
    ctx.lineTo(x + 2, y + 1 + FLAG_HEIGHT)
    ctx.fill()
  }
}
