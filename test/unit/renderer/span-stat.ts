import type { SpanStat } from '../../../app/trace/span-stats.ts'
import type { Provenance } from '../../../app/trace/stages.ts'

/** Statistics of a name of which only count, sum, waiting and source matter. */
export const statOf = (
  key: string,
  count: number,
  sumNs: number,
  waitNs: number,
  source: Provenance,
): SpanStat => ({
  key,
  count,
  sumNs,
  waitNs,
  causedNs: null,
  minNs: 0,
  p50Ns: 0,
  p95Ns: 0,
  maxNs: 0,
  longest: { rank: 0, startNs: 0 },
  sources: [source],
})
