import { measureWord, repeatText, VERDICT_REASONS } from '../../../app/compare/text.ts'
import type { Measure, TimeRow } from '../../../app/compare/times.ts'
import { STAGES } from '../../../app/trace/stages.ts'
import { RankChip } from '../../controls/RankChip.tsx'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { useTableSource } from '../../export/table-source.ts'
import { useCompare } from '../../state/compare.ts'
import { useSelection } from '../../state/selection.ts'
import { stageColour, type Theme } from '../../theme/colours.ts'
import { useTheme } from '../../theme/use-theme.ts'
import {
  acrossRepeats,
  barShares,
  differenceCell,
  intervalCell,
  ratioCell,
  sourceOf,
  type Times,
  testedText,
  usText,
  verdictCell,
} from './model.ts'
import { timeTable } from './table-text.ts'

const colourOf = (measure: Measure, theme: Theme): string => {
  const stage = STAGES.find((name) => name === measure)
  return stage === undefined ? 'var(--text-2)' : stageColour(stage, theme)
}

/** Every stage of both, bars beside each other, the difference and what it is worth; the picked one is shown over the steps below. */
export const StageTimes = ({ times }: { readonly times: Times }) => {
  const { measure, look } = useCompare()
  const table = useTableSource('Stages compared', () => timeTable(times.rows))
  return (
    <table ref={table} className="compare-table compare-times" data-testid="compare-times">
      <thead>
        <tr>
          <th scope="col">stage</th>
          <th scope="col" className="compare-bars-head">
            A above, B below
          </th>
          <th scope="col" className="num" title="Median over the steps, mean of the ranks">
            A
          </th>
          <th scope="col" className="num">
            B
          </th>
          <th
            scope="col"
            className="num"
            title="B minus A of the same step: Hodges-Lehmann estimate, and its 95% interval"
          >
            difference
          </th>
          <th scope="col" className="num compare-wide" title="95% interval of the difference">
            95% interval
          </th>
          <th scope="col" className="num" title="Median of B over median of A">
            B / A
          </th>
          <th scope="col">verdict</th>
        </tr>
      </thead>
      <tbody>
        {times.rows.map((row) => (
          <tr
            key={row.measure}
            className={row.measure === measure ? 'rank-row rank-row-selected' : 'rank-row'}
            data-testid={`compare-stage-${row.measure}`}
            data-verdict={row.verdict}
            onClick={() => look(row.measure)}
          >
            <th scope="row" className="compare-stage">
              <button
                type="button"
                className="compare-pick"
                aria-pressed={row.measure === measure}
                onClick={() => look(row.measure)}
              >
                {measureWord(row.measure)}
              </button>
              <SourceBadge source={sourceOf(times, row.measure)} />
            </th>
            <Bars row={row} times={times} />
            <TimeCells row={row} times={times} />
          </tr>
        ))}
      </tbody>
      <Repeats times={times} measure={measure} />
    </table>
  )
}

const Bars = ({ row, times }: { readonly row: TimeRow; readonly times: Times }) => {
  const theme = useTheme()
  const shares = barShares(row, times.rows)
  const colour = colourOf(row.measure, theme)
  return (
    <td className="compare-bars" aria-hidden="true">
      {shares === null ? null : (
        <>
          <span
            className="compare-bar compare-bar-a"
            style={{ width: `${100 * shares.a}%`, borderColor: colour }}
          />
          <span className="compare-bar" style={{ width: `${100 * shares.b}%`, background: colour }} />
        </>
      )}
    </td>
  )
}

const TimeCells = ({ row, times }: { readonly row: TimeRow; readonly times: Times }) => (
  <>
    <td className="num" title={row.aNs === null ? undefined : `${row.aNs} ns`}>
      {usText(row.aNs)}
    </td>
    <td className="num" title={row.bNs === null ? undefined : `${row.bNs} ns`}>
      {usText(row.bNs)}
    </td>
    <td className="num" title={intervalCell(row)}>
      {differenceCell(row)}
    </td>
    <td className="num compare-wide">{intervalCell(row)}</td>
    <td className="num">{ratioCell(row)}</td>
    <td
      className={`compare-verdict compare-verdict-${acrossRepeats(row, times) === 'within' ? 'even' : row.verdict}`}
      title={`${VERDICT_REASONS[row.verdict]} ${testedText(row)}`}
    >
      {verdictCell(row, times)}
    </td>
  </>
)

/** What repeats of both say of the picked stage. */
const Repeats = ({ times, measure }: { readonly times: Times; readonly measure: Measure }) => {
  const row = times.repeats.find((one) => one.measure === measure)
  const text =
    times.repeatsOf === null
      ? 'Both are runs of one configuration in one place: what differs is what differs from run to run.'
      : row === undefined
        ? `No repeats of both are known (${times.repeatsOf.a} and ${times.repeatsOf.b} runs): run each again to learn what differs from run to run.`
        : `${measureWord(measure)}, runs as repeats: ${repeatText(row)}.`
  return (
    <tfoot>
      <tr>
        <td colSpan={8} className="compare-note" data-testid="compare-repeats">
          {text}
        </td>
      </tr>
    </tfoot>
  )
}

/** The picked stage of every rank. */
export const RankTimes = ({ times, measure }: { readonly times: Times; readonly measure: Measure }) => {
  const rank = useSelection((s) => s.rank)
  const select = useSelection((s) => s.select)
  const rows = times.ranks.filter((row) => row.measure === measure)
  const table = useTableSource(`${measureWord(measure)} by rank`, () => timeTable(rows))
  if (rows.length === 0) return null
  return (
    <table ref={table} className="compare-table compare-times" data-testid="compare-ranks">
      <caption className="compare-note">{measureWord(measure)} by rank</caption>
      <thead>
        <tr>
          <th scope="col">rank</th>
          <th scope="col" className="num">
            A
          </th>
          <th scope="col" className="num">
            B
          </th>
          <th scope="col" className="num">
            difference
          </th>
          <th scope="col" className="num compare-wide">
            95% interval
          </th>
          <th scope="col" className="num">
            B / A
          </th>
          <th scope="col">verdict</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr
            key={row.rank}
            className={row.rank === rank ? 'rank-row rank-row-selected' : 'rank-row'}
            data-testid={`compare-rank-${row.rank}`}
            data-verdict={row.verdict}
            onClick={() => select({ rank: row.rank })}
          >
            <th scope="row" className="compare-stage">
              <button
                type="button"
                className="rank-pick"
                aria-pressed={row.rank === rank}
                aria-label={`Rank ${row.rank}`}
                onClick={() => select({ rank: row.rank })}
              >
                <RankChip rank={row.rank ?? 0} />
              </button>
            </th>
            <TimeCells row={row} times={times} />
          </tr>
        ))}
      </tbody>
    </table>
  )
}
