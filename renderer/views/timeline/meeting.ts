import type { StoreResult } from '../../../app/protocol/store.ts'
import { formatNs } from '../../drawing/format.ts'
import { type SpanFact, spanFact } from './facts.ts'
import type { Meeting } from './scene.ts'

/** A collective from the spans of its ranks; null for fewer than two. */
export const meetingOf = (spans: StoreResult<'collective'>): Meeting | null => {
  const [first] = spans
  if (first === undefined || spans.length < 2) return null
  const last = spans.reduce((late, span) => (span.enterNs > late.enterNs ? span : late), first)
  return {
    lastRank: last.rank,
    lastEnterNs: last.enterNs,
    entries: spans.map(({ rank, enterNs, endNs }) => ({ rank, enterNs, endNs })),
  }
}

/** Who came last, and for each rank how long it waited for that one and how long the transfer took; `source` of the times. */
export const meetingFacts = (
  { lastRank, lastEnterNs, entries }: Meeting,
  source: string | undefined,
): SpanFact[] => {
  const waited = entries.reduce((sum, { enterNs }) => sum + Math.max(0, lastEnterNs - enterNs), 0)
  const from = source === undefined ? {} : { source }
  return [
    spanFact('entered last', `rank ${lastRank}`, lastRank),
    { ...spanFact('all waited', formatNs(waited), waited, `${entries.length} ranks together`), ...from },
    ...entries.map(({ rank, enterNs, endNs }) => {
      const waitNs = Math.max(0, lastEnterNs - enterNs)
      const transferNs = Math.max(0, endNs - Math.max(enterNs, lastEnterNs))
      return {
        ...spanFact(
          `rank ${rank}`,
          `${formatNs(waitNs)} + ${formatNs(transferNs)}`,
          `${waitNs} ns waiting, ${transferNs} ns transfer`,
          rank === lastRank ? 'last; waiting + transfer' : 'waiting + transfer',
        ),
        ...from,
      }
    }),
  ]
}
