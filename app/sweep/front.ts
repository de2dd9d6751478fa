import { arrangementName, type Spot } from './spots.ts'

/**
 * Latency against throughput: which points of one context no other beats in both, the time that a user waits for a token and
 * the tokens that a GPU makes.
 */

export interface FrontPoint {
  readonly spot: Spot
  /** What a user waits for a token, in milliseconds: requests that run at once over the rate of all. */
  readonly msPerToken: number
  /** Tokens per second of the whole group over its GPUs. */
  readonly perGpu: number
  /** A point that is better in one and no worse in the other, the closest in latency; null on the front. */
  readonly beatenBy: Spot | null
}

export const msPerToken = ({ batch, tokensPerSecond }: Pick<Spot, 'batch' | 'tokensPerSecond'>): number =>
  (1e3 * batch) / tokensPerSecond

/** Points that ask for more than the pool holds are the one with as many requests as it does hold, seen again. */
const distinct = (spots: readonly Spot[]): Spot[] => {
  const found = new Map<string, Spot>()
  for (const spot of [...spots].sort((a, b) => a.concurrency - b.concurrency)) {
    const name = `${arrangementName(spot)} ${spot.batch}`
    if (!found.has(name)) found.set(name, spot)
  }
  return [...found.values()]
}

/** Points of one kind and context, the shortest time a token first. `world`: GPUs of the group. */
export const frontOf = (spots: readonly Spot[], world: number): FrontPoint[] => {
  const points = distinct(spots)
    .map((spot) => ({ spot, msPerToken: msPerToken(spot), perGpu: spot.tokensPerSecond / world }))
    .filter((point) => Number.isFinite(point.msPerToken))
    .sort((a, b) => a.msPerToken - b.msPerToken || b.perGpu - a.perGpu)
  let best: (typeof points)[number] | undefined
  return points.map((point): FrontPoint => {
    const equal = best?.msPerToken === point.msPerToken && best.perGpu === point.perGpu
    const beatenBy = best !== undefined && !equal && best.perGpu >= point.perGpu ? best.spot : null
    if (beatenBy === null) best = point
    return { ...point, beatenBy }
  })
}
