import { owner } from '../../../app/dcp/ownership.ts'
import type { Paging } from '../../../app/dcp/types.ts'
import { formatInt } from '../../drawing/format.ts'
import { strokeWithHalo } from '../../drawing/halo.ts'
import { type Ink, inkOf } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { rankPathPainter } from '../../drawing/rank-fill.ts'
import { rankColour, rankInk, type Theme } from '../../theme/colours.ts'
import { fits } from './draw-strip.ts'
import { type Arc, angleOf, arcsOf, isShown, type Ring, radiusOf, ringTexts, turnOf } from './ring.ts'

export interface RingPicture {
  readonly ring: Ring
  readonly len: number
  readonly paging: Paging
  readonly hovered: number | null
  readonly selected: number | null
  readonly rank: number | null
}

interface Scene extends RingPicture {
  readonly ink: Ink
  readonly theme: Theme
}

/** Pixels along a turn from which a token has borders of its own. */
const TOKEN_BORDER = 6
/** Pixels of a turn that hold a line of text. */
const NUMBER_PITCH = 14
/** Numbers of ranks stand this far outside, in boxes of this size. */
const LABEL = { gap: 10, width: 20, height: 16 } as const

/** Where the hand begins, as part of the radius of the hole. */
const HAND = 0.76

/** Draws the ring of a request; work grows with pixels, not with tokens. */
export const drawRing = (
  ctx: Pen,
  width: number,
  height: number,
  theme: Theme,
  picture: RingPicture,
): void => {
  const ink = inkOf()
  const scene: Scene = { ...picture, ink, theme }
  ctx.fillStyle = ink.bg1
  ctx.fillRect(0, 0, width, height)
  ctx.font = `11px ${ink.mono}`
  ctx.textBaseline = 'middle'
  drawHidden(ctx, scene)
  const arcs = arcsOf(picture.ring, picture.len, picture.paging)
  const paint = rankPathPainter(ctx, theme)
  for (const arc of arcs) drawArc(ctx, arc, scene, paint)
  drawPages(ctx, arcs, scene)
  for (const arc of arcs) drawNumbers(ctx, arc, scene)
  drawRanks(ctx, scene)
  drawMarks(ctx, scene)
  drawWords(ctx, scene)
  ctx.fillStyle = ink.text2
  ctx.textAlign = 'left'
  for (const [i, text] of ringTexts(picture.ring, picture.paging).entries())
    ctx.fillText(text, 12, height - 28 + 16 * i)
}

/** A part of a ring between two radii and two angles, as the current path. */
const trace = (ctx: Pen, { centre }: Ring, inner: number, outer: number, from: number, to: number): void => {
  ctx.arc(centre.x, centre.y, outer, from, to)
  ctx.arc(centre.x, centre.y, inner, to, from, true)
  ctx.closePath()
}

/** Angles of places `from` to `to` of a turn. */
const anglesOf = (from: number, to: number, paging: Paging): [number, number] => [
  angleOf(from, paging),
  angleOf(to, paging),
]

/** Bands of the ranks for the turns inside and outside of those that are drawn one by one. */
const drawHidden = (ctx: Pen, { ring, paging, theme }: Scene): void => {
  const { first, count, total, inner, outer } = ring
  const bands: [boolean, number, number][] = [
    [first > 0, inner - 7, inner - 2],
    [first + count < total, outer + 2, outer + 7],
  ]
  for (const [isThere, from, to] of bands) {
    if (!isThere) continue
    for (let rank = 0; rank < paging.dcp; rank++) {
      ctx.beginPath()
      trace(
        ctx,
        ring,
        from,
        to,
        ...anglesOf(rank * paging.interleave, (rank + 1) * paging.interleave, paging),
      )
      ctx.fillStyle = rankColour(rank, theme)
      ctx.fill()
    }
  }
}

const drawArc = (ctx: Pen, arc: Arc, scene: Scene, paint: (rank: number) => void): void => {
  const { ring, paging } = scene
  const inner = radiusOf(arc.turn, ring)
  const gap = ring.pitch >= 5 ? 1 : 0
  const outer = inner + ring.pitch - gap
  const [from, to] = anglesOf(arc.from, arc.to, paging)
  ctx.beginPath()
  trace(ctx, ring, inner, outer, from, to)
  paint(arc.rank)
  if (tokenWidth(arc, ring, paging) >= TOKEN_BORDER) drawBorders(ctx, arc, scene, inner, outer)
}

/** Pixels of a token along the middle of its turn. */
const tokenWidth = ({ turn }: Arc, ring: Ring, paging: Paging): number =>
  (angleOf(1, paging) - angleOf(0, paging)) * (radiusOf(turn, ring) + ring.pitch / 2)

/** Borders between the tokens of an arc. */
const drawBorders = (
  ctx: Pen,
  arc: Arc,
  { ring, paging, ink }: Scene,
  inner: number,
  outer: number,
): void => {
  const { centre } = ring
  ctx.strokeStyle = ink.bg1
  ctx.lineWidth = 1
  ctx.beginPath()
  for (let place = arc.from; place < arc.to; place++) {
    const angle = angleOf(place, paging)
    ctx.moveTo(centre.x + inner * Math.cos(angle), centre.y + inner * Math.sin(angle))
    ctx.lineTo(centre.x + outer * Math.cos(angle), centre.y + outer * Math.sin(angle))
  }
  ctx.stroke()
}

/** Numbers of tokens along their turns, where there is room. */
const drawNumbers = (ctx: Pen, arc: Arc, { ring, paging, theme }: Scene): void => {
  const width = tokenWidth(arc, ring, paging)
  if (ring.pitch < NUMBER_PITCH || width < NUMBER_PITCH) return
  const middle = radiusOf(arc.turn, ring) + ring.pitch / 2
  ctx.fillStyle = rankInk(arc.rank, theme)
  ctx.textAlign = 'center'
  for (let place = arc.from; place < arc.to; place++) {
    const text = formatInt(arc.token + place - arc.from)
    if (!fits(text, width)) continue
    const angle = angleOf(place + 0.5, paging)
    ctx.save()
    ctx.translate(ring.centre.x + middle * Math.cos(angle), ring.centre.y + middle * Math.sin(angle))
    // Text of the lower half would stand on its head.
    ctx.rotate(angle + (Math.sin(angle) > 0 ? -1 : 1) * (Math.PI / 2))
    ctx.fillText(text, 0, 0)
    ctx.restore()
  }
}

/** A line where a page of a rank begins: around its inner side, or across it where the page begins within a turn. */
const drawPages = (ctx: Pen, arcs: readonly Arc[], { ring, paging, ink }: Scene): void => {
  const { centre, pitch } = ring
  ctx.strokeStyle = ink.text0
  ctx.lineWidth = 1.5
  for (const { turn, from, to, page } of arcs) {
    if (page === null) continue
    const inner = radiusOf(turn, ring)
    ctx.beginPath()
    if (page === from) ctx.arc(centre.x, centre.y, inner, ...anglesOf(from, to, paging))
    else {
      const angle = angleOf(page, paging)
      ctx.moveTo(centre.x + inner * Math.cos(angle), centre.y + inner * Math.sin(angle))
      ctx.lineTo(centre.x + (inner + pitch) * Math.cos(angle), centre.y + (inner + pitch) * Math.sin(angle))
    }
    ctx.stroke()
  }
}

/** The ranks' numbers outside of their sectors, as many as there is room for. */
const drawRanks = (ctx: Pen, { ring, paging, theme, rank: picked, ink }: Scene): void => {
  const { centre, outer } = ring
  const radius = outer + LABEL.gap + LABEL.width / 2
  const apart = (2 * Math.PI * radius) / paging.dcp
  const every = Math.max(1, Math.ceil((LABEL.width + 2) / apart))
  ctx.textAlign = 'center'
  for (let rank = 0; rank < paging.dcp; rank += every) {
    const angle = angleOf((rank + 0.5) * paging.interleave, paging)
    const [x, y] = [centre.x + radius * Math.cos(angle), centre.y + radius * Math.sin(angle)]
    ctx.fillStyle = rankColour(rank, theme)
    ctx.fillRect(x - LABEL.width / 2, y - LABEL.height / 2, LABEL.width, LABEL.height)
    if (rank === picked) {
      ctx.strokeStyle = ink.accent
      ctx.lineWidth = 2
      ctx.strokeRect(x - LABEL.width / 2 - 2, y - LABEL.height / 2 - 2, LABEL.width + 4, LABEL.height + 4)
    }
    ctx.fillStyle = rankInk(rank, theme)
    ctx.fillText(String(rank), x, y)
  }
}

const outlineToken = (ctx: Pen, token: number, scene: Scene, colour: string, width: number): void => {
  const { ring, paging, ink } = scene
  const { turn, place } = turnOf(token, paging)
  if (!isShown(turn, ring)) return
  const inner = radiusOf(turn, ring)
  strokeWithHalo(ctx, ink, colour, width, () =>
    trace(ctx, ring, inner, inner + ring.pitch, ...anglesOf(place, place + 1, paging)),
  )
}

/** A hand that points at the newest token, and outlines of what is selected and pointed at. */
const drawMarks = (ctx: Pen, scene: Scene): void => {
  const { ring, paging, len, ink, hovered, selected } = scene
  if (len > 0) {
    const { centre } = ring
    const angle = angleOf(turnOf(len - 1, paging).place + 0.5, paging)
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
    strokeWithHalo(ctx, ink, ink.accent, 1.5, () => {
      ctx.moveTo(centre.x + ring.inner * HAND * cos, centre.y + ring.inner * HAND * sin)
      ctx.lineTo(centre.x + ring.inner * cos, centre.y + ring.inner * sin)
    })
    outlineToken(ctx, len - 1, scene, ink.accent, 1)
  }
  if (selected !== null) outlineToken(ctx, selected, scene, ink.accent, 2)
  if (hovered !== null && hovered !== selected) outlineToken(ctx, hovered, scene, ink.text0, 1.5)
}

/** How long the request is, and whose turn it was, in the middle. */
const drawWords = (ctx: Pen, { ring, len, paging, ink }: Scene): void => {
  const { centre, inner } = ring
  const words = [
    `${formatInt(len)} tokens`,
    len === 0 ? 'none yet' : `newest on rank ${owner(len - 1, paging)}`,
  ]
  // The hand reaches into the hole.
  if (!words.every((text) => fits(text, 2 * HAND * inner))) return
  ctx.textAlign = 'center'
  for (const [i, text] of words.entries()) {
    ctx.fillStyle = i === 0 ? ink.text0 : ink.text2
    ctx.fillText(text, centre.x, centre.y - 8 + 16 * i)
  }
}
