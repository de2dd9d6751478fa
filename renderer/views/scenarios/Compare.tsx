import { useState } from 'react'
import type { Table } from '../../../app/messages/csv.ts'
import { RankChip } from '../../controls/RankChip.tsx'
import { useCanvas } from '../../drawing/canvas.ts'
import { acceptedText, DRAFT_HINT, DRAFT_PROXY } from '../../drawing/draft.ts'
import { drawHeat, HEAT_EDGE, mapGrid, mapHeight } from '../../drawing/draw-heat.ts'
import { drawSeries, type Series, seriesIndexAt } from '../../drawing/draw-series.ts'
import { formatFloat, formatInt, formatSci, formatValue } from '../../drawing/format.ts'
import { type HeatRange, heatHit } from '../../drawing/heat.ts'
import { inkOf } from '../../drawing/ink.ts'
import { useTableSource } from '../../export/table-source.ts'
import type { Side } from '../../state/scenarios.ts'
import { statusColour, type Theme } from '../../theme/colours.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { type CaptureShape, type Cell, eventKinds, type SideModel } from './model.ts'
import type { SideState } from './use-side.ts'

interface Props {
  readonly sides: Readonly<Record<Side, SideState>>
  readonly range: HeatRange
  readonly cell: Cell | null
  readonly onPick: (cell: Cell) => void
}

/** Broken and fixed beside each other: check, error map, partials and events, and the merged vectors in one picture. */
export const Compare = ({ sides, range, cell, onPick }: Props) => (
  <>
    <div className="scenario-sides">
      {(['broken', 'fixed'] as const).map((side) => (
        <SidePanel key={side} side={side} state={sides[side]} range={range} cell={cell} onPick={onPick} />
      ))}
    </div>
    {sides.broken.model === null || sides.fixed.model === null || cell === null ? null : (
      <Vectors broken={sides.broken.model} fixed={sides.fixed.model} cell={cell} />
    )}
  </>
)

interface SideProps {
  readonly side: Side
  readonly state: SideState
  readonly range: HeatRange
  readonly cell: Cell | null
  readonly onPick: (cell: Cell) => void
}

const SidePanel = ({ side, state, range, cell, onPick }: SideProps) => {
  const { info, capture, model, events } = state
  return (
    <section className={`scenario-side scenario-side-${side}`} aria-label={side} data-testid={`side-${side}`}>
      <h3>{side}</h3>
      <Check state={state} />
      {capture === null ? (
        <p className="quiet">{info === null ? 'reading …' : 'reading the captured tensors …'}</p>
      ) : (
        <>
          <ErrorMap capture={capture} range={range} cell={cell} onPick={onPick} />
          {model === null || cell === null ? null : (
            <Partials side={side} model={model} capture={capture} cell={cell} />
          )}
        </>
      )}
      <Events events={events} />
    </section>
  )
}

const Check = ({ state: { info, events } }: { readonly state: SideState }) => {
  const { check, draft } = info?.manifest.summary ?? {}
  return (
    <dl className="scenario-check">
      <dt>largest relative error</dt>
      <dd className="num" data-testid="side-error">
        {check?.maxRelErr == null ? '–' : formatSci(check.maxRelErr)}
      </dd>
      <dt>rows with NaN</dt>
      <dd className={(check?.nanRows ?? 0) > 0 ? 'num scenario-bad' : 'num'}>
        {formatInt(check?.nanRows ?? 0)}
      </dd>
      {draft === undefined ? null : (
        <>
          <dt title={DRAFT_HINT}>draft accepted ({DRAFT_PROXY})</dt>
          <dd className="num" data-testid="side-draft">
            {acceptedText(draft.accepted, draft.proposed)}
          </dd>
        </>
      )}
      <dt>events</dt>
      <dd className="num">{events === null ? '–' : formatInt(events.length)}</dd>
    </dl>
  )
}

interface MapProps {
  readonly capture: CaptureShape
  readonly range: HeatRange
  readonly cell: Cell | null
  readonly onPick: (cell: Cell) => void
}

const ErrorMap = ({ capture, range, cell, onPick }: MapProps) => {
  const theme = useTheme()
  const picked = cell ?? { row: 0, head: 0 }
  const canvas = useCanvas(
    (ctx, width, height) => drawHeat(ctx, width, height, theme, capture, picked, range),
    [theme, capture, range.from, range.to, picked.row, picked.head],
  )
  const value = capture.relErr[picked.row * capture.heads + picked.head] ?? Number.NaN
  return (
    <figure>
      <figcaption>
        Error of every row and head
        <span className="num quiet">
          row {picked.row}, head {picked.head}: {formatSci(value)}
        </span>
      </figcaption>
      <canvas
        ref={canvas}
        role="img"
        style={{ height: Math.min(180, mapHeight(capture.rows)) }}
        aria-label={`Relative error of ${capture.rows} rows and ${capture.heads} heads; the picked one is ${formatSci(value)}`}
        onClick={(event) => {
          const { clientWidth, clientHeight } = event.currentTarget
          const { offsetX, offsetY } = event.nativeEvent
          const grid = mapGrid(capture, clientWidth, clientHeight)
          const hit = heatHit(capture.relErr, grid, offsetX - HEAT_EDGE.left, offsetY - HEAT_EDGE.top)
          if (hit !== null) onPick(hit)
        }}
      />
    </figure>
  )
}

interface PartialsProps {
  readonly side: Side
  readonly model: SideModel
  readonly capture: CaptureShape
  readonly cell: Cell
}

const Partials = ({ side, model, capture, cell }: PartialsProps) => {
  const table = useTableSource(`Partials ${side}`, () => partialTable(model, capture, cell))
  return (
    <table ref={table} className="scenario-partials">
      <thead>
        <tr>
          <th scope="col">rank</th>
          <th scope="col">keys</th>
          <th scope="col" title={`log-sum-exp, base ${capture.lseBase}`}>
            lse
          </th>
          <th scope="col">|out|</th>
          <th scope="col" title="As the lse asks for; a broken merge may have taken another">
            weight
          </th>
          <td />
        </tr>
      </thead>
      <tbody>
        {model.ranks.map(({ rank, lse, norm, weight }) => {
          const keys = capture.visibleKeys[rank * capture.rows + cell.row] ?? -1
          return (
            <tr key={rank}>
              <th scope="row">
                <RankChip rank={rank} />
              </th>
              <td className="num">{keys < 0 ? '–' : formatInt(keys)}</td>
              <td className={Number.isNaN(lse) ? 'num scenario-bad' : 'num'}>{formatFloat(lse, 3)}</td>
              <td className={Number.isNaN(norm) ? 'num scenario-bad' : 'num'}>{formatFloat(norm, 3)}</td>
              <td className="num">{formatFloat(weight, 3)}</td>
              <td className="scenario-bar" aria-hidden="true">
                <span style={{ width: `${Math.round(100 * Math.min(1, weight))}%` }} />
              </td>
            </tr>
          )
        })}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row" colSpan={4}>
            merged against the reference
          </th>
          <td
            className={
              model.error !== null && Number.isNaN(model.error.relative) ? 'num scenario-bad' : 'num'
            }
          >
            {model.error === null ? '–' : formatSci(model.error.relative)}
          </td>
          <td />
        </tr>
      </tfoot>
    </table>
  )
}

/** The same, exact, to be saved. */
const partialTable = (model: SideModel, capture: CaptureShape, cell: Cell): Table => ({
  header: ['rank', 'keys', `lse_base_${capture.lseBase}`, 'out_norm', 'weight', 'merged_relative_error'],
  rows: model.ranks.map(({ rank, lse, norm, weight }) => {
    const keys = capture.visibleKeys[rank * capture.rows + cell.row] ?? -1
    return [rank, keys < 0 ? null : keys, lse, norm, weight, model.error?.relative ?? null]
  }),
})

const Events = ({ events }: Pick<SideState, 'events'>) => {
  if (events === null) return null
  const kinds = eventKinds(events)
  return kinds.length === 0 ? (
    <p className="quiet scenario-none">No events.</p>
  ) : (
    <ul className="scenario-events">
      {kinds.map(({ kind, count, message }) => (
        <li key={kind} className="selectable">
          <span className="badge badge-warn num">{formatInt(count)}</span> {message}
        </li>
      ))}
    </ul>
  )
}

interface VectorsProps {
  readonly broken: SideModel
  readonly fixed: SideModel
  readonly cell: Cell
}

/** What was merged broken and fixed, and what is right. */
const Vectors = ({ broken, fixed, cell }: VectorsProps) => {
  const theme = useTheme()
  const [hovered, setHovered] = useState<number | null>(null)
  const count = broken.merged.length
  const canvas = useCanvas(
    (ctx, width, height) =>
      drawSeries(ctx, width, height, theme, {
        series: linesOf(broken, fixed, theme, inkOf().text0),
        count,
        hovered,
      }),
    [theme, broken, fixed, hovered],
  )
  const at = (values: ArrayLike<number> | null): string =>
    hovered === null || values === null ? '–' : formatValue(values[hovered] ?? Number.NaN)
  return (
    <figure className="scenario-vectors">
      <figcaption>
        <span>
          Merged vector of row {cell.row}, head {cell.head}: <span className="scenario-bad">broken</span>,{' '}
          <span className="scenario-ok">fixed</span>, reference dashed
        </span>
        <span className="num quiet">
          {hovered === null
            ? 'point at a value'
            : `value ${hovered}: broken ${at(broken.merged)}, fixed ${at(fixed.merged)}, right ${at(fixed.reference)}`}
        </span>
      </figcaption>
      <canvas
        ref={canvas}
        role="img"
        data-testid="scenario-vectors"
        aria-label={`${count} merged values, broken and fixed, with the reference`}
        onPointerMove={(event) =>
          setHovered(seriesIndexAt(event.nativeEvent.offsetX, event.currentTarget.clientWidth, count))
        }
        onPointerLeave={() => setHovered(null)}
      />
    </figure>
  )
}

const linesOf = (broken: SideModel, fixed: SideModel, theme: Theme, ink: string): Series[] => {
  const line = (values: ArrayLike<number>, colour: string, width: number, dashed = false): Series => ({
    values,
    colour,
    width,
    alpha: 1,
    dashed,
  })
  return [
    line(broken.merged, statusColour('bad', theme), 1.5),
    line(fixed.merged, statusColour('ok', theme), 1.5),
    ...(fixed.reference === null ? [] : [line(fixed.reference, ink, 1, true)]),
  ]
}
