import { useMemo, useState } from 'react'
import { useCanvas } from '../../drawing/canvas.ts'
import { formatInt, formatValue } from '../../drawing/format.ts'
import { useSelection } from '../../state/selection.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { boxesOf, drawMaps, type MapScene } from './draw-maps.ts'
import { cellAt, coarseText, mapValue } from './map-layout.ts'
import { mapScale } from './map-scale.ts'
import { cellText, MEASURE_WORDS, measuresOf, type Place, pickOf, type RankPart, rankName } from './model.ts'
import { usePick } from './pick.ts'
import type { Shown } from './use-dump-view.ts'
import type { RankMaps } from './use-rank-maps.ts'

interface Props {
  readonly shown: Shown
  readonly tensor: string
  readonly maps: RankMaps
}

interface Hit {
  readonly part: RankPart
  readonly cell: Place
}

/** A map of the tensor on every rank, all on one scale; a click picks rank, row and column. */
export const Maps = ({ shown, tensor, maps }: Props) => {
  const theme = useTheme()
  const rank = useSelection((s) => s.rank)
  const select = useSelection((s) => s.select)
  const change = usePick((s) => s.change)
  const [hovered, setHovered] = useState<Hit | null>(null)
  const { parts, measure, cells, group } = shown
  const scale = useMemo(
    () =>
      mapScale(
        [...maps.maps.values()].map((map) => map.cells),
        measure,
      ),
    [maps.maps, measure],
  )
  const scene: MapScene = {
    panels: parts.map((part) => ({
      rank: part.rank,
      map: maps.maps.get(part.rank) ?? null,
      cell: cells.get(part.rank) ?? null,
      selected: part.rank === rank,
    })),
    cells: {
      rows: Math.max(1, ...parts.map(({ grid }) => grid.rows)),
      columns: Math.max(1, ...parts.map(({ grid }) => grid.columns)),
    },
    scale,
    axes: axesText(parts[0]),
  }
  const canvas = useCanvas(
    (ctx, width, height) => drawMaps(ctx, width, height, theme, scene),
    [theme, shown, maps, rank],
  )
  const hitOf = (event: { nativeEvent: { offsetX: number; offsetY: number } }): Hit | null => {
    const element = canvas.current
    if (element === null) return null
    const boxes = boxesOf(scene, element.clientWidth, element.clientHeight)
    const { offsetX, offsetY } = event.nativeEvent
    for (const [i, part] of parts.entries()) {
      const map = maps.maps.get(part.rank)
      const box = boxes[i]
      const cell = map === undefined || box === undefined ? null : cellAt(map, box, offsetX, offsetY)
      if (cell !== null) return { part, cell }
    }
    return null
  }
  const pickedCell = shown.part === null ? undefined : cells.get(shown.part.rank)
  const told =
    hovered ??
    (shown.part === null || pickedCell === undefined ? null : { part: shown.part, cell: pickedCell })
  return (
    <figure className="pm-maps">
      <figcaption>
        <span className="pm-caption">
          <b>{tensor}</b> of every rank
          <MeasurePick shown={shown} />
        </span>
        <span className="num pm-note" data-testid="pm-cell">
          {told === null ? '' : hitText(told, tensor, shown, maps)}
        </span>
      </figcaption>
      <Reading maps={maps} />
      <canvas
        ref={canvas}
        role="img"
        data-testid="pm-maps"
        aria-label={`${MEASURE_WORDS[measure]} of ${tensor} on ${parts.length} ranks; arrow keys move the picked cell, and the table below has its numbers`}
        onPointerMove={(event) => setHovered(hitOf(event))}
        onPointerLeave={() => setHovered(null)}
        onClick={(event) => {
          const hit = hitOf(event)
          if (hit === null) return
          const { selection, place } = pickOf(hit.part, tensor, group, hit.cell)
          select(selection)
          change({ place })
        }}
      />
    </figure>
  )
}

const hitText = (
  { part, cell }: Hit,
  tensor: string,
  { group, measure }: Shown,
  { maps }: RankMaps,
): string => {
  const map = maps.get(part.rank)
  const value = map === undefined ? '' : `: ${MEASURE_WORDS[measure]} ${formatValue(mapValue(map, cell))}`
  return `${rankName(part.rank)}, ${cellText(part, tensor, group, cell)}${value}`
}

/** `8 rows down, 16 heads across`. */
const axesText = (part: RankPart | undefined): string => {
  if (part === undefined) return ''
  const { rows, columns, rowName, columnName } = part.grid
  const some = (count: number, name: string): string => `${formatInt(count)} ${name}${count === 1 ? '' : 's'}`
  return `${some(rows, rowName)} down${columns === 1 ? '' : `, ${some(columns, columnName)} across`}`
}

const MeasurePick = ({ shown: { part, measure } }: { readonly shown: Shown }) => {
  const change = usePick((s) => s.change)
  const measures = part === null ? [] : measuresOf(part)
  return (
    <fieldset className="pm-measures">
      <legend className="visually-hidden">Measure</legend>
      {measures.map((one) => (
        <button
          key={one}
          type="button"
          className="button"
          aria-pressed={one === measure}
          title={MEASURE_TITLES[one]}
          data-testid={`pm-measure-${one}`}
          onClick={() => change({ measure: one })}
        >
          {MEASURE_WORDS[one]}
        </button>
      ))}
    </fieldset>
  )
}

const MEASURE_TITLES = {
  value: 'The value of each cell (M)',
  absmax: 'The largest size of the values of each cell; NaN where one is (M)',
  norm: 'The Euclidean norm of the values of each cell; NaN where one is (M)',
  nan: 'How many values of each cell are NaN or infinite (M)',
} as const

/** How far reading is, and what of a large tensor is shown. */
const Reading = ({ maps: { maps, work } }: { readonly maps: RankMaps }) => {
  const { all, change } = usePick()
  const [first] = maps.values()
  const coarse = first === undefined ? null : coarseText(first)
  if (work !== null)
    return (
      <p className="pm-reading" aria-live="polite">
        <progress value={work.done} max={work.total} /> reading, rank {Math.floor(work.done) + 1} of{' '}
        {work.total}
        {all ? (
          <button type="button" className="button" onClick={() => change({ all: false })}>
            Cancel
          </button>
        ) : null}
      </p>
    )
  if (coarse === null) return null
  return (
    <p className="pm-reading" data-testid="pm-coarse">
      {coarse}
      {first !== undefined && first.rowStep > 1 ? (
        <button type="button" className="button" onClick={() => change({ all: true })}>
          Read all
        </button>
      ) : null}
    </p>
  )
}
