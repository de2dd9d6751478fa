import { formatInt, formatMs, formatRate, formatSci } from '../../drawing/format.ts'
import type { Figures } from './figures.ts'

interface FigureProps {
  readonly label: string
  readonly value: string
  /** Exact value, for the pointer and for scripts. */
  readonly exact: number | null
  readonly unit?: string
  readonly note?: string | undefined
  readonly tone?: 'ok' | 'bad' | undefined
  readonly testId: string
}

const Figure = ({ label, value, exact, unit, note, tone, testId }: FigureProps) => (
  <div className="figure">
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
      {note === undefined ? null : <span className="badge figure-source">{note}</span>}
    </span>
  </div>
)

/** Where a number that was not measured comes from. */
const noteOf = ({ provenance }: Figures): string | undefined =>
  provenance === null || provenance === 'measured' ? undefined : provenance

const NONE = '–'

/** The numbers that say whether a run is fine. */
export const FigureStrip = ({ figures }: { readonly figures: Figures }) => {
  const { steps, totalSteps, tokensPerSecond, stepMs, stepKind, maxRelErr, checkedRows, checkOk, dropped } =
    figures
  return (
    <div className="figures">
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
        note={noteOf(figures)}
        testId="run-tokens-per-s"
      />
      <Figure
        label={stepKind === 'median' ? 'median step' : 'last step'}
        value={stepMs === null ? NONE : formatMs(stepMs)}
        exact={stepMs}
        note={noteOf(figures)}
        testId="run-step-ms"
      />
      <Figure
        label="error against reference"
        value={maxRelErr === null ? NONE : formatSci(maxRelErr)}
        exact={maxRelErr}
        unit="largest, relative"
        tone={checkOk === null ? undefined : checkOk ? 'ok' : 'bad'}
        testId="run-max-rel-err"
      />
      <Figure
        label="checked rows"
        value={formatInt(checkedRows)}
        exact={checkedRows}
        unit={checkOk === null ? '' : checkOk ? 'check passed' : 'check failed'}
        testId="run-checked-rows"
      />
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
