import type { BadMerged, BadPartial, Cause, RowPlace } from './cause.ts'
import type { RowKind } from './row-kinds.ts'

/** A row of the `rows` table that is worth a look. */
export interface RowNumbers {
  readonly kind: RowKind
  readonly visibleKeys: number
  readonly outNan: number
  readonly outInf: number
  readonly outAbsmax: number
  readonly lseNan: number
  readonly lseMin: number
  readonly lseMax: number
}

const counted = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`

const real = (x: number): string =>
  Number.isFinite(x) ? String(Number(x.toPrecision(4))) : String(x).replace('Infinity', '∞').replace('-', '−')

/** One sentence of a row of a partial, as events have one. */
export const rowText = (row: RowNumbers): string => {
  const { kind, visibleKeys, outNan, outInf, outAbsmax, lseNan, lseMin, lseMax } = row
  if (kind === 'empty_row') return 'No keys: the partial is (out 0, lse −∞).'
  const odd = [
    ...(outNan > 0 ? [counted(outNan, 'NaN value')] : []),
    ...(outInf > 0 ? [counted(outInf, 'infinite value')] : []),
    ...(lseNan > 0 ? [`${counted(lseNan, 'head')} with NaN lse`] : []),
  ]
  const lse = Number.isNaN(lseMax)
    ? []
    : [lseMin === lseMax ? `lse ${real(lseMax)}` : `lse ${real(lseMin)} to ${real(lseMax)}`]
  const keys = visibleKeys === 0 ? 'No keys' : counted(visibleKeys, 'key')
  return `${keys}: ${[...odd, `largest |out| ${real(outAbsmax)}`, ...lse].join(', ')}.`
}

export const placeText = ({ step, layer, request, qIndex }: RowPlace): string =>
  `step ${step}, layer ${layer}, request ${request}, query row ${qIndex}`

const WHAT: Readonly<Record<BadPartial['kind'], string>> = {
  nan_in_row: 'is NaN',
  inf_in_row: 'is infinite',
  lse_in_row: 'has an lse that is NaN or +∞',
  empty_row_left: 'has no keys and was not neutral',
}

const ranksText = (ranks: readonly number[]): string => {
  if (ranks.length === 1) return `rank ${ranks[0]}`
  return `ranks ${ranks.slice(0, -1).join(', ')} and ${ranks.at(-1)}`
}

const small = (x: number): string => (Number.isFinite(x) ? x.toExponential(2).replace('-', '−') : String(x))

const became = ({ kind, value, rank }: BadMerged): string =>
  kind === 'nan_in_merged'
    ? `the merged row became NaN, first seen on rank ${rank}`
    : `the merged row is off the reference by ${small(value)}, worst on rank ${rank}`

const beforeText = (before: BadPartial | null): string[] =>
  before === null
    ? []
    : [
        `Before it the partial of rank ${before.rank} ${WHAT[before.kind]}, at ${placeText(before)}; no event names its merged row.`,
      ]

/** The first cause in sentences, the most important first. */
export const causeText = (cause: Cause): readonly [headline: string, ...more: string[]] => {
  switch (cause.kind) {
    case 'none':
      return ['No partial held NaN, Inf or leftovers, and no merged row was bad.']
    case 'harmless': {
      const { first } = cause
      return first.kind === 'empty_row_left'
        ? [
            `Harmless: kernels left values in rows without keys, first rank ${first.rank} at ${placeText(first)}.`,
            'They were made (out 0, lse −∞) before the merge: no merged row is NaN, and no checked one is off the reference.',
          ]
        : [
            `The partial of rank ${first.rank} ${WHAT[first.kind]} at ${placeText(first)}.`,
            'Yet no merged row is NaN, and no checked one is off the reference.',
          ]
    }
    case 'partial':
      return partialText(cause)
    case 'merge':
      return [
        `First: the merge itself made NaN of finite partials, at ${placeText(cause.merged)}, on rank ${cause.merged.rank}.`,
        ...beforeText(cause.before),
      ]
    case 'finite':
      return [
        `The first wrong row is off the reference by ${small(cause.merged.value)}, at ${placeText(cause.merged)}.`,
        ...suspectText(cause.suspects),
        ...beforeText(cause.before),
      ]
  }
}

const suspectText = (suspects: readonly BadPartial[]): [string] =>
  suspects.length === 0
    ? [
        'Its partials hold no NaN, no infinite value and nothing left over, so it went wrong among finite values: diagnose its tensors.',
      ]
    : [
        `Kernels left values in it on ${ranksText(suspects.map(({ rank }) => rank))}, which hold no key of it. Whether those went into the merge only its tensors tell: capture this step and layer, or diagnose.`,
      ]

/** Which stage went wrong. Of several partials without keys only a capture tells which went into the merge. */
const stageText = (partials: readonly BadPartial[]): string => {
  if (partials.some(({ kind }) => kind !== 'empty_row_left'))
    return 'The row has keys there, so attention itself returned it'
  const rule = 'Kernels leave anything in rows without keys, and neutralize has to make it (out 0, lse −∞)'
  const open = partials.length > 1 && partials.some(({ merged }) => merged === null)
  return open
    ? `${rule}; at least one of these went into the merge as it was (a capture of this step and layer tells which)`
    : `${rule}; here it went into the merge as it was`
}

const partialText = ({
  partials,
  merged,
  before,
}: Extract<Cause, { kind: 'partial' }>): [string, ...string[]] => {
  const [first] = partials
  if (first === undefined) throw new Error('a cause of partials has one at least')
  const ranks = ranksText(partials.map(({ rank }) => rank))
  return [
    `First: the partial of ${ranks} ${WHAT[first.kind]}, at ${placeText(merged)}.`,
    `${stageText(partials)}; ${became(merged)}.`,
    ...beforeText(before),
  ]
}
