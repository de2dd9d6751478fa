import { MAX_PAGE_MARKS } from '../../../app/protocol/store.ts'

export interface Point {
  readonly x: number
  readonly y: number
}

export interface Box extends Point {
  readonly width: number
  readonly height: number
}

/** Size of a mark, and how many cells or pages it stands for. */
export interface Zoom {
  readonly width: number
  readonly height: number
  readonly perMark: number
}

/** What is scrolled to. */
export interface Scroll {
  readonly requestFrom: number
  readonly markFrom: number
  readonly lineFrom: number
}

/** What there is to lay out. */
export interface Sizes {
  readonly requests: number
  /** Columns of the widest request. */
  readonly columns: number
  /** Pages of the pool. */
  readonly pages: number
}

/** Places of everything in the picture: block table left, pool right, one page below. All in pixels. */
export interface Geometry {
  readonly width: number
  readonly height: number
  readonly table: Box
  readonly pool: Box
  readonly page: Box
  readonly tableZoom: Zoom
  readonly poolZoom: Zoom
  /** Numbers of these zooms. */
  readonly tableStep: number
  readonly poolStep: number
  /** Rows and marks of the table that are in view. */
  readonly rows: number
  readonly marks: number
  /** Pages of one line of the pool, and lines in view. */
  readonly perLine: number
  readonly lines: number
  /** Within what there is. */
  readonly scroll: Scroll
}

const CELL_WIDTHS = [3, 4, 6, 8, 11, 14, 18, 22, 28, 36, 46, 58, 72] as const
const PAGE_SIZES = [
  [3, 3],
  [4, 4],
  [6, 6],
  [8, 8],
  [11, 11],
  [14, 14],
  [20, 16],
  [28, 18],
  [38, 22],
  [48, 26],
  [60, 32],
  [72, 38],
] as const

const LABEL = 62
const HEAD = 22
const GAP = 44
const LEAST_ROW = 9
const MOST_ROW = 40
/** Of the height the page below gets this share, within bounds. */
const PAGE_SHARE = 0.17
const LEAST_PAGE = 104
const MOST_PAGE = 190

/** How many cells or pages a mark stands for: 1, and below zoom 0 one after the other 2, 3, 4, 6, 8, 12, 16, .. */
const perMarkOf = (zoom: number): number => {
  if (zoom >= 0) return 1
  return zoom % 2 === 0 ? 3 * 2 ** (-zoom / 2 - 1) : 2 ** ((1 - zoom) / 2)
}

const tableZoomOf = (zoom: number, row: number): Zoom =>
  zoom >= 0
    ? { width: CELL_WIDTHS[Math.min(zoom, CELL_WIDTHS.length - 1)] ?? 3, height: row, perMark: 1 }
    : { width: CELL_WIDTHS[0], height: row, perMark: perMarkOf(zoom) }

const poolZoomOf = (zoom: number): Zoom => {
  const [width, height] = PAGE_SIZES[Math.min(Math.max(zoom, 0), PAGE_SIZES.length - 1)] ?? PAGE_SIZES[0]
  return { width, height, perMark: perMarkOf(zoom) }
}

export const MOST_TABLE_ZOOM = CELL_WIDTHS.length - 1
/** A mark stands for 2^31 there. */
const LEAST_ZOOM = -61
export const MOST_POOL_ZOOM = PAGE_SIZES.length - 1

const perLineOf = (width: number, { width: mark }: Zoom): number => {
  const most = Math.max(1, Math.floor(width / mark))
  // Lines begin with round numbers where that costs little.
  return most >= 80 ? most - (most % 20) : most >= 20 ? most - (most % 10) : most
}

/** The largest zoom at which all columns are in view. */
export const fittedTable = (columns: number, width: number): number => {
  const fits = (zoom: number): boolean => {
    const { width: mark, perMark } = tableZoomOf(zoom, 1)
    return Math.ceil(columns / perMark) * mark <= width
  }
  for (let zoom = MOST_TABLE_ZOOM; zoom > LEAST_ZOOM; zoom--) if (fits(zoom)) return zoom
  return LEAST_ZOOM
}

/** The largest zoom at which all pages are in view. */
export const fittedPool = (pages: number, width: number, height: number): number => {
  const fits = (zoom: number): boolean => {
    const marks = poolZoomOf(zoom)
    const lines = Math.ceil(pages / marks.perMark / perLineOf(width, marks))
    return lines * marks.height <= height && lines * perLineOf(width, marks) <= MAX_PAGE_MARKS
  }
  for (let zoom = MOST_POOL_ZOOM; zoom > LEAST_ZOOM; zoom--) if (fits(zoom)) return zoom
  return LEAST_ZOOM
}

const within = (value: number, most: number): number =>
  Math.min(Math.max(0, Math.floor(value)), Math.max(0, most))

export const geometryOf = (
  width: number,
  height: number,
  sizes: Sizes,
  zooms: { readonly tableZoom: number | null; readonly poolZoom: number | null },
  scroll: Scroll,
): Geometry => {
  const middle = Math.round(width * 0.48)
  const pageHeight = Math.round(Math.min(MOST_PAGE, Math.max(LEAST_PAGE, height * PAGE_SHARE)))
  const plotHeight = Math.max(40, height - HEAD - pageHeight - 8)
  const table = { x: LABEL, y: HEAD, width: Math.max(40, middle - GAP / 2 - LABEL), height: plotHeight }
  const poolLeft = middle + GAP / 2 + LABEL - 12
  const pool = { x: poolLeft, y: HEAD, width: Math.max(40, width - poolLeft - 10), height: plotHeight }
  const page = {
    x: LABEL,
    y: HEAD + plotHeight + 8,
    width: Math.max(40, width - LABEL - 10),
    height: pageHeight,
  }
  const row = Math.min(MOST_ROW, Math.max(LEAST_ROW, Math.floor(plotHeight / Math.max(1, sizes.requests))))
  const tableStep = zooms.tableZoom ?? fittedTable(sizes.columns, table.width)
  const poolStep = zooms.poolZoom ?? fittedPool(sizes.pages, pool.width, pool.height)
  const tableZoom = tableZoomOf(tableStep, row)
  const poolZoom = poolZoomOf(poolStep)
  const marks = Math.max(1, Math.floor(table.width / tableZoom.width))
  const rows = Math.max(1, Math.floor(Math.min(plotHeight / row, MAX_PAGE_MARKS / marks)))
  const perLine = perLineOf(pool.width, poolZoom)
  const lines = Math.max(1, Math.floor(Math.min(plotHeight / poolZoom.height, MAX_PAGE_MARKS / perLine)))
  const allMarks = Math.ceil(sizes.columns / tableZoom.perMark)
  const allLines = Math.ceil(sizes.pages / poolZoom.perMark / perLine)
  return {
    width,
    height,
    table,
    pool,
    page,
    tableZoom,
    poolZoom,
    tableStep,
    poolStep,
    rows: Math.min(rows, Math.max(1, sizes.requests)),
    marks: Math.min(marks, Math.max(1, allMarks)),
    perLine,
    lines: Math.min(lines, Math.max(1, allLines)),
    scroll: {
      requestFrom: within(scroll.requestFrom, sizes.requests - rows),
      markFrom: within(scroll.markFrom, allMarks - marks),
      lineFrom: within(scroll.lineFrom, allLines - lines),
    },
  }
}

/** Box of a cell of the table, also where it is out of view. */
export const cellBox = (request: number, column: number, g: Geometry): Box => ({
  x: g.table.x + (Math.floor(column / g.tableZoom.perMark) - g.scroll.markFrom) * g.tableZoom.width,
  y: g.table.y + (request - g.scroll.requestFrom) * g.tableZoom.height,
  width: g.tableZoom.width,
  height: g.tableZoom.height,
})

/** Box of a page of the pool, also where it is out of view. */
export const pageBox = (page: number, g: Geometry): Box => {
  const mark = Math.floor(page / g.poolZoom.perMark)
  return {
    x: g.pool.x + (mark % g.perLine) * g.poolZoom.width,
    y: g.pool.y + (Math.floor(mark / g.perLine) - g.scroll.lineFrom) * g.poolZoom.height,
    width: g.poolZoom.width,
    height: g.poolZoom.height,
  }
}

/** The box moved to the nearest place within `frame`; `is` says whether it had to be. */
export const broughtIn = (box: Box, frame: Box): { readonly box: Box; readonly moved: boolean } => {
  const x = Math.min(Math.max(box.x, frame.x), frame.x + frame.width - box.width)
  const y = Math.min(Math.max(box.y, frame.y), frame.y + frame.height - box.height)
  return { box: { ...box, x, y }, moved: x !== box.x || y !== box.y }
}

export type Hit =
  | { readonly kind: 'cell'; readonly request: number; readonly column: number }
  | { readonly kind: 'request'; readonly request: number }
  | { readonly kind: 'page'; readonly page: number }
  | { readonly kind: 'slot'; readonly share: number }
  | { readonly kind: 'nothing' }

export const NOTHING: Hit = { kind: 'nothing' }

const inside = ({ x, y }: Point, box: Box): boolean =>
  x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height

/** Zooms and scroll after the table is zoomed by steps; its first column stays. */
export const zoomedTable = (
  g: Geometry,
  sizes: Sizes,
  by: number,
): { tableZoom: number; markFrom: number } => {
  const least = Math.min(fittedTable(sizes.columns, g.table.width), 0)
  const tableZoom = Math.min(MOST_TABLE_ZOOM, Math.max(least, g.tableStep + by))
  const column = g.scroll.markFrom * g.tableZoom.perMark
  return { tableZoom, markFrom: Math.floor(column / tableZoomOf(tableZoom, 1).perMark) }
}

/** The same of the pool; its first page stays in the first line. */
export const zoomedPool = (g: Geometry, sizes: Sizes, by: number): { poolZoom: number; lineFrom: number } => {
  const least = Math.min(fittedPool(sizes.pages, g.pool.width, g.pool.height), 0)
  const poolZoom = Math.min(MOST_POOL_ZOOM, Math.max(least, g.poolStep + by))
  const page = g.scroll.lineFrom * g.perLine * g.poolZoom.perMark
  const zoom = poolZoomOf(poolZoom)
  return { poolZoom, lineFrom: Math.floor(page / zoom.perMark / perLineOf(g.pool.width, zoom)) }
}

/** What lies under a point: of marks that stand for several, the first. */
export const hitAt = (point: Point, g: Geometry, sizes: Sizes): Hit => {
  const { table, pool, page, scroll } = g
  const request = scroll.requestFrom + Math.floor((point.y - table.y) / g.tableZoom.height)
  if (point.y >= table.y && point.y < table.y + table.height && request < sizes.requests) {
    if (point.x < table.x) return { kind: 'request', request }
    const mark = scroll.markFrom + Math.floor((point.x - table.x) / g.tableZoom.width)
    const column = mark * g.tableZoom.perMark
    if (point.x < table.x + table.width && column < sizes.columns) return { kind: 'cell', request, column }
  }
  if (inside(point, { ...pool, width: g.perLine * g.poolZoom.width })) {
    const line = scroll.lineFrom + Math.floor((point.y - pool.y) / g.poolZoom.height)
    const mark = line * g.perLine + Math.floor((point.x - pool.x) / g.poolZoom.width)
    const first = mark * g.poolZoom.perMark
    return first < sizes.pages ? { kind: 'page', page: first } : NOTHING
  }
  const slots = slotsBox(page)
  return inside(point, slots) ? { kind: 'slot', share: (point.x - slots.x) / slots.width } : NOTHING
}

/** Within the page below: the tokens of the virtual page, and the slots of the physical one. */
export const tokensBox = (page: Box): Box => ({ ...page, y: page.y + 20, height: (page.height - 58) * 0.43 })
export const slotsBox = (page: Box): Box => ({
  ...page,
  y: page.y + 42 + (page.height - 58) * 0.43,
  height: (page.height - 58) * 0.57,
})

/** The scroll that brings a cell into view, and a page where there is one. */
export const revealed = (
  {
    request,
    column,
    page,
  }: { readonly request: number; readonly column: number; readonly page: number | null },
  g: Geometry,
): Scroll => {
  const near = (at: number, from: number, shown: number): number =>
    at < from ? at : at >= from + shown ? at - shown + 1 : from
  const line = page === null ? null : Math.floor(page / g.poolZoom.perMark / g.perLine)
  return {
    requestFrom: near(request, g.scroll.requestFrom, g.rows),
    markFrom: near(Math.floor(column / g.tableZoom.perMark), g.scroll.markFrom, g.marks),
    lineFrom: line === null ? g.scroll.lineFrom : near(line, g.scroll.lineFrom, g.lines),
  }
}
