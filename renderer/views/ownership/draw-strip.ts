import { formatInt } from '../../drawing/format.ts'
import type { Pen } from '../../drawing/pen.ts'
import { rankInk } from '../../theme/colours.ts'
import { extentOf, type Geometry } from './geometry.ts'
import type { Scene } from './scene.ts'
import { type Band, detailText, type Run, stripOf } from './strip.ts'
import { ticksOf } from './ticks.ts'
import { positionAt, xOf } from './viewport.ts'

/** Width of a character of the 11 px monospace font, and the least room around a label. */
const CHARACTER = 6.7
const ROOM = 4

/** Room that a text takes. */
export const widthOf = (text: string): number => text.length * CHARACTER + ROOM

export const fits = (text: string, width: number): boolean => widthOf(text) <= width

export const drawRowLabel = (ctx: Pen, text: string, y: number, scene: Scene): void => {
  ctx.fillStyle = scene.ink.text2
  ctx.textAlign = 'right'
  ctx.fillText(text, scene.geometry.left - 8, y)
}

/** Thin bar of the whole request with the part that is on screen. */
export const drawOverview = (ctx: Pen, scene: Scene): void => {
  const { geometry, ink, view, len } = scene
  const { left, plotWidth, overview } = geometry
  const extent = extentOf(len, scene.paging)
  if (extent === 0) return
  const place = (token: number): number => left + (token / extent) * plotWidth
  ctx.fillStyle = ink.bg2
  ctx.fillRect(left, overview.top, place(len) - left, overview.height)
  const from = place(view.start)
  const to = place(Math.min(extent, positionAt(plotWidth, view)))
  ctx.fillStyle = ink.line
  ctx.fillRect(from, overview.top + 2, Math.max(2, to - from), overview.height - 4)
  if (scene.selected === null) return
  ctx.fillStyle = ink.accent
  ctx.fillRect(place(scene.selected) - 1, overview.top - 2, 2, overview.height + 4)
}

export const drawRuler = (ctx: Pen, scene: Scene): void => {
  const { geometry, ink, view, len } = scene
  const y = geometry.ruler.top + geometry.ruler.height / 2
  drawRowLabel(ctx, 'token', y, scene)
  ctx.textAlign = 'left'
  const end = Math.min(len, positionAt(geometry.plotWidth, view))
  for (const tick of ticksOf(Math.max(0, view.start), end, view.scale, 84)) {
    const x = geometry.left + xOf(tick, view)
    const text = formatInt(tick)
    ctx.fillStyle = ink.line
    ctx.fillRect(Math.round(x), geometry.ruler.top + 2, 1, geometry.ruler.height)
    ctx.fillStyle = ink.text2
    // A label that would be cut at the edge could be read as another number.
    if (x + 4 + ctx.measureText(text).width <= geometry.width) ctx.fillText(text, x + 4, y)
  }
}

const drawRun = (ctx: Pen, run: Run, scene: Scene, single: boolean): void => {
  const { geometry, paint, theme } = scene
  const { left, strip, plotWidth } = geometry
  const gap = run.width >= 5 ? 1 : 0
  const x = left + Math.max(run.x, -1)
  const right = left + Math.min(run.x + run.width - gap, plotWidth + 1)
  if (right <= x) return
  paint(run.rank, x, strip.top, right - x, strip.height)
  const name = String(run.rank)
  if (!fits(name, right - x)) return
  ctx.fillStyle = rankInk(run.rank, theme)
  ctx.textAlign = 'center'
  const token = formatInt(run.first)
  const both = single && fits(token, right - x)
  const middle = (x + right) / 2
  ctx.fillText(name, middle, strip.top + strip.height * (both ? 0.72 : 0.5))
  if (both) ctx.fillText(token, middle, strip.top + strip.height * 0.3)
}

/** Bands stand on whole pixels: half-covered edges would show as stripes that mean nothing. */
const drawBand = (band: Band, { geometry, paint }: Scene): void => {
  const { left, strip } = geometry
  const from = Math.round(left + band.x)
  const width = Math.max(1, Math.round(left + band.x + band.width) - from)
  let y = strip.top
  for (const [rank, share] of band.shares.entries()) {
    const height = (share / band.count) * strip.height
    if (height > 0) paint(rank, from, y, width, height)
    y += height
  }
}

/** Neighbours with equal shares as one band: they look the same, and there are few of them. */
const joined = (bands: readonly Band[]): Band[] => {
  const wide: Band[] = []
  for (const band of bands) {
    const last = wide.at(-1)
    const same = last?.shares.every((s, r) => s * band.count === (band.shares[r] ?? 0) * last.count) ?? false
    if (last === undefined || !same) wide.push(band)
    else
      wide[wide.length - 1] = {
        ...last,
        count: last.count + band.count,
        shares: last.shares.map((s, r) => s + (band.shares[r] ?? 0)),
        width: last.width + band.width,
      }
  }
  return wide
}

/** Tokens, runs of one owner, or shares of the ranks, as the zoom allows. */
export const drawStrip = (ctx: Pen, scene: Scene): void => {
  const { geometry, view, len, paging } = scene
  const strip = stripOf(view, geometry.plotWidth, len, paging)
  if (strip.kind === 'shares') for (const band of joined(strip.bands)) drawBand(band, scene)
  else for (const run of strip.runs) drawRun(ctx, run, scene, strip.kind === 'cells')
  ctx.fillStyle = scene.ink.text2
  ctx.textAlign = 'left'
  ctx.fillText(detailText(strip, paging), geometry.left, geometry.strip.top + geometry.strip.height + 11)
}

export const plotRight = (geometry: Geometry): number => geometry.left + geometry.plotWidth
