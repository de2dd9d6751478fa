import { type PointerEvent, useEffect, useMemo, useRef, useState } from 'react'
import { tokenAt } from '../../../app/dcp/pages.ts'
import { useSize } from '../../controls/use-size.ts'
import { useViewKeys } from '../../controls/use-view-keys.ts'
import { useCanvas } from '../../drawing/canvas.ts'
import { formatInt } from '../../drawing/format.ts'
import type { InspectorRow } from '../../shell/Inspector.tsx'
import { useSelection } from '../../state/selection.ts'
import { useAnswer } from '../../state/use-answer.ts'
import { useSettled } from '../../state/use-settled.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { drawPages } from './draw.ts'
import { type Cell, cellRows } from './facts.ts'
import {
  type Geometry,
  geometryOf,
  type Hit,
  hitAt,
  NOTHING,
  type Point,
  revealed,
  type Sizes,
  zoomedPool,
  zoomedTable,
} from './geometry.ts'
import { HoverCard } from './HoverCard.tsx'
import { useLook } from './look.ts'
import type { Joined } from './scene.ts'
import { pick, type SelectedCell, useCell } from './use-cell.ts'
import { type Pages, pagingFor } from './use-pages.ts'
import { useWheel } from './use-wheel.ts'
import { type CellsAnswer, cellIn, cellsWanted, poolMarkIn, poolWanted, sizesOf } from './windows.ts'

interface Props {
  readonly pages: Pages
  readonly selected: SelectedCell
}

/** Whose block table it is, at whatever step. */
const tableOf = ({ shown: { source } }: Pages): string =>
  `${'run' in source ? source.run : source.dump} ${source.rank}`

/** Block table, pool, and the page of one cell, joined by lines. */
export const PagesCanvas = ({ pages, selected }: Props) => {
  const frame = useRef<HTMLDivElement>(null)
  const { width, height } = useSize(frame)
  const look = useLook()
  const sizes = sizesOf(pages.summary)
  const geometry = geometryOf(width, height, sizes, look, look)
  const ready = width > 0
  const cellsAsked = useAnswer('pageCells', ready ? cellsWanted(pages, geometry) : null, pages.again)
  const poolAsked = useAnswer(
    'poolMarks',
    ready && sizes.pages > 0 ? poolWanted(pages, geometry) : null,
    pages.again,
  )
  const [cells, pool] = [cellsAsked.answer, poolAsked.answer]
  const drawn = useSettled(
    useMemo(() => ({ pages, cells, pool }), [pages, cells, pool]),
    !(cellsAsked.loading || poolAsked.loading),
    tableOf(pages),
  )
  const [pointer, setPointer] = useState<Point | null>(null)
  const hit = pointer === null ? NOTHING : hitAt(pointer, geometry, sizes)
  const hovered = useHovered(pages, hit, cells)
  const detail = hovered.cell ?? selected.cell
  const slotToken = tokenOfSlot(hit, detail, pages)
  useReveal(selected, geometry)
  const canvas = usePicture(drawn.pages, geometry, {
    sizes,
    cells: drawn.cells,
    pool: drawn.pool,
    selected: selected.place === null ? null : joinedOf(selected),
    hovered: hovered.joined,
    hoveredPage: hit.kind === 'page' ? hit.page : null,
    detail,
    hoveredToken: slotToken,
    request: selected.request,
  })
  useWheel(canvas, geometry, sizes)
  useZoomKeys(geometry, sizes, selected)

  const act = (what: Hit): void => {
    const { rank } = pages.shown
    switch (what.kind) {
      case 'cell':
        pick(rank, what)
        return
      case 'request':
        pick(rank, { request: what.request, column: 0 })
        return
      case 'page': {
        const [first] = hovered.joined
        if (first === undefined) useSelection.getState().select({ page: what.page, token: null })
        else pick(rank, first)
        return
      }
      case 'slot':
        if (slotToken !== null && detail !== null)
          useSelection.getState().select({ rank, request: detail.request, token: slotToken })
        return
      case 'nothing':
        return
    }
  }

  const pointOf = (event: PointerEvent<HTMLCanvasElement>): Point => {
    const box = event.currentTarget.getBoundingClientRect()
    return { x: event.clientX - box.left, y: event.clientY - box.top }
  }
  const rows = pointer === null ? [] : cardRows(hit, hovered, slotToken, pages, pool)
  return (
    <div className="pages-picture" ref={frame}>
      <canvas
        ref={canvas}
        className="pages-canvas"
        data-testid="pages-canvas"
        role="img"
        tabIndex={0}
        aria-label={`Block table of rank ${pages.shown.rank}, ${formatInt(sizes.requests)} requests by ${formatInt(sizes.columns)} columns, beside a pool of ${formatInt(sizes.pages)} pages; arrows move the selected cell, T shows tables`}
        onPointerMove={(event) => setPointer(pointOf(event))}
        onPointerLeave={() => setPointer(null)}
        onPointerDown={(event) => {
          if (event.button === 0) act(hitAt(pointOf(event), geometry, sizes))
        }}
      />
      {pointer === null || rows.length === 0 ? null : (
        <HoverCard at={pointer} width={width} height={height} rows={rows} />
      )}
    </div>
  )
}

const joinedOf = ({ place, cell }: SelectedCell): Joined | null =>
  place === null ? null : { ...place, page: cell?.page ?? -1, kind: cell?.kind ?? 'absent' }

interface Hovered {
  readonly cell: Cell | null
  readonly joined: readonly Joined[]
}

/** The cell under the pointer, or the cells whose page is. */
const useHovered = (pages: Pages, hit: Hit, cells: CellsAnswer | null): Hovered => {
  const { shown, again } = pages
  const users = useAnswer(
    'pageUsers',
    hit.kind === 'page' ? { source: shown.source, page: hit.page } : null,
    again,
  ).answer
  const joined: readonly Joined[] =
    hit.kind === 'page' && users?.params.page === hit.page
      ? users.data.users.map((user) => ({ ...user, page: hit.page }))
      : []
  const [first] = joined
  const place = hit.kind === 'cell' ? hit : (first ?? null)
  const seen =
    place === null || cells === null || cells.params.perMark > 1
      ? null
      : cellIn(cells, place.request, place.column)
  const asked = useCell(pages, seen === null ? place : null)
  const cell = seen ?? asked
  if (hit.kind !== 'cell') return { cell: hit.kind === 'page' ? cell : null, joined }
  return cell === null || cell.kind === 'absent' ? { cell: null, joined: [] } : { cell, joined: [cell] }
}

/** Token in the slot under the pointer; null where it holds none. */
const tokenOfSlot = (hit: Hit, detail: Cell | null, pages: Pages): number | null => {
  const paging = detail === null ? null : pagingFor(pages, detail.request)
  if (hit.kind !== 'slot' || detail === null || paging === null) return null
  const offset = Math.floor(hit.share * paging.page)
  return offset < detail.valid ? tokenAt(detail.rank, detail.column, offset, paging) : null
}

/** What the card says. */
const cardRows = (
  hit: Hit,
  { cell, joined }: Hovered,
  token: number | null,
  pages: Pages,
  pool: Parameters<typeof poolMarkIn>[0] | null,
): readonly InspectorRow[] => {
  if (hit.kind === 'slot' && token !== null) return [{ label: 'token', value: formatInt(token) }]
  if (hit.kind === 'page') {
    const mark = pool === null ? null : poolMarkIn(pool, hit.page)
    if (pool !== null && pool.params.perMark > 1 && mark !== null)
      return [
        {
          label: 'pages',
          value: `${formatInt(hit.page)} – ${formatInt(hit.page + pool.params.perMark - 1)}`,
        },
        { label: 'in use', value: formatInt(mark.used) },
        {
          label: 'request',
          value: mark.request === -1 ? 'none' : mark.request < 0 ? 'several' : formatInt(mark.request),
        },
      ]
    if (cell === null)
      return [
        { label: 'physical page', value: formatInt(hit.page) },
        { label: 'state', value: 'free' },
      ]
    const others = joined.length > 1 ? [{ label: 'cells that have it', value: formatInt(joined.length) }] : []
    return [...cellRows(cell, pagingFor(pages, cell.request)), ...others]
  }
  return cell === null ? [] : cellRows(cell, pagingFor(pages, cell.request))
}

/** Scrolls to the selected cell and its page when another one is selected. */
const useReveal = ({ place, cell }: SelectedCell, geometry: Geometry): void => {
  const key = place === null || cell === null ? '' : `${place.request} ${place.column} ${cell.page}`
  const latest = useRef(geometry)
  latest.current = geometry
  const isReady = geometry.width > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another cell is scrolled to
  useEffect(() => {
    if (place === null || cell === null || !isReady) return
    const page = cell.page < 0 ? null : cell.page
    useLook.getState().change(revealed({ ...place, page }, latest.current))
  }, [key, isReady])
}

const useZoomKeys = (geometry: Geometry, sizes: Sizes, { place, cell }: SelectedCell): void =>
  useViewKeys(({ code, shiftKey }) => {
    const { change } = useLook.getState()
    switch (code) {
      case 'KeyW':
      case 'KeyS': {
        const by = code === 'KeyW' ? 1 : -1
        change(shiftKey ? zoomedPool(geometry, sizes, by) : zoomedTable(geometry, sizes, by))
        return true
      }
      case 'Digit0':
      case 'Numpad0':
        change({ tableZoom: null, poolZoom: null })
        return true
      case 'KeyF':
        if (place !== null)
          change(revealed({ ...place, page: cell === null || cell.page < 0 ? null : cell.page }, geometry))
        return true
      default:
        return false
    }
  })

type Drawn = Omit<Parameters<typeof drawPages>[3], 'pages' | 'mode' | 'token'>

const usePicture = (pages: Pages, geometry: Geometry, drawn: Drawn) => {
  const theme = useTheme()
  const mode = useLook((s) => s.mode)
  const token = useSelection((s) => s.token)
  const { cells, pool, selected, hovered, hoveredPage, detail, hoveredToken, request } = drawn
  return useCanvas(
    (ctx) => drawPages(ctx, geometry, theme, { ...drawn, pages, mode, token }),
    [
      theme,
      mode,
      token,
      pages,
      JSON.stringify(geometry),
      cells,
      pool,
      JSON.stringify(selected),
      JSON.stringify(hovered),
      hoveredPage,
      detail,
      hoveredToken,
      request,
    ],
  )
}
