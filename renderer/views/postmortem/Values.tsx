import { useState } from 'react'
import { VECTOR_VALUES } from '../../../app/dump/survey.ts'
import { type Table, tabText } from '../../../app/messages/csv.ts'
import type { DumpRank, StoreResult } from '../../../app/protocol/store.ts'
import { useCanvas } from '../../drawing/canvas.ts'
import { drawSeries, type Series, seriesIndexAt } from '../../drawing/draw-series.ts'
import { formatValue } from '../../drawing/format.ts'
import { inkOf } from '../../drawing/ink.ts'
import { allRows, useTableSource, type Work } from '../../export/table-source.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import { useSelection } from '../../state/selection.ts'
import { request } from '../../state/store-client.ts'
import type { Answer } from '../../state/use-answer.ts'
import { rankColour, type Theme } from '../../theme/colours.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { cellText, rankName } from './model.ts'
import { usePick } from './pick.ts'
import type { Shown } from './use-dump-view.ts'

export type Vector = StoreResult<'tensorVector'>

interface Props {
  readonly shown: Shown
  readonly tensor: string
  readonly answer: Answer<'tensorVector'> | null
}

/** The values of the picked cell on every rank, as lines or as a table. */
export const Values = ({ shown, tensor, answer }: Props) => {
  const { table, change } = usePick()
  const [hovered, setHovered] = useState<number | null>(null)
  const { part, cells, group } = shown
  const vector = answer !== null && answer.params.tensor === tensor ? answer.data : null
  const cell = part === null ? undefined : (cells.get(part.rank) ?? [...cells.values()][0])
  const holder = shown.parts.find(({ rank }) => cells.has(rank)) ?? part
  return (
    <figure className="pm-values">
      <figcaption>
        <span className="pm-caption">
          Values of{' '}
          {cell === undefined || holder === null
            ? 'no cell'
            : vector === null || vector.each === 'value'
              ? cellText(holder, tensor, group, cells.get(holder.rank) ?? cell)
              : `every ${vector.each}`}
          <button
            type="button"
            className="button"
            aria-pressed={table}
            data-testid="pm-table"
            onClick={() => change({ table: !table })}
          >
            table
          </button>
          {vector === null ? null : (
            <CopyButton text={valuesText(vector)} what="the values" testId="pm-copy-values" />
          )}
        </span>
        <span className="num pm-note" data-testid="pm-value">
          {vector === null ? '' : pointText(vector, hovered)}
        </span>
      </figcaption>
      {vector === null ? (
        <p className="quiet pm-wait">
          {cells.size === 0 ? 'No rank that has this tensor keeps the selected head.' : 'reading …'}
        </p>
      ) : table && answer !== null ? (
        <ValueTable vector={vector} answer={answer} />
      ) : (
        <ValuePicture vector={vector} hovered={hovered} onHover={setHovered} />
      )}
    </figure>
  )
}

const pointText = (vector: Vector, hovered: number | null): string => {
  if (hovered === null)
    return vector.count < vector.total
      ? `the first ${vector.count} of ${vector.total} values`
      : `${vector.count} ${vector.count === 1 ? 'value' : 'values'} a rank`
  const shown = vector.ranks
    .slice(0, 8)
    .map((rank, i) => `${shortName(rank)} ${formatValue(numberAt(vector, i, hovered))}`)
  return `${vector.each} ${hovered}: ${shown.join('  ')}`
}

const shortName = (rank: DumpRank): string => (rank === 'reference' ? 'ref' : `r${rank}`)

const numberAt = ({ values, count }: Vector, part: number, index: number): number =>
  values[part * count + index] ?? Number.NaN

/** An index a line, a rank a column, exact values; `from` is the index of the first. */
const valueRows = (vector: Vector, from: number): Table['rows'] =>
  Array.from({ length: vector.count }, (_, i) => [
    from + i,
    ...vector.ranks.map((_, part) => numberAt(vector, part, i)),
  ])

const valueHeader = ({ each, ranks }: Vector): Table['header'] => [each, ...ranks.map(rankName)]

/** What is shown, for a spreadsheet. */
export const valuesText = (vector: Vector): string =>
  tabText({ header: valueHeader(vector), rows: valueRows(vector, 0) })

/** All values, also those beyond what is shown. */
const allValues = async ({ params, data }: Answer<'tensorVector'>, work: Work): Promise<Table> => ({
  header: valueHeader(data),
  rows: await allRows(work, VECTOR_VALUES, data.total, async (from, signal) =>
    valueRows(await request('tensorVector', { ...params, from, max: VECTOR_VALUES }, { signal }), from),
  ),
})

interface PictureProps {
  readonly vector: Vector
  readonly hovered: number | null
  readonly onHover: (index: number | null) => void
}

const ValuePicture = ({ vector, hovered, onHover }: PictureProps) => {
  const theme = useTheme()
  const rank = useSelection((s) => s.rank)
  const canvas = useCanvas(
    (ctx, width, height) =>
      drawSeries(ctx, width, height, theme, {
        series: seriesOf(vector, rank, theme, inkOf().text0),
        count: vector.count,
        hovered,
      }),
    [theme, vector, rank, hovered],
  )
  return (
    <canvas
      ref={canvas}
      role="img"
      data-testid="pm-values"
      aria-label={`${vector.count} values on ${vector.ranks.length} ranks; the table has them as numbers`}
      onPointerMove={(event) =>
        onHover(seriesIndexAt(event.nativeEvent.offsetX, event.currentTarget.clientWidth, vector.count))
      }
      onPointerLeave={() => onHover(null)}
    />
  )
}

/** A line a rank in its colour, the selected one last and above the others. */
const seriesOf = (
  { ranks, values, count }: Vector,
  selected: number | null,
  theme: Theme,
  ink: string,
): Series[] =>
  ranks
    .map((rank, i) => ({
      rank,
      values: values.subarray(i * count, (i + 1) * count),
      colour: rank === 'reference' ? ink : rankColour(rank, theme),
      width: rank === selected ? 2 : 1,
      alpha: selected === null || rank === selected ? 1 : 0.45,
      dashed: rank === 'reference',
    }))
    .sort((a, b) => Number(a.rank === selected) - Number(b.rank === selected))

const LINE = 20
const BEYOND = 10

/** Only the lines that are seen are there: a vector has thousands of values. */
const ValueTable = ({
  vector,
  answer,
}: {
  readonly vector: Vector
  readonly answer: Answer<'tensorVector'>
}) => {
  const [top, setTop] = useState(0)
  const table = useTableSource(`Values of ${answer.params.tensor}`, (work) => allValues(answer, work))
  const first = Math.max(0, Math.floor(top / LINE) - BEYOND)
  const end = Math.min(vector.count, first + 60)
  return (
    <section
      className="pm-value-table"
      aria-label="Values"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys
      tabIndex={0}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <table ref={table} aria-rowcount={vector.count + 1}>
        <thead>
          <tr>
            <th scope="col">{vector.each}</th>
            {vector.ranks.map((rank) => (
              <th key={rank} scope="col">
                {rankName(rank)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr className="pm-space" style={{ height: first * LINE }} />
          {Array.from({ length: end - first }, (_, i) => first + i).map((index) => (
            <tr key={index}>
              <th scope="row" className="num">
                {index}
              </th>
              {vector.ranks.map((rank, part) => {
                const value = numberAt(vector, part, index)
                return (
                  <td
                    key={rank}
                    className={Number.isNaN(value) ? 'num pm-bad selectable' : 'num selectable'}
                    title={String(value)}
                  >
                    {formatValue(value)}
                  </td>
                )
              })}
            </tr>
          ))}
          <tr className="pm-space" style={{ height: (vector.count - end) * LINE }} />
        </tbody>
      </table>
    </section>
  )
}
