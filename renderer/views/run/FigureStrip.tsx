import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { DRAFT_HINT, DRAFT_PROXY } from '../../drawing/draft.ts'
import { formatInt, formatMs, formatRate, formatSci, formatUs } from '../../drawing/format.ts'
import { observerShare, observerText } from '../../drawing/observer.ts'
import type { Figures } from './figures.ts'

interface FigureProps {
  readonly label: string
  readonly value: string
  /** Exact value, for the pointer and for scripts. */
  readonly exact: number | null
  readonly unit?: string
  readonly note?: string | undefined
  readonly hint?: string
  readonly tone?: 'ok' | 'bad' | undefined
  readonly testId: string
}

const Figure = ({ label, value, exact, unit, note, hint, tone, testId }: FigureProps) => (
  <div className="figure" title={hint}>
    <span className="figure-label">{label}</span>
    <span
      className={tone === undefined ? 'figure-value num' : `figure-value num figure-${tone}`}
      data-testid={testId}
      data-value={exact ?? ''}
      title={exact === null ? undefined : String(exact)}
    >
      {value}
    </span>
    <span className="figure-note">
      {unit ?? ''}
      <SourceBadge source={note} />
    </span>
  </div>
)

const NONE = '–'

const checkText = ({ checkOk, failedByNan }: Figures): string => {
  if (checkOk === null) return ''
  if (checkOk) return 'check passed'
  return failedByNan ? 'check failed: NaN in other rows' : 'check failed'
}

/** The numbers that say whether a run is fine. */
export const FigureStrip = ({ figures }: { readonly figures: Figures }) => {
  const { steps, totalSteps, tokensPerSecond, stepMs, stepKind, maxRelErr, checkedRows, checkOk, dropped } =
    figures
  const { deviceStepMs, observerCost, draft, source, failedByNan } = figures
  const more = [deviceStepMs, observerCost, draft].some((figure) => figure !== null)
  return (
    <div className={more ? 'figures figures-more' : 'figures'}>
      <Figure
        label="steps"
        value={formatInt(steps)}
        exact={steps}
        unit={`of ${formatInt(totalSteps)}`}
        testId="run-steps"
      />
      <Figure
        label="throughput"
        value={tokensPerSecond === null ? NONE : formatRate(tokensPerSecond)}
        exact={tokensPerSecond}
        unit="tokens/s"
        note={source}
        testId="run-tokens-per-s"
      />
      <Figure
        label={stepKind === 'median' ? 'median step' : 'last step'}
        value={stepMs === null ? NONE : formatMs(stepMs)}
        exact={stepMs}
        note={source}
        testId="run-step-ms"
      />
      {deviceStepMs === null ? null : (
        <Figure
          label="device a step"
          value={formatMs(deviceStepMs)}
          exact={deviceStepMs}
          unit="all ranks in turn"
          hint="What the device really took for all ranks of the median step"
          testId="run-device-ms"
        />
      )}
      {observerCost === null ? null : (
        <Figure
          label="observer cost"
          value={observerText(observerCost)}
          exact={observerShare(observerCost)}
          unit="of a step"
          hint={`A traced step takes ${formatUs(observerCost.tracedUs)}, the same step untraced ${formatUs(observerCost.untracedUs)} (medians)`}
          testId="run-observer-cost"
        />
      )}
      <Figure
        label="error against reference"
        value={maxRelErr === null ? NONE : formatSci(maxRelErr)}
        exact={maxRelErr}
        unit="largest, relative"
        tone={checkOk === null || failedByNan ? undefined : checkOk ? 'ok' : 'bad'}
        testId="run-max-rel-err"
      />
      <Figure
        label="checked rows"
        value={formatInt(checkedRows)}
        exact={checkedRows}
        unit={checkText(figures)}
        testId="run-checked-rows"
      />
      {draft === null ? null : (
        <Figure
          label="draft accepted"
          value={formatInt(draft.accepted)}
          exact={draft.accepted}
          unit={`of ${formatInt(draft.proposed)}, ${DRAFT_PROXY}`}
          hint={DRAFT_HINT}
          testId="run-draft-accepted"
        />
      )}
      <Figure
        label="dropped"
        value={dropped === null ? NONE : formatInt(dropped)}
        exact={dropped}
        unit="spans"
        tone={dropped !== null && dropped > 0 ? 'bad' : undefined}
        testId="run-dropped"
      />
    </div>
  )
}
