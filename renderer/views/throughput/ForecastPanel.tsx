import { durationText, reasonLines } from '../../../app/sweep/words.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { formatBytes, formatInt } from '../../drawing/format.ts'
import type { Foretold } from './use-forecast.ts'

const points = (n: number): string => `${formatInt(n)} ${n === 1 ? 'point' : 'points'}`

/** What a sweep would be before anything of it is measured: points, what is left out and why, time. */
export const ForecastPanel = ({ foretold }: { readonly foretold: Foretold | null }) => (
  <section className="throughput-part" aria-label="Forecast" data-testid="forecast">
    <h3>
      Forecast <SourceBadge source="predicted" />
    </h3>
    {foretold === null ? (
      <p className="quiet">Once the fields are right, it says what would be measured.</p>
    ) : (
      <Facts {...foretold} />
    )}
  </section>
)

const Facts = ({ forecast, machine }: Foretold) => {
  const { runs, leftOut, limited, seconds, whole } = forecast
  return (
    <>
      <dl className="facts">
        <dt>points</dt>
        <dd className="num" data-testid="forecast-points" data-value={forecast.points}>
          {formatInt(forecast.points)}
        </dd>
        <dt>runs</dt>
        <dd className="num" title="Repeats of all points; those that the pool does not hold share theirs">
          {formatInt(runs)}
        </dd>
        <dt>left out</dt>
        <dd className="num" data-testid="forecast-left-out" data-value={leftOut.length}>
          {formatInt(leftOut.length)}
        </dd>
        <dt>time</dt>
        <dd className="num" data-testid="forecast-time">
          {whole ? 'about' : 'at least'} {durationText(seconds)}
        </dd>
        <dt>measured on</dt>
        <dd>
          {machine.device === 'cuda' ? 'the GPU' : 'the CPU'},{' '}
          <span className="num">{formatBytes(machine.memoryBytes)}</span>
        </dd>
      </dl>
      <p className="quiet">
        {whole
          ? 'By the cost model with the rates of the sweep that is open.'
          : 'Without the steps themselves: their rates are measured before the first point, and the time left is told from then on.'}
      </p>
      {forecast.points > 0 ? null : (
        <p className="throughput-error" role="alert">
          No point of it can be measured.
        </p>
      )}
      {limited === 0 ? null : (
        <p>
          <span className="summary-at">at capacity:</span> {points(limited)}; the pool holds fewer requests
          than are asked for, and the others wait
        </p>
      )}
      {reasonLines(leftOut).map(({ text, keys }) => (
        <p key={text} className="selectable" title={keys.join('\n')}>
          <span className="summary-at">left out:</span> {text}
        </p>
      ))}
    </>
  )
}
