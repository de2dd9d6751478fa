import type { Collective, CollectiveTiming } from './config.ts'

/**
 * Time of a collective between GPUs of one host, in microseconds. From a table of measured timings where there is one,
 * else from the latency model of NCCL's own tuner for one node with NVLink (src/graph/tuning.cc of NCCL, ring algorithms,
 * base latency, latency of a hop and bus bandwidth on Hopper by protocol): base + hops * hop + bytes / bandwidth, the best
 * of the protocols. What comes from the model is a prediction, however the other parts of a number were found.
 */

interface Protocol {
  readonly baseUs: number
  readonly hopUs: number
  readonly bytesPerUs: number
}

/** LL, LL128 and Simple. */
const RING: readonly Protocol[] = [
  { baseUs: 6.6, hopUs: 0.6, bytesPerUs: 141e3 },
  { baseUs: 14.0, hopUs: 1.9, bytesPerUs: 331.2e3 },
  { baseUs: 8.4, hopUs: 3.4, bytesPerUs: 360e3 },
]

/**
 * Kernels that load and store peer memory over NVLink without multicast, for a transport of one kernel: base latency and
 * bandwidth of NCCL's symmetric kernels (src/sym_kernels.cc, sm90).
 */
const PEER: readonly Protocol[] = [{ baseUs: 7.8, hopUs: 0, bytesPerUs: 320 * 1.073741824e3 }]

/** Sends go to all peers at once, so that an all-to-all and a kernel on peer memory take one hop; rings take ranks - 1. */
const hopsOf = (collective: Collective, ranks: number): number =>
  collective === 'all_gather' || collective === 'reduce_scatter' ? ranks - 1 : 1

/** `bytes`: what one rank receives from all others together, the same for every collective here. */
export const modelUs = (collective: Collective, ranks: number, bytes: number): number => {
  if (ranks < 2) return 0
  const hops = hopsOf(collective, ranks)
  const protocols = collective === 'p2p' ? PEER : RING
  return Math.min(...protocols.map((p) => p.baseUs + hops * p.hopUs + bytes / p.bytesPerUs))
}

export interface CollectiveTime {
  readonly us: number
  /** Whether a measured timing is behind it. */
  readonly source: 'table' | 'model'
}

/**
 * From the timings of that collective in groups of that size, else of the nearest size, scaled by what the model says of
 * both sizes; from the model where the table has none of that collective.
 */
export const collectiveTime = (
  table: readonly CollectiveTiming[],
  collective: Collective,
  ranks: number,
  bytes: number,
): CollectiveTime => {
  if (ranks < 2) return { us: 0, source: 'model' }
  const known = table.filter((timing) => timing.collective === collective)
  const sizes = [...new Set(known.map((timing) => timing.ranks))]
  const nearest = sizes.sort((a, b) => distance(a, ranks) - distance(b, ranks))[0]
  if (nearest === undefined) return { us: modelUs(collective, ranks, bytes), source: 'model' }
  const us = interpolated(
    known.filter((timing) => timing.ranks === nearest),
    bytes,
  )
  const scale = modelUs(collective, ranks, bytes) / modelUs(collective, nearest, bytes)
  return { us: us * scale, source: 'table' }
}

const distance = (a: number, b: number): number => Math.abs(Math.log2(a / b))

/**
 * Linear between the two timings around `bytes`; below the least message its time, since latency is a floor, and above the
 * largest the bandwidth between the last two, or that of the last alone.
 */
const interpolated = (timings: readonly CollectiveTiming[], bytes: number): number => {
  const sorted = [...timings].sort((a, b) => a.bytes - b.bytes)
  const above = sorted.findIndex((timing) => timing.bytes >= bytes)
  const high = sorted[above < 0 ? sorted.length - 1 : above]
  const low = sorted[above < 0 ? sorted.length - 2 : above - 1]
  if (high === undefined) return 0
  if (low === undefined) return above < 0 && high.bytes > 0 ? (high.us * bytes) / high.bytes : high.us
  if (high.bytes === low.bytes) return high.us
  const slope = Math.max(0, (high.us - low.us) / (high.bytes - low.bytes))
  return above < 0 ? high.us + slope * (bytes - high.bytes) : low.us + slope * (bytes - low.bytes)
}
