import type { SpanStat } from '../../../app/trace/span-stats.ts'
import { formatNs, formatPercent } from '../../drawing/format.ts'

/** Which rank made the others wait most, of statistics by rank. */
export const causedText = (ranks: readonly SpanStat[]): string => {
  const waited = ranks.reduce((sum, { waitNs }) => sum + waitNs, 0)
  if (ranks.length < 2) return ''
  if (waited === 0) return 'No rank waited for another.'
  const most = ranks.reduce((best, rank) => ((rank.causedNs ?? 0) > (best.causedNs ?? 0) ? rank : best))
  const caused = most.causedNs ?? 0
  return `Rank ${most.key} made the others wait most: ${formatNs(caused)}, ${formatPercent(caused / waited)} of all waiting.`
}
