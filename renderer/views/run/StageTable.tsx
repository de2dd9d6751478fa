import type { StoreResult } from '../../../app/protocol/store.ts'
import { STAGES } from '../../../app/trace/stages.ts'
import { formatPercent, formatUs } from '../../drawing/format.ts'
import { stageColour } from '../../theme/colours.ts'
import { useTheme } from '../../theme/use-theme.ts'

const ORDER: ReadonlyMap<string, number> = new Map(STAGES.map((stage, i) => [stage, i]))

type Row = StoreResult<'stages'>[number]

const StageRow = ({ row, most }: { readonly row: Row; readonly most: number }) => {
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
      <td className="num" title={`${row.p50Us} µs`}>
        {formatUs(row.p50Us)}
      </td>
      <td className="num" title={`${row.p95Us} µs`}>
        {formatUs(row.p95Us)}
      </td>
      <td className="num" title={`of this ${formatPercent(row.waitShare)} waiting for other ranks`}>
        {formatPercent(row.share)}
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

/** Each stage's duration on a rank and layer, and its share of the ranks' time; waiting is hatched. */
export const StageTable = ({ stages }: { readonly stages: readonly Row[] }) => {
  const order = (stage: string): number => ORDER.get(stage) ?? ORDER.size
  const most = Math.max(0, ...stages.map(({ share }) => share))
  return (
    <table className="stage-table" data-testid="stage-table">
      <thead>
        <tr>
          <th scope="col">Stage</th>
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
        {[...stages]
          .sort((a, b) => order(a.stage) - order(b.stage))
          .map((row) => (
            <StageRow key={row.stage} row={row} most={most} />
          ))}
      </tbody>
    </table>
  )
}
