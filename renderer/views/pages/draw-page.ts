import { localIndex, owner } from '../../../app/dcp/ownership.ts'
import { columnOf, pageOffset, tokenAt } from '../../../app/dcp/pages.ts'
import type { Paging } from '../../../app/dcp/types.ts'
import { formatInt } from '../../drawing/format.ts'
import type { Pen } from '../../drawing/pen.ts'
import { rankInk } from '../../theme/colours.ts'
import { CHARACTER } from './draw-grid.ts'
import { type Cell, isLive, KIND_WORDS, keyAt, slotText } from './facts.ts'
import { type Box, slotsBox, tokensBox } from './geometry.ts'
import { type PageTokens, tokensOfColumn } from './page-tokens.ts'
import type { Scene } from './scene.ts'
import { pagingFor } from './use-pages.ts'

/** The virtual page of a cell with its tokens by rank, and below it the physical page with its slots. */
export const drawPage = (ctx: Pen, scene: Scene): void => {
  const { detail, geometry: g, ink, pages } = scene
  ctx.fillStyle = ink.line
  ctx.fillRect(0, g.page.y - 4, g.width, 1)
  ctx.textAlign = 'left'
  const paging = detail === null ? null : pagingFor(pages, detail.request)
  if (detail === null || paging === null) {
    ctx.fillStyle = ink.text2
    const text =
      pages.paging === null
        ? 'No page size is known, so pages cannot be drawn slot by slot.'
        : 'Point at a cell or a page, or select one, to see its tokens and slots.'
    ctx.fillText(text, g.page.x, g.page.y + 20)
    return
  }
  const tokens = tokensOfColumn(detail.column, paging)
  drawVirtual(ctx, detail, paging, tokens, scene)
  drawPhysical(ctx, detail, paging, scene)
  for (const [token, colour] of [
    [scene.token, ink.accent],
    [scene.hoveredToken, ink.text0],
  ] as const)
    if (token !== null) drawToken(ctx, token, detail, paging, tokens, scene, colour)
}

const lengthOf = ({ globalLen }: Cell): number =>
  Number.isNaN(globalLen) ? Number.POSITIVE_INFINITY : globalLen

const label = (ctx: Pen, text: string, box: Box, scene: Scene): void => {
  ctx.fillStyle = scene.ink.text2
  ctx.textAlign = 'left'
  ctx.fillText(text, box.x, box.y - 9)
}

/** The tokens of the virtual page by rank: of runs that are too narrow the ranks are drawn one below the other. */
const drawVirtual = (ctx: Pen, detail: Cell, paging: Paging, tokens: PageTokens, scene: Scene): void => {
  const { paint, geometry: g, ink } = scene
  const box = tokensBox(g.page)
  const filled = filledOf(tokens, lengthOf(detail))
  const between = paging.prompt === undefined ? ' by rank' : ', those of two parts of the request, by rank'
  const range =
    filled === 0
      ? 'no token yet'
      : `tokens ${formatInt(tokens.at(0))} to ${formatInt(tokens.at(filled - 1))}${between}`
  label(
    ctx,
    `virtual page ${formatInt(detail.column)} of request ${formatInt(detail.request)}: ${range}`,
    box,
    scene,
  )
  ctx.fillStyle = ink.bg2
  ctx.fillRect(box.x, box.y, box.width, box.height)
  const each = box.width / tokens.count
  if (paging.interleave * each < 1.5) {
    const height = box.height / paging.dcp
    for (let rank = 0; rank < paging.dcp; rank++)
      paint(rank, box.x, box.y + rank * height, filled * each, height)
    return
  }
  for (let at = 0; at < filled; ) {
    const rank = owner(tokens.at(at), paging)
    let end = at + 1
    while (end < filled && end - at < paging.interleave && owner(tokens.at(end), paging) === rank) end++
    const width = (end - at) * each
    paint(rank, box.x + at * each, box.y, width > 4 ? width - 0.5 : width, box.height)
    at = end
  }
}

/** How many of the tokens a request of `length` tokens has: they are in order. */
const filledOf = ({ count, at }: PageTokens, length: number): number => {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (at(middle) < length) low = middle + 1
    else high = middle
  }
  return low
}

/** Slots of the physical page: in the colour of the rank where they hold keys. */
const drawPhysical = (ctx: Pen, detail: Cell, paging: Paging, scene: Scene): void => {
  const { paint, geometry: g, ink, theme } = scene
  const box = slotsBox(g.page)
  const { rank, page, valid, column, kind } = detail
  const width = box.width / paging.page
  const where = page < 0 ? 'no physical page' : `physical page ${formatInt(page)}, rank ${rank}`
  const slots =
    page < 0 ? '' : `, slots ${formatInt(page * paging.page)} to ${formatInt((page + 1) * paging.page - 1)}`
  label(
    ctx,
    `${where}: ${KIND_WORDS[kind]}, ${formatInt(valid)} of ${formatInt(paging.page)} keys${slots}`,
    box,
    scene,
  )
  ctx.fillStyle = ink.bg2
  ctx.fillRect(box.x, box.y, box.width, box.height)
  if (!isLive(kind) || page < 0) return
  if (width < 3) {
    if (valid > 0) paint(rank, box.x, box.y, valid * width, box.height)
  } else
    for (let offset = 0; offset < valid; offset++)
      paint(rank, box.x + offset * width, box.y, width - 1, box.height)
  const widest = String(Math.max(0, lengthOf(detail) - 1)).length * CHARACTER
  if (Number.isFinite(widest) && width > widest + 2) {
    ctx.fillStyle = rankInk(rank, theme)
    ctx.textAlign = 'center'
    for (let offset = 0; offset < valid; offset++)
      ctx.fillText(
        String(keyAt(detail, offset, paging) ?? '?'),
        box.x + (offset + 0.5) * width,
        box.y + box.height / 2 + 0.5,
      )
  }
  for (let offset = 0; offset < valid; offset++)
    if (tokenAt(rank, column, offset, paging) >= lengthOf(detail)) {
      ctx.strokeStyle = ink.bad
      ctx.lineWidth = 2
      ctx.strokeRect(box.x + offset * width, box.y, Math.max(2, width - 1), box.height)
    }
  drawNewest(ctx, detail, paging, box, scene)
}

/** The newest token in its slot, with the slot's number below. */
const drawNewest = (ctx: Pen, detail: Cell, paging: Paging, box: Box, { ink }: Scene): void => {
  const { newest, column, rank, newestSlot, writtenSlot } = detail
  if (newest < 0 || columnOf(newest, paging) !== column) return
  const holder = owner(newest, paging)
  ctx.fillStyle = ink.accent
  if (holder !== rank) {
    ctx.textAlign = 'left'
    const written = writtenSlot >= 0 ? `, but it was written to ${formatInt(writtenSlot)}` : ''
    ctx.fillText(
      `newest token ${formatInt(newest)} is on rank ${holder}: slot −1 here${written}`,
      box.x,
      box.y + box.height + 9,
    )
    return
  }
  const x = box.x + ((pageOffset(newest, paging) + 0.5) * box.width) / paging.page
  ctx.beginPath()
  ctx.moveTo(x, box.y + box.height + 1)
  ctx.lineTo(x - 4, box.y + box.height + 7)
  ctx.lineTo(x + 4, box.y + box.height + 7)
  ctx.fill()
  const text = `newest token ${formatInt(newest)}, slot ${slotText(newestSlot)}`
  const right = x + 8 + text.length * CHARACTER > box.x + box.width
  ctx.textAlign = right ? 'right' : 'left'
  ctx.fillText(text, right ? x - 8 : x + 8, box.y + box.height + 9)
}

/** A token of the virtual page, joined with its slot where the shown rank holds it. */
const drawToken = (
  ctx: Pen,
  token: number,
  { rank }: Cell,
  paging: Paging,
  tokens: PageTokens,
  { geometry: g, ink }: Scene,
  colour: string,
): void => {
  const place = tokens.placeOf(token)
  if (place === null) return
  const above = tokensBox(g.page)
  const below = slotsBox(g.page)
  const x = above.x + ((place + 0.5) * above.width) / tokens.count
  const mark = (left: number, box: Box, width: number): void => {
    ctx.strokeStyle = ink.bg1
    ctx.lineWidth = 4
    ctx.strokeRect(left - width / 2, box.y, width, box.height)
    ctx.strokeStyle = colour
    ctx.lineWidth = 2
    ctx.strokeRect(left - width / 2, box.y, width, box.height)
  }
  mark(x, above, Math.max(3, above.width / tokens.count))
  if (owner(token, paging) !== rank) return
  const offset = localIndex(token, paging) % paging.page
  const to = below.x + ((offset + 0.5) * below.width) / paging.page
  ctx.strokeStyle = colour
  ctx.lineWidth = 1.5
  ctx.beginPath()
  ctx.moveTo(x, above.y + above.height)
  ctx.lineTo(to, below.y)
  ctx.stroke()
  mark(to, below, Math.max(3, below.width / paging.page))
}
