import type { FaultName } from '../../faults/names.ts'
import type { Case } from '../case.ts'
import type { Claim } from '../claim.ts'
import { coverageGap } from '../hypotheses/coverage-gap.ts'
import { coverageOverlap } from '../hypotheses/coverage-overlap.ts'
import type { Hypothesis } from '../hypothesis.ts'
import { rightLength, rowsOfRequest } from '../right.ts'
import { slotClaims } from './slots.ts'
import { type Fallback, tableClaims, type WrongCell } from './tables.ts'

/** Local lengths handed to the kernels, against the formula. */
export const lengthClaims = (c: Case, hypotheses: readonly Hypothesis[]): Claim[] =>
  tableClaims(c, hypotheses, {
    name: 'local lengths',
    unit: 'tokens',
    observed: ({ local }) => local,
    expected: (rank, request) => rightLength(c, rank, request),
    rowsOf: (request) => rowsOfRequest(c, request),
    label: (request) => `request ${request}`,
    predictions: (hypothesis) => hypothesis.lengths?.(c) ?? [],
    otherwise: coverage,
  })

/** Global lengths handed to the kernels, against those of the other ranks, or what the ranks have together. */
export const globalClaims = (c: Case, hypotheses: readonly Hypothesis[]): Claim[] => {
  const claims = wrongGlobals(c, hypotheses)
  return claims.map((claim) => ({ ...claim, rivals: [...claim.rivals, ...asTold(c, hypotheses)] }))
}

/** Lengths that all ranks say alike are wrong only if slots are right: what is wrong with these if the lengths are right. */
const asTold = (c: Case, hypotheses: readonly Hypothesis[]): FaultName[] => {
  const [first] = c.ranks
  const global = first?.global
  if (global === undefined) return []
  const isAlike = c.ranks.every((rank) => rank.global?.join() === global.join())
  return isAlike ? slotClaims({ ...c, lengths: global }, hypotheses).map(({ fault }) => fault) : []
}

const wrongGlobals = (c: Case, hypotheses: readonly Hypothesis[]): Claim[] =>
  tableClaims(c, hypotheses, {
    name: 'global lengths',
    unit: 'tokens',
    observed: ({ global }) => global,
    expected: (_, request) => c.lengths?.[request],
    rowsOf: (request) => rowsOfRequest(c, request),
    label: (request) => `request ${request}`,
    predictions: (hypothesis) => hypothesis.globals?.(c) ?? [],
    otherwise: () => undefined,
  })

/** Too many keys in all, or too few, is all that can be said of lengths that nothing else explains. */
const coverage = (wrong: readonly WrongCell[]): Fallback => {
  const over = wrong.filter(({ observed, expected }) => observed > expected).length
  return {
    hypothesis: over * 2 >= wrong.length ? coverageOverlap : coverageGap,
    detail: 'so that the ranks do not share out all tokens, each once',
    explained: Math.max(over, wrong.length - over) / wrong.length,
    rivals: [],
  }
}
