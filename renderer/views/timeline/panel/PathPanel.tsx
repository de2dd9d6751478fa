import { useMemo, useState } from 'react'
import { GLOSSARY } from '../../../../app/help/glossary.ts'
import type { RunInfo, StoreResult } from '../../../../app/protocol/store.ts'
import { type PathPart, type PathSegment, pathParts } from '../../../../app/trace/critical-path.ts'
import { STAGES } from '../../../../app/trace/stages.ts'
import { RankChip } from '../../../controls/RankChip.tsx'
import { SourceBadge } from '../../../controls/SourceBadge.tsx'
import { formatInt, formatNs, formatPercent } from '../../../drawing/format.ts'
import { sourceNote } from '../../../drawing/provenance.ts'
import { useSelection } from '../../../state/selection.ts'
import { request } from '../../../state/store-client.ts'
import type { AnswerState } from '../../../state/use-answer.ts'
import { stageColour } from '../../../theme/colours.ts'
import { useTheme } from '../../../theme/use-theme.ts'
import { segmentsOf, verdictText } from '../path-text.ts'
import { type DataColumn, DataTable } from './DataTable.tsx'
import { Verdict } from './Verdict.tsx'

const Stage = ({ stage }: { readonly stage: number }) => {
  const theme = useTheme()
  const name = STAGES[stage]
  if (name === undefined) return <span className="quiet">between spans</span>
  return (
    <>
      <span className="timeline-swatch" style={{ background: stageColour(name, theme) }} /> {name}
    </>
  )
}

const stageName = (stage: number): string => STAGES[stage] ?? 'between spans'

const rankColumn = <Row extends { readonly rank: number }>(): DataColumn<Row> => ({
  id: 'rank',
  title: 'rank',
  value: ({ rank }) => rank,
  show: ({ rank }) => <RankChip rank={rank} />,
  words: true,
})

const timeColumn = <Row,>(
  id: string,
  title: string,
  hint: string,
  value: (row: Row) => number | null,
): DataColumn<Row> => ({
  id,
  title,
  hint,
  value,
  show: (row) => {
    const ns = value(row)
    return ns === null ? '–' : <span title={`${formatInt(ns)} ns`}>{formatNs(ns)}</span>
  },
})

type Balance = StoreResult<'stepPath'>['ranks'][number]

const RANK_COLUMNS: readonly DataColumn<Balance>[] = [
  rankColumn(),
  timeColumn('path_ns', 'on the path', 'Time of the critical path on this rank', (b) => b.pathNs),
  timeColumn('work_ns', 'work', 'In stages that are no collectives', (b) => b.workNs),
  timeColumn('wait_ns', 'waiting', 'For the last rank to enter collectives', (b) => b.waitNs),
  timeColumn(
    'caused_ns',
    'made others wait',
    'Waiting of all others in collectives that this rank entered last',
    (b) => b.causedNs,
  ),
  {
    id: 'entered_last',
    title: 'entered last',
    hint: 'Collectives in which others waited for this rank',
    value: (b) => b.enteredLast,
    show: (b) => formatInt(b.enteredLast),
  },
  timeColumn(
    'transfer_ns',
    'transfer',
    'In collectives, once the last rank has entered',
    (b) => b.transferNs,
  ),
  timeColumn('overlap_ns', 'overlapped', 'Transfer at the same time as work of the rank', (b) => b.overlapNs),
  timeColumn(
    'exposed_ns',
    'exposed',
    'Transfer with no work of the rank beside it',
    (b) => b.transferNs - b.overlapNs,
  ),
  timeColumn('idle_ns', 'idle', 'In no span', (b) => b.idleNs),
]
const KERNEL_OVERLAP = timeColumn<Balance>(
  'kernel_overlap_ns',
  'kernels overlapped',
  'Recorded kernels of stages that communicate, at the same time as others of the rank',
  (b) => b.kernelOverlapNs,
)

const shareColumn = <Row extends { readonly sumNs: number }>(whole: number): DataColumn<Row> => ({
  id: 'share',
  title: 'share',
  hint: 'Of the step',
  value: ({ sumNs }) => (whole > 0 ? sumNs / whole : 0),
  show: ({ sumNs }) => formatPercent(whole > 0 ? sumNs / whole : 0),
})

const partColumns = (whole: number): readonly DataColumn<PathPart>[] => [
  rankColumn(),
  {
    id: 'stage',
    title: 'stage',
    value: ({ stage }) => stageName(stage),
    show: ({ stage }) => <Stage stage={stage} />,
    words: true,
  },
  {
    id: 'kind',
    title: 'what',
    hint: 'Transfer: of a collective, once all have entered',
    value: ({ kind }) => kind,
    words: true,
  },
  { id: 'count', title: 'parts', value: ({ count }) => count, show: ({ count }) => formatInt(count) },
  timeColumn('sum_ns', 'time', 'On the critical path', ({ sumNs }) => sumNs),
  shareColumn(whole),
]

const SEGMENT_COLUMNS: readonly DataColumn<PathSegment>[] = [
  rankColumn(),
  {
    id: 'stage',
    title: 'stage',
    value: ({ stage }) => stageName(stage),
    show: ({ stage }) => <Stage stage={stage} />,
    words: true,
  },
  { id: 'layer', title: 'layer', value: ({ layer }) => (layer < 0 ? null : layer) },
  {
    id: 'kind',
    title: 'what',
    hint: 'Transfer: of a collective, once all have entered',
    value: ({ kind }) => kind,
    words: true,
  },
  timeColumn('start_ns', 'start', 'On the clock of the run', ({ startNs }) => startNs),
  timeColumn('dur_ns', 'time', 'On the critical path', ({ startNs, endNs }) => endNs - startNs),
]

const TABLES = { ranks: 'Ranks', stages: 'Stages', parts: 'Parts' } as const
type TableId = keyof typeof TABLES
const TABLE_IDS = Object.keys(TABLES) as TableId[]

interface Props {
  readonly open: RunInfo
  readonly step: number | null
  readonly found: AnswerState<'stepPath'>
  readonly goTo: (rank: number, ns: number) => void
}

/** What bounded the selected step: its critical path, and what each rank did meanwhile. */
export const PathPanel = ({ open, step, found, goTo }: Props) => {
  const [table, setTable] = useState<TableId>('ranks')
  const picked = useSelection((s) => s.rank)
  const select = useSelection((s) => s.select)
  const data = found.answer?.params.step === step ? found.answer.data : null
  const path = useMemo(() => (data === null ? [] : segmentsOf(data.path)), [data])
  const parts = useMemo(() => pathParts(path), [path])
  if (step === null) return <NoStep run={open.id} />
  const whole = (path.at(-1)?.endNs ?? 0) - (path[0]?.startNs ?? 0)
  const ranks = data?.ranks ?? []
  const hasKernels = ranks.some(({ kernelOverlapNs }) => kernelOverlapNs !== null)
  const rankColumns = hasKernels ? [...RANK_COLUMNS, KERNEL_OVERLAP] : RANK_COLUMNS
  const nothing = found.loading ? 'Looking …' : 'Nothing of this step was recorded.'
  return (
    <>
      <div className="panel-bar">
        <fieldset className="panel-choice">
          <legend className="visually-hidden">Which table</legend>
          {TABLE_IDS.map((one) => (
            <button
              key={one}
              type="button"
              className="button"
              aria-pressed={table === one}
              data-testid={`timeline-path-${one}`}
              onClick={() => setTable(one)}
            >
              {TABLES[one]}
            </button>
          ))}
        </fieldset>
        <Verdict text={data === null ? nothing : verdictText(step, data)} testId="timeline-verdict" />
        <SourceBadge source={sourceNote(data?.sources ?? [])} />
      </div>
      {found.error === null ? null : (
        <p className="timeline-error" role="alert">
          {found.error}
        </p>
      )}
      {table === 'ranks' ? (
        <DataTable
          label={`Ranks of step ${step}`}
          columns={rankColumns}
          rows={ranks}
          keyOf={({ rank }) => String(rank)}
          nothing={nothing}
          isPicked={({ rank }) => rank === picked}
          onPick={({ rank }) => select({ rank, timeNs: null })}
          pickHint="Select the rank"
          testId="timeline-path"
        />
      ) : table === 'stages' ? (
        <DataTable
          label={`Critical path of step ${step} by rank and stage`}
          columns={partColumns(whole)}
          rows={parts}
          keyOf={({ rank, stage, kind }) => `${rank} ${stage} ${kind}`}
          nothing={nothing}
          onPick={(part) => {
            const longest = longestOf(path, part)
            if (longest !== null) goTo(longest.rank, (longest.startNs + longest.endNs) / 2)
          }}
          pickHint="Go to the longest part"
          testId="timeline-path"
        />
      ) : (
        <DataTable
          label={`Critical path of step ${step} in order`}
          columns={SEGMENT_COLUMNS}
          rows={path}
          keyOf={({ startNs }) => String(startNs)}
          nothing={nothing}
          onPick={({ rank, startNs, endNs }) => goTo(rank, (startNs + endNs) / 2)}
          pickHint="Go to it"
          testId="timeline-path"
        />
      )}
    </>
  )
}

const longestOf = (path: readonly PathSegment[], part: PathPart): PathSegment | null =>
  path.reduce<PathSegment | null>((longest, segment) => {
    const same = segment.rank === part.rank && segment.stage === part.stage && segment.kind === part.kind
    const length = segment.endNs - segment.startNs
    return same && (longest === null || length > longest.endNs - longest.startNs) ? segment : longest
  }, null)

const NoStep = ({ run }: { readonly run: string }) => {
  const select = useSelection((s) => s.select)
  const [error, setError] = useState<string | null>(null)
  const selectLongest = (): void => {
    request('longestStep', { run }).then(
      (step) => select({ step, timeNs: null }),
      (reason: unknown) => setError(reason instanceof Error ? reason.message : String(reason)),
    )
  }
  return (
    <div className="panel-empty">
      <p>
        {GLOSSARY.criticalPath.text} Select a step (<kbd className="kbd">[</kbd> <kbd className="kbd">]</kbd>,
        or any span) to see which rank and stage bounded it.
      </p>
      <button type="button" className="button" data-testid="timeline-longest-step" onClick={selectLongest}>
        Select the longest step
      </button>
      {error === null ? null : (
        <p className="timeline-error" role="alert">
          {error}
        </p>
      )}
    </div>
  )
}
