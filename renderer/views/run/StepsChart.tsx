import { memo, useMemo, useState } from 'react'
import type { StoreResult } from '../../../app/protocol/store.ts'
import type { Manifest } from '../../../app/trace/manifest.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { useCanvas } from '../../drawing/canvas.ts'
import { acceptedText, DRAFT_PROXY } from '../../drawing/draft.ts'
import { formatInt, formatMs, formatRate, formatSci } from '../../drawing/format.ts'
import { sourceOfCode, stepNote } from '../../drawing/provenance.ts'
import { useSelection } from '../../state/selection.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { drawSteps, indexAt, STEPS_EDGE, shareAt, shareOf } from './draw-steps.ts'

type Steps = StoreResult<'steps'>

interface CardProps extends Omit<Props, 'count'> {
  /** Index of the step. */
  readonly at: number
}

const StepCard = ({ steps, manifest, at }: CardProps) => {
  const of = (values: ArrayLike<number>): number => values[at] ?? Number.NaN
  const source = stepNote(sourceOfCode(steps.provenance[at]), manifest)
  const [wallMs, deviceMs] = [of(steps.wallNs) / 1e6, of(steps.deviceNs) / 1e6]
  const proposed = steps.draftProposed[at] ?? -1
  const share = shareOf(steps.step, at)
  return (
    <div
      className={share > 0.5 ? 'steps-card steps-card-left num' : 'steps-card num'}
      style={{
        left: `calc(${STEPS_EDGE.left}px + ${share} * (100% - ${STEPS_EDGE.left + STEPS_EDGE.right}px))`,
      }}
      data-testid="run-step-card"
    >
      <p>
        step {formatInt(of(steps.step))}
        {steps.graphReplayed[at] === 1 ? ', graph replay' : ''}
      </p>
      <p>
        {formatRate(of(steps.tokensPerSecond))} tokens/s <SourceBadge source={source} />
      </p>
      <p>
        {formatMs(wallMs)} <SourceBadge source={source} />
      </p>
      {deviceMs === wallMs ? null : <p>{formatMs(deviceMs)} on the device, all ranks</p>}
      {Number.isNaN(of(steps.maxRelErr)) ? null : <p>error {formatSci(of(steps.maxRelErr))}</p>}
      {proposed < 0 ? null : (
        <p>
          {acceptedText(steps.draftAccepted[at] ?? -1, proposed)} of the draft accepted ({DRAFT_PROXY})
        </p>
      )}
    </div>
  )
}

const summaryOf = ({ step, tokensPerSecond }: Steps, count: number): string => {
  const rates = Float64Array.from(tokensPerSecond).filter(Number.isFinite).sort()
  const range =
    rates.length === 0
      ? 'none has a rate'
      : `${formatRate(rates[0] ?? 0)} to ${formatRate(rates[rates.length - 1] ?? 0)} tokens/s, median ${formatRate(rates[rates.length >> 1] ?? 0)}`
  const some = step.length < count ? ` (${formatInt(step.length)} of ${formatInt(count)})` : ''
  return `Throughput over the steps: ${formatInt(step[0] ?? 0)} to ${formatInt(step[step.length - 1] ?? 0)}${some}, ${range}; the inspector has the numbers of the selected step`
}

interface Props {
  readonly steps: Steps
  /** Steps of the run; those of a long one are thinned. */
  readonly count: number
  readonly manifest: Manifest
}

/**
 * Throughput over the steps; a click selects a step. The numbers beside it come ten times a second while a run goes on, which
 * is no reason to draw it.
 */
export const StepsChart = memo(({ steps, count, manifest }: Props) => {
  const theme = useTheme()
  const selected = useSelection((s) => s.step)
  const select = useSelection((s) => s.select)
  /** Where the pointer is: the steps under it may become others while it rests. */
  const [share, setShare] = useState<number | null>(null)
  const at = share === null ? null : indexAt(steps.step, share)
  const canvas = useCanvas(
    (ctx, width, height) =>
      drawSteps(ctx, width, height, {
        step: steps.step,
        rate: steps.tokensPerSecond,
        selected,
        hovered: at,
      }),
    [theme, steps, selected, at],
  )
  const summary = useMemo(() => summaryOf(steps, count), [steps, count])
  const shareUnder = (event: { currentTarget: HTMLElement; nativeEvent: MouseEvent }): number | null =>
    shareAt(event.nativeEvent.offsetX, event.currentTarget.clientWidth)
  return (
    <>
      <canvas
        ref={canvas}
        role="img"
        data-testid="run-steps-chart"
        aria-label={summary}
        onPointerMove={(event) => setShare(shareUnder(event))}
        onPointerLeave={() => setShare(null)}
        onClick={(event) => {
          const under = shareUnder(event)
          const hit = under === null ? null : indexAt(steps.step, under)
          const step = hit === null ? undefined : steps.step[hit]
          if (step !== undefined) select({ step })
        }}
      />
      {at === null ? null : <StepCard steps={steps} manifest={manifest} at={at} />}
    </>
  )
})
