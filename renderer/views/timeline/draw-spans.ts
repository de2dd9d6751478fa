import { STAGES, type Stage } from '../../../app/trace/stages.ts'
import { stageColour, stageHatched, stageInk, type Theme } from '../../theme/colours.ts'
import { type Lanes, laneTop } from './lanes.ts'
import { type TimeRange, xOfTime } from './range.ts'
import type { Scene } from './scene.ts'
import { firstOfRank, type TilePiece } from './tiles.ts'

const DIMMED = 0.12
/** Room beside a label; narrower spans stay without. */
const LABEL_PAD = 5
const MIN_LABEL_WIDTH = 26

interface Label {
  readonly text: string
  readonly x: number
  readonly width: number
  readonly y: number
  readonly stage: Stage
}

/** Rectangles of one stage, so that the colour is set once. */
type Rects = number[]

/** Diagonal lines that mean waiting, in the given ink. */
export const hatchPattern = (ctx: CanvasRenderingContext2D, ink: string): CanvasPattern | null => {
  const tile = document.createElement('canvas')
  tile.width = 6
  tile.height = 6
  const pen = tile.getContext('2d')
  if (pen === null) return null
  pen.strokeStyle = ink
  pen.lineWidth = 1.2
  pen.beginPath()
  for (const shift of [-6, 0, 6]) {
    pen.moveTo(shift, 6)
    pen.lineTo(shift + 6, 0)
  }
  pen.stroke()
  return ctx.createPattern(tile, 'repeat')
}

/** Draws the spans of all visible lanes into the plot (x from 0 to `width`). */
export const drawSpans = (
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  width: number,
  height: number,
  theme: Theme,
  font: string,
  hatchInk: string,
): void => {
  const byStage: Rects[] = STAGES.map(() => [])
  const waits: Rects = []
  const labels: Label[] = []
  for (const piece of scene.pieces) collect(piece, scene, width, height, byStage, waits, labels)
  byStage.forEach((rects, code) => {
    const stage = STAGES[code]
    if (stage === undefined || rects.length === 0) return
    ctx.globalAlpha = scene.dimmed.has(stage) ? DIMMED : 1
    ctx.fillStyle = stageColour(stage, theme)
    fill(ctx, rects)
    if (!stageHatched(stage)) return
    const hatch = hatchPattern(ctx, hatchInk)
    if (hatch === null) return
    ctx.fillStyle = hatch
    fill(ctx, rects)
  })
  ctx.globalAlpha = 1
  const hatch = waits.length === 0 ? null : hatchPattern(ctx, hatchInk)
  if (hatch !== null) {
    ctx.fillStyle = hatch
    fill(ctx, waits)
  }
  drawLabels(ctx, labels, theme, font)
}

const fill = (ctx: CanvasRenderingContext2D, rects: Rects): void => {
  for (let i = 0; i < rects.length; i += 4)
    ctx.fillRect(rects[i] ?? 0, rects[i + 1] ?? 0, rects[i + 2] ?? 0, rects[i + 3] ?? 0)
}

const collect = (
  { tile, range }: TilePiece,
  scene: Scene,
  width: number,
  height: number,
  byStage: readonly Rects[],
  waits: Rects,
  labels: Label[],
): void => {
  const { lanes } = scene
  const left = Math.max(0, xOfTime(range.startNs, scene.range, width))
  const right = Math.min(width, xOfTime(range.endNs, scene.range, width))
  if (right <= left) return
  for (let rank = 0; rank < lanes.ranks; rank++) {
    const top = laneTop(rank, lanes)
    if (top + lanes.laneHeight < lanes.rulerHeight || top > height) continue
    for (let i = firstOfRank(tile, rank); i < tile.rank.length && tile.rank[i] === rank; i++) {
      const start = tile.start[i] ?? 0
      const dur = tile.dur[i] ?? 0
      const from = Math.max(left, xOfTime(start, scene.range, width))
      const end = Math.min(right, xOfTime(start + dur, scene.range, width))
      if (end < left || from > right) continue
      const code = tile.stage[i] ?? 0
      const w = Math.min(Math.max(end - from, 0.75), right - from)
      const merged = (tile.count[i] ?? 1) > 1
      const h = merged ? lanes.laneHeight * busyShare(tile.busy[i] ?? 0, dur) : lanes.laneHeight
      byStage[code]?.push(from, top + lanes.laneHeight - h, w, h)
      const stage = STAGES[code]
      if (stage === undefined || scene.dimmed.has(stage)) continue
      const waited = Math.min(w, ((tile.wait[i] ?? 0) / Math.max(1, dur)) * (end - from))
      if (waited >= 1) waits.push(from, top + lanes.laneHeight - h, waited, h)
      if (!merged && w >= MIN_LABEL_WIDTH && lanes.laneHeight >= 16)
        labels.push({ text: stage, x: from, width: w, y: top + lanes.laneHeight / 2, stage })
    }
  }
}

/** Height of a merged item: the share of its time that is covered, never invisible. */
const busyShare = (busy: number, dur: number): number =>
  dur <= 0 ? 1 : Math.min(1, Math.max(0.08, busy / dur))

const drawLabels = (
  ctx: CanvasRenderingContext2D,
  labels: readonly Label[],
  theme: Theme,
  font: string,
): void => {
  ctx.font = font
  ctx.textBaseline = 'middle'
  ctx.textAlign = 'left'
  for (const label of labels) {
    const text = shortened(ctx, label.text, label.width - 2 * LABEL_PAD)
    if (text === '') continue
    ctx.fillStyle = stageInk(label.stage, theme)
    ctx.fillText(text, label.x + LABEL_PAD, label.y)
  }
}

/** As much of the text as fits, or nothing when too little would be left. */
const shortened = (ctx: CanvasRenderingContext2D, text: string, room: number): string => {
  if (ctx.measureText(text).width <= room) return text
  for (let keep = text.length - 1; keep >= 3; keep--) {
    const cut = `${text.slice(0, keep)}…`
    if (ctx.measureText(cut).width <= room) return cut
  }
  return ''
}

export const laneArea = (lanes: Lanes, rank: number, range: TimeRange, shown: TimeRange, width: number) => ({
  x: xOfTime(range.startNs, shown, width),
  y: laneTop(rank, lanes),
  width: Math.max(1, xOfTime(range.endNs, shown, width) - xOfTime(range.startNs, shown, width)),
  height: lanes.laneHeight,
})
