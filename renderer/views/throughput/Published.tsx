import type { Metric, PublishedPoint } from '../../../app/sweep/published.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { formatInt, formatRate } from '../../drawing/format.ts'

/** Tells a figure from all others. */
export const publishedName = (point: PublishedPoint): string => Object.values(point).join(' ')

const METRIC_WORDS: Readonly<Partial<Record<Metric, string>>> = {
  gain: 'times the rate without DCP',
  output_tokens_per_s: 'tokens/s',
  tpot_ms: 'ms a token',
}

/** A diamond without DCP, a cross with it. */
export const publishedShape = ({ dcp }: Pick<PublishedPoint, 'dcp'>): string =>
  dcp === 1 ? 'M-5 0L0 -5L5 0L0 5Z' : 'M-5 -5L5 5M-5 5L5 -5'

/** What is known of a published figure, and where it was published. */
export const PublishedFacts = ({ point }: { readonly point: PublishedPoint }) => {
  const { model, gpu, world, dcp, comm, kvDtype, context, concurrency, note } = point
  const setup = [
    model ?? 'model not stated',
    gpu ?? 'GPU not stated',
    ...(world === null ? [] : [`${world} ranks`]),
    dcp === 1 ? 'without DCP' : `dcp ${dcp}`,
    ...(comm === null ? [] : [comm]),
    ...(kvDtype === null ? [] : [kvDtype]),
    `context ${context === null ? 'not stated' : formatInt(context)}`,
    `concurrency ${concurrency === null ? 'not stated' : formatInt(concurrency)}`,
    ...(note === undefined ? [] : [note]),
  ]
  return (
    <div className="throughput-published-facts selectable" data-testid="published-facts">
      <p>
        <span className="num">{formatRate(point.value)}</span> {METRIC_WORDS[point.metric] ?? point.metric}{' '}
        <SourceBadge source={point.provenance} />
      </p>
      <p>{setup.join(', ')}</p>
      <p className="quiet">{point.source}</p>
    </div>
  )
}

/** The figures that are laid over, apart from all that was measured or predicted here. */
export const PublishedList = ({ points }: { readonly points: readonly PublishedPoint[] }) => (
  <section className="throughput-part" aria-label="Published">
    <h3>
      Published by others <SourceBadge source="published" />
      <span className="field-unit">
        what has a place in the curves or the map; dcpscope sweep --json lists all
      </span>
    </h3>
    {points.length === 0 ? <p className="quiet">No figure is of this context or concurrency.</p> : null}
    {points.map((point) => (
      <PublishedFacts key={publishedName(point)} point={point} />
    ))}
  </section>
)
