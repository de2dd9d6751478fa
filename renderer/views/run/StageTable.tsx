import { memo } from 'react'
import type { Table } from '../../../app/messages/csv.ts'
import type { StoreResult } from '../../../app/protocol/store.ts'
import { OUTER_STAGES, STAGES } from '../../../app/trace/stages.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { formatPercent, formatUs } from '../../drawing/format.ts'
import { sourceNote } from '../../drawing/provenance.ts'
import { useTableSource } from '../../export/table-source.ts'
import { stageColour } from '../../theme/colours.ts'
import { useTheme } from '../../theme/use-theme.ts'

const ORDER: ReadonlyMap<string, number> = new Map(STAGES.map((stage, i) => [stage, i]))

type Row = StoreResult<'stages'>[number]

const isOuter = (stage: string): boolean => OUTER_STAGES.some((outer) => outer === stage)

interface RowProps {
  readonly row: Row
  /** Largest share of a stage. */
  readonly most: number
  /** Whether there is a column for where numbers come from. */
  readonly labelled: boolean
}

const StageRow = ({ row, most, labelled }: RowProps) => {
  const theme = useTheme()
  const stage = STAGES.find((known) => known === row.stage)
  const colour = stage === undefined ? 'var(--text-2)' : stageColour(stage, theme)
  const scale = most === 0 ? 0 : 100 / most
  return (
    <tr>
      <th scope="row">
        <span className="stage-swatch" style={{ background: colour }} />
        {row.stage}
      </th>
      {labelled ? (
        <td className="stage-source">
          <SourceBadge source={sourceNote(row.sources)} />
        </td>
      ) : null}
      <td className="num" title={`${row.p50Us} µs`}>
        {formatUs(row.p50Us)}
      </td>
      <td className="num" title={`${row.p95Us} µs`}>
        {formatUs(row.p95Us)}
      </td>
      <td
        className="num"
        title={
          isOuter(row.stage)
            ? 'contains the others'
            : `of this ${formatPercent(row.waitShare)} waiting for other ranks`
        }
      >
        {isOuter(row.stage) ? '–' : formatPercent(row.share)}
      </td>
      <td className="stage-bar-cell">
        <span className="stage-bar">
          <span style={{ width: `${Math.max(0, row.share - row.waitShare) * scale}%`, background: colour }} />
          <span
            className="stage-bar-wait"
            style={{ width: `${Math.min(row.share, row.waitShare) * scale}%` }}
          />
        </span>
      </td>
    </tr>
  )
}

/** The same, exact, to be saved. */
export const stageTable = (stages: readonly Row[]): Table => ({
  header: ['stage', 'source', 'p50_us', 'p95_us', 'share_of_time', 'wait_share_of_time'],
  rows: stages.map(({ stage, sources, p50Us, p95Us, share, waitShare }) => [
    stage,
    sourceNote(sources) ?? 'measured',
    p50Us,
    p95Us,
    isOuter(stage) ? null : share,
    isOuter(stage) ? null : waitShare,
  ]),
})

/** Each stage's duration on a rank and layer, and its share of the ranks' time; waiting is hatched. */
export const StageTable = memo(({ stages }: { readonly stages: readonly Row[] }) => {
  const order = (stage: string): number => ORDER.get(stage) ?? ORDER.size
  const most = Math.max(0, ...stages.map(({ share }) => share))
  const labelled = stages.some(({ sources }) => sourceNote(sources) !== undefined)
  const sorted = [...stages].sort((a, b) => order(a.stage) - order(b.stage))
  const table = useTableSource('Stages', () => stageTable(sorted))
  return (
    <table
      ref={table}
      className={labelled ? 'stage-table stage-table-labelled' : 'stage-table'}
      data-testid="stage-table"
    >
      <thead>
        <tr>
          <th scope="col">Stage</th>
          {labelled ? <th scope="col" aria-label="Where the numbers come from" /> : null}
          <th scope="col" className="num">
            p50
          </th>
          <th scope="col" className="num">
            p95
          </th>
          <th scope="col" className="num" title="of the ranks' time">
            share
          </th>
          <th scope="col" className="stage-bar-head" aria-label="Share of the ranks' time" />
        </tr>
      </thead>
      <tbody>
        {sorted.map((row) => (
          <StageRow key={row.stage} row={row} most={most} labelled={labelled} />
        ))}
      </tbody>
    </table>
  )
})
