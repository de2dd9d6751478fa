import { kindOfCode, NO_REQUEST, SEVERAL } from '../../../app/pages/windows.ts'
import { formatInt } from '../../drawing/format.ts'
import type { Pen } from '../../drawing/pen.ts'
import { CHARACTER, drawGrid, type Look } from './draw-grid.ts'
import { isWrong } from './facts.ts'
import { cellBox, pageBox } from './geometry.ts'
import type { Scene } from './scene.ts'
import { shadeOf } from './shade.ts'

/** The block table: requests by columns. */
export const drawTable = (ctx: Pen, scene: Scene): void => {
  const { cells, geometry: g, pages, mode } = scene
  drawTableHead(ctx, scene)
  if (cells === null || cells.params.perMark !== g.tableZoom.perMark) return
  const { params, data } = cells
  const slots = (pages.paging?.page ?? 1) * params.perMark
  const lookOf = (i: number): Look => {
    const kind = kindOfCode(data.kind[i] ?? 0)
    if (isWrong(kind)) return 'bad'
    switch (kind) {
      case 'full':
      case 'partial': {
        const request = params.requestFrom + Math.floor(i / data.marks)
        const shaded = { request, fill: (data.valid[i] ?? 0) / slots, taken: data.taken[i] ?? -1 }
        return shadeOf(shaded, mode, pages.summary.taken)
      }
      case 'listed':
        return 'plain'
      case 'unused':
        return 'free'
      case 'stale':
      case 'reserved':
        return kind
      default:
        return null
    }
  }
  const textOf = (i: number): string | null => {
    const page = data.page[i] ?? -1
    if (params.perMark > 1) return null
    return page >= 0 ? String(page) : kindOfCode(data.kind[i] ?? 0) === 'absent' ? null : '−1'
  }
  inBox(ctx, g.table, () =>
    drawGrid(
      ctx,
      {
        box: cellBox(params.requestFrom, params.columnFrom, g),
        mark: g.tableZoom,
        across: data.marks,
        down: data.requests,
        lookOf,
        textOf,
      },
      scene,
    ),
  )
  drawRequests(ctx, scene)
}

/** Draws with everything outside of a box cut off. */
export const inBox = (
  ctx: Pen,
  { x, y, width, height }: Scene['geometry']['table'],
  draw: () => void,
): void => {
  ctx.save()
  ctx.beginPath()
  ctx.rect(x, y, width, height)
  ctx.clip()
  draw()
  ctx.restore()
}

/** Numbers of columns above the table, as many as have room. */
const drawTableHead = (ctx: Pen, { geometry: g, ink, sizes }: Scene): void => {
  const y = g.table.y - 9
  ctx.fillStyle = ink.text2
  ctx.textAlign = 'right'
  ctx.fillText('request', g.table.x - 8, y)
  ctx.textAlign = 'left'
  const { perMark, width } = g.tableZoom
  const room = (String(sizes.columns).length + 2) * CHARACTER
  const every = niceEvery(room / width) * perMark
  const first = Math.ceil((g.scroll.markFrom * perMark) / every) * every
  const end = Math.min(sizes.columns, (g.scroll.markFrom + g.marks) * perMark)
  for (let column = first; column < end; column += every) {
    const { x } = cellBox(0, column, g)
    ctx.fillStyle = ink.line
    ctx.fillRect(x, g.table.y - 4, 1, 4)
    ctx.fillStyle = ink.text2
    ctx.fillText(formatInt(column), x + 1, y)
  }
}

/** 1, 2, 5, 10, 20, .. at least `least`. */
export const niceEvery = (least: number): number => {
  let step = 1
  while (step < least) step *= String(step).startsWith('2') ? 2.5 : 2
  return step
}

/** Numbers of requests beside the table; that of the selected one stands out. */
const drawRequests = (ctx: Pen, { geometry: g, ink, cells, request, pages }: Scene): void => {
  ctx.textAlign = 'right'
  const every = Math.max(1, Math.ceil(12 / g.tableZoom.height))
  for (let row = 0; row < (cells?.data.requests ?? 0); row++) {
    const number = (cells?.params.requestFrom ?? 0) + row
    const { y, height } = cellBox(number, 0, g)
    if (y < g.table.y || y + height > g.table.y + g.table.height + 1) continue
    const isSelected = number === request
    if (isSelected) {
      ctx.fillStyle = ink.accent
      ctx.fillRect(g.table.x - 4, y, 2, height - 1)
    }
    if (number % every !== 0 && !isSelected) continue
    ctx.fillStyle = isSelected ? ink.text0 : ink.text2
    const text = number < pages.summary.batch ? formatInt(number) : `pad ${formatInt(number)}`
    ctx.fillText(text, g.table.x - 8, y + height / 2)
  }
}

/** The pool, line by line. */
export const drawPool = (ctx: Pen, scene: Scene): void => {
  const { pool, geometry: g, pages, mode, sizes } = scene
  drawPoolLabels(ctx, scene)
  // An answer for another zoom, or other lines, is not laid out anew.
  if (pool === null || pool.params.perMark !== g.poolZoom.perMark) return
  if (pool.params.from % (g.perLine * g.poolZoom.perMark) !== 0) return
  const { params, data } = pool
  const slots = (pages.paging?.page ?? 1) * params.perMark
  const perLine = g.perLine
  const first = pageBox(params.from, g)
  const lookOf = (i: number): Look => {
    if (params.from + i * params.perMark >= sizes.pages) return null
    const request = data.request[i] ?? NO_REQUEST
    const kind = kindOfCode(data.kind[i] ?? 0)
    if (isWrong(kind)) return 'bad'
    if (request === NO_REQUEST) return 'free'
    if (kind === 'reserved') return 'reserved'
    if (kind === 'listed') return 'plain'
    const fill = params.perMark === 1 ? (data.valid[i] ?? 0) / slots : (data.used[i] ?? 1) / params.perMark
    // Of several owners none has a shade, and how many of the pages are in use is told.
    const shown = request === SEVERAL && mode === 'owner' ? 'fill' : mode
    return shadeOf({ request, fill, taken: data.taken[i] ?? -1 }, shown, pages.summary.taken)
  }
  const textOf = (i: number): string | null => {
    const request = data.request[i] ?? NO_REQUEST
    if (params.perMark > 1 || request < 0) return null
    if (isWrong(kindOfCode(data.kind[i] ?? 0))) return request === SEVERAL ? '×2' : String(request)
    if (mode === 'fill') return String(data.valid[i] ?? 0)
    return mode === 'age' ? ((data.taken[i] ?? -1) < 0 ? null : String(data.taken[i])) : String(request)
  }
  inBox(ctx, { ...g.pool, width: perLine * g.poolZoom.width }, () =>
    drawGrid(
      ctx,
      {
        box: { ...first, x: g.pool.x },
        mark: g.poolZoom,
        across: perLine,
        down: Math.ceil(data.request.length / perLine),
        lookOf,
        textOf,
      },
      scene,
    ),
  )
}

/** What the pool is, and the first page of lines that have room for its number. */
const drawPoolLabels = (ctx: Pen, { geometry: g, ink, sizes, pages }: Scene): void => {
  const { poolPages, usedPages } = pages.summary
  ctx.textAlign = 'left'
  ctx.fillStyle = ink.text2
  const size = poolPages === null ? 'pool of unknown size' : `pool of ${formatInt(poolPages)} pages`
  const each = g.poolZoom.perMark === 1 ? '' : `, ${formatInt(g.poolZoom.perMark)} a mark`
  ctx.fillText(`${size}, ${formatInt(usedPages)} in use${each}`, g.pool.x, g.pool.y - 9)
  ctx.textAlign = 'right'
  const every = Math.max(1, Math.ceil(14 / g.poolZoom.height))
  for (let row = 0; row < g.lines; row++) {
    const line = g.scroll.lineFrom + row
    const page = line * g.perLine * g.poolZoom.perMark
    if (line % every !== 0 || page >= sizes.pages) continue
    ctx.fillText(formatInt(page), g.pool.x - 6, g.pool.y + (row + 0.5) * g.poolZoom.height)
  }
}
