import type { BadRowKind } from './row-kinds.ts'

/** A query row of a layer in a step. */
export interface RowPlace {
  readonly step: number
  readonly layer: number
  readonly request: number
  /** Query row within the request. */
  readonly qIndex: number
}

/** A row of a rank's partial that was bad as the kernel returned it. */
export interface BadPartial extends RowPlace {
  readonly rank: number
  readonly kind: BadRowKind
  /** Values that are NaN or infinite, in out and lse over all heads. */
  readonly odd: number
  /** Whether it went into the merge as bad as it was; null where no capture tells. */
  readonly merged: boolean | null
}

/** A merged row that an event names: the first NaN of a step, or the row that is furthest off the reference. */
export interface BadMerged extends RowPlace {
  readonly kind: 'nan_in_merged' | 'check_failed'
  /** Rank that holds the row's head after the merge. */
  readonly rank: number
  /** NaN values of the step, or the relative error. */
  readonly value: number
}

/**
 * Where it began:
 * - `none`: no partial and no merged row was bad;
 * - `harmless`: partials were, merged rows were not;
 * - `partial`: these partials of the first bad merged row were, and went into the merge; of several without keys that no capture
 *   has, one at least;
 * - `merge`: the first bad merged row is NaN, and no partial of it could make it so;
 * - `finite`: it is off the reference, and no partial of it is known to have been bad. `suspects` are those without keys that
 *   the kernel did not leave neutral, of which no capture tells whether they were made so before the merge.
 * `before` is the first bad partial of an earlier step or layer, which reached no merged row.
 */
export type Cause =
  | { readonly kind: 'none' }
  | { readonly kind: 'harmless'; readonly first: BadPartial }
  | {
      readonly kind: 'partial'
      /** One a rank, in order: ranks work at once. */
      readonly partials: readonly BadPartial[]
      readonly merged: BadMerged
      readonly before: BadPartial | null
    }
  | { readonly kind: 'merge'; readonly merged: BadMerged; readonly before: BadPartial | null }
  | {
      readonly kind: 'finite'
      readonly merged: BadMerged
      readonly suspects: readonly BadPartial[]
      readonly before: BadPartial | null
    }

/** Order in which partials come to be: by step and layer; ranks work at once and stand by number. */
const inOrder = (a: BadPartial, b: BadPartial): number =>
  a.step - b.step || a.layer - b.layer || a.rank - b.rank || a.request - b.request || a.qIndex - b.qIndex

/** A NaN event names the first layer, a failed check the worst one: of one step the NaN says more. */
const mergedInOrder = (a: BadMerged, b: BadMerged): number =>
  a.step - b.step ||
  Number(a.kind === 'check_failed') - Number(b.kind === 'check_failed') ||
  a.layer - b.layer

const isOf = (partial: BadPartial, { step, layer, request, qIndex }: BadMerged): boolean =>
  partial.step === step && partial.layer === layer && partial.request === request && partial.qIndex === qIndex

const hasKeys = ({ kind }: BadPartial): boolean => kind !== 'empty_row_left'

/**
 * Which partials of its row made `merged` bad. NaN comes of values that are NaN or infinite. A row without keys is made neutral
 * before the merge, so what a kernel left there counts only where no row with keys is bad.
 */
const culprits = (ofRow: readonly BadPartial[], { kind }: BadMerged): readonly BadPartial[] => {
  const withKeys = ofRow.filter(hasKeys)
  if (kind === 'check_failed')
    return withKeys.length > 0 ? withKeys : ofRow.filter(({ merged }) => merged === true)
  const odd = ofRow.filter((one) => one.odd > 0 && one.merged !== false)
  return odd.some(hasKeys) ? odd.filter(hasKeys) : odd
}

/**
 * The first cause: from the first bad merged row back to the partials that it was merged from. Both lists in any order; it
 * suffices that they hold the first of each and all partials of the first bad merged row.
 */
export const firstCause = (partials: readonly BadPartial[], mergedRows: readonly BadMerged[]): Cause => {
  const sorted = [...partials].sort(inOrder)
  const [first] = sorted
  const [merged] = [...mergedRows].sort(mergedInOrder)
  if (merged === undefined) return first === undefined ? { kind: 'none' } : { kind: 'harmless', first }
  const earlier =
    first !== undefined &&
    (first.step < merged.step || (first.step === merged.step && first.layer < merged.layer))
  const before = earlier ? first : null
  const ofRow = sorted.filter((one) => isOf(one, merged))
  const found = culprits(ofRow, merged)
  if (found.length > 0) return { kind: 'partial', partials: found, merged, before }
  if (merged.kind === 'nan_in_merged') return { kind: 'merge', merged, before }
  return { kind: 'finite', merged, suspects: ofRow.filter((one) => one.merged === null), before }
}
