import { useMemo, useState } from 'react'
import type { RunInfo } from '../../../../app/protocol/store.ts'
import {
  MAX_STAT_ROWS,
  type SpanStat,
  type StatGrouping,
  sharesOf,
} from '../../../../app/trace/span-stats.ts'
import { OUTER_STAGES, STAGES } from '../../../../app/trace/stages.ts'
import { RankChip } from '../../../controls/RankChip.tsx'
import { SourceBadge } from '../../../controls/SourceBadge.tsx'
import { formatInt, formatNs, formatPercent } from '../../../drawing/format.ts'
import { sourceNote } from '../../../drawing/provenance.ts'
import { useAnswer } from '../../../state/use-answer.ts'
import { stageColour } from '../../../theme/colours.ts'
import { useTheme } from '../../../theme/use-theme.ts'
import { shortKernelName } from '../kernel-name.ts'
import { ranksText, type Scope } from '../scope.ts'
import { causedText } from '../stats-text.ts'
import { type DataColumn, DataTable } from './DataTable.tsx'
import { Verdict } from './Verdict.tsx'

const isOuter = (key: string | number): boolean => OUTER_STAGES.some((stage) => stage === key)

interface Row extends SpanStat {
  readonly share: number | null
}

const GROUPING_WORDS: Readonly<Record<StatGrouping, string>> = {
  stage: 'Stages',
  rank: 'Ranks',
  kernel: 'Kernels',
}

const Name = ({ by, name }: { readonly by: StatGrouping; readonly name: string | number }) => {
  const theme = useTheme()
  if (by === 'rank') return <RankChip rank={Number(name)} />
  const stage = STAGES.find((one) => one === name)
  if (stage === undefined) return <span title={String(name)}>{shortKernelName(String(name))}</span>
  return (
    <>
      <span className="timeline-swatch" style={{ background: stageColour(stage, theme) }} /> {stage}
    </>
  )
}

const time = (id: string, title: string, hint: string, value: (row: Row) => number): DataColumn<Row> => ({
  id,
  title,
  hint,
  value,
  show: (row) => <span title={`${formatInt(value(row))} ns`}>{formatNs(value(row))}</span>,
})

const columnsOf = (by: StatGrouping): readonly DataColumn<Row>[] => [
  {
    id: by,
    title: by === 'kernel' ? 'kernel' : by,
    value: ({ key }) => key,
    show: ({ key }) => <Name by={by} name={key} />,
    words: true,
  },
  {
    id: 'count',
    title: 'count',
    hint: 'Spans that touch the part',
    value: ({ count }) => count,
    show: ({ count }) => formatInt(count),
  },
  time('sum_ns', 'sum', 'Time inside the part, over its ranks', ({ sumNs }) => sumNs),
  ...(by === 'kernel'
    ? []
    : [
        time(
          'wait_ns',
          'waiting',
          'Of the sum: waiting for the last rank in collectives',
          ({ waitNs }) => waitNs,
        ),
        time('own_ns', 'own', 'The sum without waiting', ({ sumNs, waitNs }) => sumNs - waitNs),
      ]),
  ...(by === 'rank'
    ? [
        time(
          'caused_ns',
          'made others wait',
          'Waiting of all others in collectives that this rank entered last',
          ({ causedNs }) => causedNs ?? 0,
        ),
      ]
    : []),
  {
    id: 'share',
    title: 'share',
    hint: 'Share of the sum of all rows; of what contains others: none',
    value: ({ share }) => share,
    show: ({ share }) => (share === null ? '–' : formatPercent(share)),
  },
  time('min_ns', 'min', 'The shortest, whole spans', ({ minNs }) => minNs),
  time('p50_ns', 'p50', 'The median, whole spans', ({ p50Ns }) => p50Ns),
  time('p95_ns', 'p95', '95th percentile, whole spans', ({ p95Ns }) => p95Ns),
  time('max_ns', 'max', 'The longest, whole spans', ({ maxNs }) => maxNs),
  {
    id: 'source',
    title: 'source',
    hint: 'Where the durations come from',
    value: ({ sources }) => sources.join(', '),
    show: ({ sources }) => <SourceBadge source={sourceNote(sources)} />,
    words: true,
  },
]

const COLUMNS = {
  stage: columnsOf('stage'),
  rank: columnsOf('rank'),
  kernel: columnsOf('kernel'),
} as const

const scopeText = ({ of, range, ranks }: Scope, step: number | null): string => {
  const where = of === 'area' ? 'the marked area' : of === 'step' ? `step ${step}` : 'the whole run'
  return `${where}, ${formatNs(range.endNs - range.startNs)}, ${ranks.length === 1 ? 'rank' : 'ranks'} ${ranksText(ranks)}`
}

interface Props {
  readonly open: RunInfo
  readonly scope: Scope
  readonly step: number | null
  readonly kernels: boolean
  readonly goTo: (rank: number, startNs: number) => void
}

/** Count, sum and percentiles of the spans in a part of the run, by stage, rank or kernel. */
export const StatsPanel = ({ open, scope, step, kernels, goTo }: Props) => {
  const [by, setBy] = useState<StatGrouping>('stage')
  const { answer, error, loading } = useAnswer('spanStats', {
    run: open.id,
    startNs: scope.range.startNs,
    endNs: scope.range.endNs,
    ranks: [...scope.ranks],
    by,
  })
  const data = answer?.params.by === by ? answer.data : null
  const rows = useMemo((): readonly Row[] => {
    const found = data?.rows ?? []
    const shares = sharesOf(found, isOuter)
    return found.map((row, i) => ({ ...row, share: shares[i] ?? null }))
  }, [data])
  // A column of nothing but `measured` would only take room.
  const isPlain = rows.every(({ sources }) => sourceNote(sources) === undefined)
  const columns = isPlain ? COLUMNS[by].filter(({ id }) => id !== 'source') : COLUMNS[by]
  const left = (data?.groups ?? 0) - rows.length
  return (
    <>
      <div className="panel-bar">
        <fieldset className="panel-choice">
          <legend className="visually-hidden">Count by</legend>
          {(['stage', 'rank', ...(kernels ? (['kernel'] as const) : [])] as const).map((one) => (
            <button
              key={one}
              type="button"
              className="button"
              aria-pressed={by === one}
              data-testid={`timeline-stats-${one}`}
              onClick={() => setBy(one)}
            >
              {GROUPING_WORDS[one]}
            </button>
          ))}
        </fieldset>
        <span className="panel-caption" data-testid="timeline-stats-scope">
          of {scopeText(scope, step)}
        </span>
        {left > 0 ? (
          <span className="panel-caption">
            the {MAX_STAT_ROWS} with the largest sum; {formatInt(left)} others are left out
          </span>
        ) : null}
        {by === 'rank' && data !== null ? <Verdict text={causedText(data.rows)} /> : null}
        <span className="panel-end" role="status">
          {loading ? 'counting' : ''}
        </span>
      </div>
      {error === null ? (
        <DataTable
          label={`Timeline statistics by ${by}`}
          columns={columns}
          rows={rows}
          keyOf={({ key }) => String(key)}
          nothing={
            loading ? 'Counting …' : 'No spans lie in this part: mark another area (R, or Shift and drag).'
          }
          onPick={({ longest }) => goTo(longest.rank, longest.startNs)}
          pickHint="Go to the longest one"
          testId="timeline-stats"
        />
      ) : (
        <p className="timeline-error" role="alert">
          {error}
        </p>
      )}
    </>
  )
}
