import { useEffect, useMemo, useState } from 'react'
import { RankChip } from '../../../controls/RankChip.tsx'
import { SourceBadge } from '../../../controls/SourceBadge.tsx'
import { formatInt, formatNs } from '../../../drawing/format.ts'
import { sourceNote } from '../../../drawing/provenance.ts'
import { useSelection } from '../../../state/selection.ts'
import { type DrawnRow, drawnRows } from '../drawn.ts'
import type { EventMark } from '../event-marks.ts'
import type { TimeRange } from '../range.ts'
import { timeText } from '../ticks.ts'
import type { TilePiece } from '../tiles.ts'
import { type DataColumn, DataTable } from './DataTable.tsx'

/** How long the picture rests before its table follows, ms. */
const REST_MS = 200
/** Rows that are shown; all of them are saved. */
const MOST = 300

const time = (id: string, title: string, value: (row: DrawnRow) => number): DataColumn<DrawnRow> => ({
  id,
  title,
  value,
  show: (row) => <span title={`${formatInt(value(row))} ns`}>{formatNs(value(row))}</span>,
})

const COLUMNS: readonly DataColumn<DrawnRow>[] = [
  {
    id: 'rank',
    title: 'rank',
    value: ({ rank }) => rank,
    show: ({ rank }) => (rank === null ? 'none' : <RankChip rank={rank} />),
    words: true,
  },
  { id: 'row', title: 'row', value: ({ row }) => row, words: true },
  {
    id: 'what',
    title: 'what',
    value: ({ what }) => what,
    show: ({ what, count }) => (count > 1 ? `mostly ${what}` : what),
    words: true,
  },
  {
    id: 'count',
    title: 'drawn as one',
    hint: 'More than 1: so many lie too close to be drawn by themselves',
    value: ({ count }) => count,
    show: ({ count }) => formatInt(count),
  },
  { id: 'step', title: 'step', value: ({ step }) => step, show: ({ step }) => formatInt(step) },
  { id: 'layer', title: 'layer', value: ({ layer }) => (layer < 0 ? null : layer) },
  {
    id: 'start_ns',
    title: 'start, ns',
    value: ({ startNs }) => startNs,
    show: ({ startNs }) => formatInt(startNs),
  },
  time('dur_ns', 'duration', ({ durNs }) => durNs),
  time('wait_ns', 'waiting', ({ waitNs }) => waitNs),
  {
    id: 'source',
    title: 'source',
    value: ({ sources }) => sources.join(', '),
    show: ({ sources }) => <SourceBadge source={sourceNote(sources)} />,
    words: true,
  },
]

const PLAIN_COLUMNS = COLUMNS.filter(({ id }) => id !== 'source')

interface Props {
  readonly pieces: readonly TilePiece[]
  readonly events: readonly EventMark[]
  readonly range: TimeRange
  readonly order: readonly number[]
}

/** What the lanes show, as a table: the same items, merged where they are. */
export const DrawnPanel = (now: Props) => {
  const select = useSelection((s) => s.select)
  const [rested, setRested] = useState(now)
  const { pieces, events, range, order } = now
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the picture shows has rested when none of these changes
  useEffect(() => {
    const timer = setTimeout(() => setRested(now), REST_MS)
    return () => clearTimeout(timer)
  }, [pieces, events, range.startNs, range.endNs, order.join()])
  const rows = useMemo(() => drawnRows(rested.pieces, rested.events, rested.range, rested.order), [rested])
  // A column of nothing but `measured` would only take room.
  const isPlain = rows.every(({ sources }) => sourceNote(sources) === undefined)
  const columns = isPlain ? PLAIN_COLUMNS : COLUMNS
  const merged = rows.filter(({ count, row }) => count > 1 && row !== 'event').length
  return (
    <>
      <div className="panel-bar">
        <span className="panel-caption" data-testid="timeline-drawn-caption">
          {formatInt(rows.length)} items from {timeText(rested.range.startNs, rested.range)} to{' '}
          {timeText(rested.range.endNs, rested.range)}
          {merged > 0 ? `, ${formatInt(merged)} of them several spans merged: zoom in to part them` : ''}
          {rows.length > MOST ? `; the first ${formatInt(MOST)} are listed, all are exported` : ''}
        </span>
      </div>
      <DataTable
        label="What the timeline shows"
        columns={columns}
        rows={rows}
        most={MOST}
        keyOf={({ key }) => key}
        nothing="Nothing lies in what is shown: press 0 for the whole run."
        onPick={({ rank, step, layer, startNs, row, count }) =>
          select({
            rank,
            step,
            ...(layer < 0 ? {} : { layer }),
            timeNs: row === 'stage' && count === 1 ? startNs : null,
          })
        }
        pickHint="Select it"
        testId="timeline-drawn"
      />
    </>
  )
}
