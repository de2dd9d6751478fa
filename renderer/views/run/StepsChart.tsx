import { memo, useMemo } from 'react'
import { Line, LineChart, ReferenceLine, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import type { StoreResult } from '../../../app/protocol/store.ts'
import type { Manifest } from '../../../app/trace/manifest.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { acceptedText, DRAFT_PROXY } from '../../drawing/draft.ts'
import { formatInt, formatMs, formatRate, formatSci } from '../../drawing/format.ts'
import { sourceOfCode, stepNote } from '../../drawing/provenance.ts'
import { useSelection } from '../../state/selection.ts'

type Steps = StoreResult<'steps'>

interface Point {
  readonly step: number
  readonly tokensPerSecond: number
  readonly wallMs: number
  readonly deviceMs: number
  readonly graph: boolean
  readonly source: string | undefined
  readonly maxRelErr: number
  /** Tokens of the draft; -1 without one. */
  readonly proposed: number
  readonly accepted: number
}

const pointsOf = (steps: Steps, manifest: Manifest): Point[] =>
  Array.from(steps.step, (step, i) => ({
    step,
    tokensPerSecond: steps.tokensPerSecond[i] ?? Number.NaN,
    wallMs: (steps.wallNs[i] ?? Number.NaN) / 1e6,
    deviceMs: (steps.deviceNs[i] ?? Number.NaN) / 1e6,
    graph: steps.graphReplayed[i] === 1,
    source: stepNote(sourceOfCode(steps.provenance[i]), manifest),
    maxRelErr: steps.maxRelErr[i] ?? Number.NaN,
    proposed: steps.draftProposed[i] ?? -1,
    accepted: steps.draftAccepted[i] ?? -1,
  }))

const StepCard = ({ payload }: { readonly payload?: readonly { readonly payload?: Point }[] }) => {
  const point = payload?.[0]?.payload
  if (point === undefined) return null
  return (
    <div className="chart-card num">
      <p>
        step {formatInt(point.step)}
        {point.graph ? ', graph replay' : ''}
      </p>
      <p>
        {formatRate(point.tokensPerSecond)} tokens/s <SourceBadge source={point.source} />
      </p>
      <p>
        {formatMs(point.wallMs)} <SourceBadge source={point.source} />
      </p>
      {point.deviceMs === point.wallMs ? null : <p>{formatMs(point.deviceMs)} on the device, all ranks</p>}
      {Number.isNaN(point.maxRelErr) ? null : <p>error {formatSci(point.maxRelErr)}</p>}
      {point.proposed < 0 ? null : (
        <p>
          {acceptedText(point.accepted, point.proposed)} of the draft accepted ({DRAFT_PROXY})
        </p>
      )}
    </div>
  )
}

interface Props {
  readonly steps: Steps
  readonly manifest: Manifest
}

/**
 * Throughput over the steps; a click selects a step. The numbers beside it come ten times a second while a run goes on, and
 * drawn with each of them it would take all the time that there is.
 */
const StepsChart = memo(({ steps, manifest }: Props) => {
  const selected = useSelection((s) => s.step)
  const select = useSelection((s) => s.select)
  const points = useMemo(() => pointsOf(steps, manifest), [steps, manifest])
  return (
    <ResponsiveContainer width="100%" height="100%">
      <LineChart
        data={points}
        margin={{ top: 6, right: 8, bottom: 0, left: 0 }}
        onClick={({ activeLabel }) => {
          if (activeLabel !== undefined) select({ step: Number(activeLabel) })
        }}
      >
        <XAxis
          dataKey="step"
          type="number"
          domain={['dataMin', 'dataMax']}
          tickFormatter={formatInt}
          allowDecimals={false}
          height={18}
          tickLine={false}
        />
        <YAxis width={56} tickFormatter={formatRate} tickLine={false} domain={[0, 'auto']} tickCount={4} />
        <Tooltip content={<StepCard />} isAnimationActive={false} cursor={{ className: 'chart-cursor' }} />
        {selected === null ? null : <ReferenceLine x={selected} className="chart-selected" />}
        <Line
          dataKey="tokensPerSecond"
          className="chart-line"
          dot={false}
          isAnimationActive={false}
          type="linear"
        />
      </LineChart>
    </ResponsiveContainer>
  )
})

export default StepsChart
