import { PUBLISHED, type PublishedPoint } from './published.ts'
import { type Axis, otherAxis } from './spots.ts'

/**
 * Published figures that can be laid over what is shown: rates over curves, gains over cells. They keep their sources, and
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
