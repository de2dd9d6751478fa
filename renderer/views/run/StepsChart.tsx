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
import { drawSteps, stepIndexAt, stepScale } from './draw-steps.ts'

type Steps = StoreResult<'steps'>

interface CardProps extends Props {
  /** Index of the step. */
  readonly at: number
  /** Whether it lies in the right half, where the card goes to its left. */
  readonly right: boolean
  /** CSS pixels from the left edge. */
  readonly x: number
}

const StepCard = ({ steps, manifest, at, x, right }: CardProps) => {
  const of = (values: ArrayLike<number>): number => values[at] ?? Number.NaN
  const source = stepNote(sourceOfCode(steps.provenance[at]), manifest)
  const [wallMs, deviceMs] = [of(steps.wallNs) / 1e6, of(steps.deviceNs) / 1e6]
  const proposed = steps.draftProposed[at] ?? -1
  return (
    <div
      className={right ? 'steps-card steps-card-left num' : 'steps-card num'}
      style={{ left: x }}
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

const summaryOf = ({ step, tokensPerSecond }: Steps): string => {
  const rates = Float64Array.from(tokensPerSecond).filter(Number.isFinite).sort()
  const range =
    rates.length === 0
      ? 'none has a rate'
      : `${formatRate(rates[0] ?? 0)} to ${formatRate(rates[rates.length - 1] ?? 0)} tokens/s, median ${formatRate(rates[rates.length >> 1] ?? 0)}`
  return `Throughput over the steps: ${formatInt(step[0] ?? 0)} to ${formatInt(step[step.length - 1] ?? 0)}, ${range}; the inspector has the numbers of the selected step`
}

interface Props {
  readonly steps: Steps
  readonly manifest: Manifest
}

interface Hover {
  /** Index of the step. */
  readonly at: number
  /** Of the picture, in CSS pixels. */
  readonly width: number
}

/**
 * Throughput over the steps; a click selects a step. The numbers beside it come ten times a second while a run goes on, and
 * drawn with each of them it would take much of the time that there is.
 */
export const StepsChart = memo(({ steps, manifest }: Props) => {
  const theme = useTheme()
  const selected = useSelection((s) => s.step)
  const select = useSelection((s) => s.select)
  const [hover, setHover] = useState<Hover | null>(null)
  const hovered = hover !== null && hover.at < steps.step.length ? hover : null
  const at = hovered?.at ?? null
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
  const summary = useMemo(() => summaryOf(steps), [steps])
  const x = hovered === null ? 0 : stepScale(steps, hovered.width)(steps.step[hovered.at] ?? 0)
  return (
    <>
      <canvas
        ref={canvas}
        role="img"
        data-testid="run-steps-chart"
        aria-label={summary}
        onPointerMove={({ currentTarget: { clientWidth: width }, nativeEvent }) => {
          const next = stepIndexAt(steps, nativeEvent.offsetX, width)
          if (next !== at) setHover(next === null ? null : { at: next, width })
        }}
        onPointerLeave={() => setHover(null)}
        onClick={({ currentTarget, nativeEvent }) => {
          const hit = stepIndexAt(steps, nativeEvent.offsetX, currentTarget.clientWidth)
          const step = hit === null ? undefined : steps.step[hit]
          if (step !== undefined) select({ step })
        }}
      />
      {hovered === null ? null : (
        <StepCard steps={steps} manifest={manifest} at={hovered.at} x={x} right={x > hovered.width / 2} />
      )}
    </>
  )
})
