import { PUBLISHED, type PublishedPoint } from './published.ts'
import { type Axis, otherAxis } from './spots.ts'

/**
 * Published figures that can be laid over what is shown: rates over curves, gains over cells, pairs of both over the front. They keep their sources, and
 * nothing is computed from them.
 */

/**
 * Rates of output tokens along `axis`, from its `least` to its `most`. Where a source does not say what is held, nothing is
 * known to differ from `held`.
 */
export const publishedRates = (axis: Axis, held: number, least: number, most: number): PublishedPoint[] =>
  PUBLISHED.filter((point) => {
    const [at, other] = [point[axis], point[otherAxis(axis)]]
    if (point.metric !== 'output_tokens_per_s' || at === null || at < least || at > most) return false
    return other === null || other === held
  })

/** Gains at exactly this context and concurrency. */
export const publishedGains = (context: number, concurrency: number): PublishedPoint[] =>
  PUBLISHED.filter(
    (point) => point.metric === 'gain' && point.context === context && point.concurrency === concurrency,
  )

/** Latency and rate that one source gives of the same run. */
export interface PublishedPair {
  /** Milliseconds a token. */
  readonly latency: PublishedPoint
  /** Tokens/s of the group. */
  readonly rate: PublishedPoint
}

const ofOneRun = (a: PublishedPoint, b: PublishedPoint): boolean =>
  (['source', 'model', 'gpu', 'world', 'dcp', 'comm', 'kvDtype', 'context', 'concurrency'] as const).every(
    (key) => a[key] === b[key],
  )

/** What is published of both latency and throughput at exactly this context, by sources that say on how many GPUs. */
export const publishedPairs = (context: number): PublishedPair[] =>
  PUBLISHED.filter((point) => point.metric === 'tpot_ms' && point.context === context).flatMap((latency) => {
    const rate = PUBLISHED.find((point) => point.metric === 'output_tokens_per_s' && ofOneRun(point, latency))
    return rate === undefined || rate.world === null ? [] : [{ latency, rate }]
  })
