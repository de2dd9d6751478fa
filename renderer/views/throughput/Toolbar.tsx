import { PUBLISHED } from '../../../app/sweep/published.ts'
import { type Facet, otherAxis, sameFacet } from '../../../app/sweep/spots.ts'
import { formatInt } from '../../drawing/format.ts'
import { ResetIcon } from '../../shell/icons.tsx'
import type { Compared, LookControl } from './look.ts'
import type { SweepModel } from './model.ts'
import { axisText } from './words.ts'

const COMPARED_WORDS: Readonly<Record<Compared, string>> = { measured: 'Measured', gpus: 'Predicted' }
const COMPARED_TITLES: Readonly<Record<Compared, string>> = {
  measured: 'What was measured on this device, ranks that share it emulated as the top bar says',
  gpus: 'What the cost model predicts for GPUs with a rank each; nothing of it was measured',
}

/** What tells facets apart, of what differs among them; KV type and query length always. */
const facetText = (facet: Facet, all: readonly Facet[]): string => {
  const differs = (key: keyof Facet): boolean => new Set(all.map((one) => one[key])).size > 1
  return [
    ...(differs('model') ? [facet.model] : []),
    ...(differs('gpu') ? [facet.gpu] : []),
    ...(differs('world') ? [`${facet.world} ranks`] : []),
    facet.kvDtype,
    `q_len ${facet.qLen}`,
  ].join(', ')
}

interface Props {
  readonly model: SweepModel
  /** Value of the other axis that the curves hold. */
  readonly held: number
  readonly control: LookControl
  /** Published figures that the present choice has room for. */
  readonly published: number
  readonly onHold: (value: number) => void
  readonly onReload: () => void
}

/** What is compared, along which axis, and what stands beside it. */
export const Toolbar = ({ model, held, control, published, onHold, onReload }: Props) => {
  const { look, change } = control
  const { facets, facet, compared, choices, contexts, concurrencies } = model
  const holds = otherAxis(look.axis)
  const values = holds === 'context' ? contexts : concurrencies
  return (
    <div className="toolbar throughput-toolbar" role="toolbar" aria-label="Throughput">
      <fieldset className="throughput-choice">
        <legend className="visually-hidden">What is compared</legend>
        {(['measured', 'gpus'] as const).map((kind) => (
          <button
            key={kind}
            type="button"
            className="button"
            aria-pressed={compared === kind}
            disabled={!choices.includes(kind)}
            title={choices.includes(kind) ? COMPARED_TITLES[kind] : 'The sweep has no such points'}
            data-testid={`compared-${kind}`}
            onClick={() => change({ compared: kind })}
          >
            {COMPARED_WORDS[kind]}
          </button>
        ))}
      </fieldset>
      <label className="throughput-pick" title="Type of the KV cache, and query tokens a request">
        <select
          className="input"
          aria-label="Cache"
          data-testid="facet"
          value={facets.findIndex((one) => sameFacet(one, facet))}
          onChange={(event) => change({ facet: facets[Number(event.target.value)] ?? null })}
        >
          {facets.map((one, i) => (
            <option key={facetText(one, facets)} value={i}>
              {facetText(one, facets)}
            </option>
          ))}
        </select>
      </label>
      <fieldset className="throughput-choice">
        <legend className="visually-hidden">Curves over</legend>
        {(['concurrency', 'context'] as const).map((axis) => (
          <button
            key={axis}
            type="button"
            className="button"
            aria-pressed={look.axis === axis}
            disabled={look.picture === 'front' && axis === 'context'}
            title={`Curves over ${axis} (X)`}
            data-testid={`axis-${axis}`}
            onClick={() => change({ axis })}
          >
            {axis}
          </button>
        ))}
      </fieldset>
      <label className="throughput-pick">
        <span>at {holds}</span>
        <select
          className="input num"
          data-testid="held"
          value={held}
          onChange={(event) => onHold(Number(event.target.value))}
        >
          {values.map((value) => (
            <option key={value} value={value}>
              {axisText(holds, value)}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        className="button"
        aria-pressed={look.published}
        title={
          look.published
            ? `${published} of ${PUBLISHED.length} published figures have a place in what is shown; dcpscope sweep --json lists all`
            : 'Lay over what others have published, of other models and GPUs; never part of the comparison'
        }
        data-testid="toggle-published"
        onClick={() => change({ published: !look.published })}
      >
        Published{look.published ? <span className="num"> {formatInt(published)}</span> : null}
      </button>
      <button
        type="button"
        className="button button-quiet button-icon"
        title="Read the sweep again (R)"
        aria-label="Reload"
        data-testid="reload"
        onClick={onReload}
      >
        <ResetIcon />
      </button>
    </div>
  )
}
