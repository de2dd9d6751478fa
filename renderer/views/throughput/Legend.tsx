import { arrangementName } from '../../../app/sweep/spots.ts'
import type { Arrangement } from '../../../app/sweep/summary.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { type Mark, MarkShape } from './marks.tsx'

interface SampleProps {
  readonly mark: Mark
  readonly dashed?: boolean
  readonly capped?: boolean
}

const Sample = ({ mark, dashed, capped }: SampleProps) => (
  <svg width="30" height="18" viewBox="0 0 30 18" aria-hidden="true">
    <path
      d="M1 10H29"
      stroke={mark.colour}
      strokeWidth={1.5}
      {...(dashed === true ? { strokeDasharray: '5 4' } : {})}
    />
    <MarkShape mark={mark} x={15} y={10} area={dashed === true ? 22 : 46} capped={capped} />
  </svg>
)

interface Props {
  readonly arrangements: readonly Arrangement[]
  readonly marks: ReadonlyMap<string, Mark>
  readonly hidden: ReadonlySet<string>
  readonly toggle: (name: string) => void
  /** Whether all curves are predictions, or some beside measurements. */
  readonly predicted: 'all' | 'some' | 'none'
  readonly capped: boolean
}

/** What the curves are; a click leaves one out. */
export const Legend = ({ arrangements, marks, hidden, toggle, predicted, capped }: Props) => {
  const names = arrangements.map(arrangementName)
  const sample = marks.get(names.at(-1) ?? '')
  return (
    <fieldset className="throughput-legend" aria-label="Arrangements">
      {names.map((name) => {
        const mark = marks.get(name)
        return mark === undefined ? null : (
          <button
            key={name}
            type="button"
            className="throughput-series"
            aria-pressed={!hidden.has(name)}
            title={hidden.has(name) ? `Show ${name}` : `Leave out ${name}`}
            data-testid={`series-${name.replace(' ', '-')}`}
            onClick={() => toggle(name)}
          >
            <Sample mark={mark} dashed={predicted === 'all'} />
            {name}
          </button>
        )
      })}
      {predicted !== 'some' || sample === undefined ? null : (
        <span className="throughput-series">
          <Sample mark={sample} dashed />
          <SourceBadge source="predicted" /> by the cost model, for this device
        </span>
      )}
      {!capped || sample === undefined ? null : (
        <span className="throughput-series" title="The KV pool holds fewer requests than are asked for">
          <Sample mark={sample} capped />
          rate at capacity
        </span>
      )}
    </fieldset>
  )
}
