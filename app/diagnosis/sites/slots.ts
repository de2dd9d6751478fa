import { NO_SLOT } from '../../dcp/pages.ts'
import type { Case } from '../case.ts'
import type { Claim } from '../claim.ts'
import { slotMapIgnoresDcp } from '../hypotheses/slot-map-ignores-dcp.ts'
import type { Hypothesis } from '../hypothesis.ts'
import { comparedSlots, newToken, rightSlot } from '../right.ts'
import { type Fallback, tableClaims, type WrongCell } from './tables.ts'

/** Where new tokens were written, against their place. */
export const slotClaims = (c: Case, hypotheses: readonly Hypothesis[]): Claim[] => {
  // The lengths of one rank alone may be what is wrong.
  if (c.ranks.some(({ global }) => global === undefined)) return []
  return tableClaims(c, hypotheses, {
    name: c.ranks.some(({ table }) => table !== undefined)
      ? 'slots of new tokens'
      : 'slots of new tokens within their pages',
    unit: 'slot',
    observed: (rank) => comparedSlots(c, rank),
    expected: (rank, row) => rightSlot(c, rank, row),
    rowsOf: (row) => [row],
    label: (row) => `row ${row}`,
    predictions: (hypothesis) => hypothesis.slots?.(c) ?? [],
    // A token that is not written where it belongs is written elsewhere, if others deal out tokens: one that is written nowhere
    // fits as well as any of them.
    speakFor: (cells) => cells.some(({ observed }) => observed >= 0),
    otherwise: (wrong) => foreign(c, wrong),
  })
}

/** Rows whose new token lies within the lengths and that no rank writes. */
export const unwrittenTokens = (c: Case): number[] => {
  if (c.ranks.length < c.dcp || c.ranks.some(({ slots }) => slots === undefined)) return []
  return Array.from({ length: c.rows }, (_, row) => row).filter(
    (row) => newToken(c, row) !== undefined && c.ranks.every(({ slots }) => (slots?.[row] ?? 0) < 0),
  )
}

/** A rank that writes what belongs to another does not know how tokens are dealt out, whatever it takes for their place. */
const foreign = (c: Case, wrong: readonly WrongCell[]): Fallback | undefined => {
  const cells = wrong.filter(({ expected, observed }) => expected === NO_SLOT && observed >= 0)
  return cells.length === 0
    ? undefined
    : {
        hypothesis: slotMapIgnoresDcp,
        detail: 'so that a rank writes tokens that belong to another',
        explained: cells.length / wrong.length,
        // Only with lengths and table can it be told from ranks that hold tokens twice or deal them out otherwise.
        rivals: c.ranks.every(({ local, table }) => local !== undefined && table !== undefined)
          ? []
          : ['coverage-overlap', 'interleave-mismatch'],
      }
}
