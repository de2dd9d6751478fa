import type { FaultName } from '../faults/names.ts'
import type { Claim } from './claim.ts'
import { hypothesisOf } from './registry.ts'
import { type Evidence, type Finding, MAX_LISTED } from './result.ts'

/** A claim, and the step and layer that it is of. */
export interface PlacedClaim extends Claim {
  readonly step: number
  readonly layer: number
}

/** Least confidence of a finding that others explain as well. */
const SHARED = 0.5

/** One finding a fault, from what all sites say of all steps and layers; best first. */
export const findingsOf = (given: readonly PlacedClaim[]): Finding[] => {
  const claims = settled(given)
  const faults = [...new Set(claims.map(({ fault }) => fault))]
  return faults
    .map((fault) => {
      const own = claims.filter((claim) => claim.fault === fault)
      return {
        finding: findingOf(fault, own),
        ofPadding: own.every(({ ofPadding = false }) => ofPadding),
      }
    })
    .sort((a, b) => Number(a.ofPadding) - Number(b.ofPadding) || weight(b.finding) - weight(a.finding))
    .map(({ finding }) => finding)
}

/**
 * What one place leaves open another one may decide: a claim is of its rival where the rival is claimed elsewhere and the fault
 * itself is not.
 */
const settled = (claims: readonly PlacedClaim[]): PlacedClaim[] => {
  const sure = new Set(claims.filter(({ rivals }) => rivals.length === 0).map(({ fault }) => fault))
  return claims.map((claim) => {
    if (claim.rivals.length === 0) return claim
    if (sure.has(claim.fault)) return { ...claim, rivals: [] }
    const decided = claim.rivals.find((rival) => sure.has(rival))
    return decided === undefined ? claim : { ...claim, fault: decided, rivals: [] }
  })
}

const weight = ({ explained, confidence }: Pick<Claim, 'explained' | 'confidence'>): number =>
  explained * confidence

const findingOf = (fault: FaultName, claims: readonly PlacedClaim[]): Finding => {
  const { title, causes, captureNext } = hypothesisOf(fault)
  const best = claims.reduce((a, b) => (weight(b) > weight(a) ? b : a))
  const rows = ascending(claims.flatMap((claim) => claim.rows))
  const ambiguousWith = [...new Set(best.rivals)].filter((rival) => rival !== fault).slice(0, 2)
  return {
    fault,
    title,
    confidence: ambiguousWith.length > 0 ? Math.min(best.confidence, SHARED) : best.confidence,
    explained: best.explained,
    ranks: ascending(claims.flatMap((claim) => claim.ranks)),
    steps: ascending(claims.map(({ step }) => step)),
    layers: ascending(claims.map(({ layer }) => layer)),
    rows: rows.slice(0, MAX_LISTED),
    rowCount: rows.length,
    heads: ascending(claims.flatMap((claim) => claim.heads)),
    summary: best.summary,
    evidence: finite(best.evidence),
    ambiguousWith,
    causes,
    captureNext,
  }
}

const ascending = (values: readonly number[]): number[] => [...new Set(values)].sort((a, b) => a - b)

/** Numbers of a document are finite, or null. */
const finite = ({ numbers, picture }: Evidence): Evidence => ({
  numbers: numbers.map((number) => ({ ...number, value: finiteOrNull(number.value) })),
  ...(picture === undefined
    ? {}
    : {
        picture:
          picture.kind === 'heat'
            ? { ...picture, values: picture.values.map(finiteOrNull) }
            : {
                ...picture,
                series: picture.series.map((one) => ({ ...one, values: one.values.map(finiteOrNull) })),
              },
      }),
})

const finiteOrNull = (value: number | null): number | null =>
  value === null || Number.isFinite(value) ? value : null
