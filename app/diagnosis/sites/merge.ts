import { EMPTY_LSE, LSE_BASES, type LseBase } from '../../lse/base.ts'
import { mergeWeights } from '../../lse/merge.ts'
import { type Case, weighsOwn } from '../case.ts'
import type { Claim } from '../claim.ts'
import type { Distances } from '../contest.ts'
import { fits } from '../exchanged.ts'
import type { Hypothesis, MergeInput, MergePrediction } from '../hypothesis.ts'
import { roundingOf } from '../rounding.ts'
import { keptHead, keptHeads, type Row } from '../rows.ts'
import { addTo, type Entry, entry, type Winner, winner } from '../scoreboard.ts'

/** A rank's partial of one row as the merge gets it. */
export interface Partial {
  /** [H * W]. */
  readonly out: Float64Array
  /** [H], in the base that the dump says. */
  readonly lse: Float64Array
}

/** Relative error of merged values above which something is wrong even where nothing explains it. */
const UNEXPLAINED = 0.1
const PICTURED_RANKS = 16
/** Rounding of merged and of the partials that it is from, in units of the largest that rounding merged makes. */
const EXACT = 3
/** What an lse that stands in for that of a kernel leaves, which computes in fp32. */
const LEAST_EXACT = 2e-3
/** Least relative squared error of a head that can be another one. */
const MOVED_ERROR = 2e-4

const EXCHANGED =
  '; files that took the place of each other would look the same, since neither lengths nor slots tell these ranks apart'

export interface MergeResult {
  readonly claims: readonly Claim[]
  /** Heads that were compared. */
  readonly compared: number
  /** Sum of the squared relative errors of all heads, as the merge should be. */
  readonly total: number
  /** Largest relative error of a head, as the merge should be; what no claim explains is said elsewhere. */
  readonly worst: number
  readonly unexplained: string | undefined
}

/**
 * Follows the merge: what the partials give with the weights that are right, and with those of each hypothesis, beside what
 * the ranks kept. Rows are given one by one.
 */
export class MergeSite {
  readonly #case: Case
  readonly #kept: number
  readonly #base: LseBase
  readonly #entries: readonly Entry<MergePrediction>[]
  readonly #rows = new Set<number>()
  /** Relative squared error of each keeper and head as the merge should be. */
  readonly #errors: Float64Array
  readonly #used: { right: Float64Array; seen: Float64Array; heads: number }
  #compared = 0
  #total = 0

  /** `base` stands in for what the dump does not say of the base. */
  constructor(c: Case, hypotheses: readonly Hypothesis[], base: LseBase) {
    this.#case = c
    this.#base = base
    this.#kept = keptHeads(c)
    this.#entries = hypotheses.flatMap((hypothesis) =>
      (hypothesis.merge?.(c) ?? []).map((prediction) => entry(hypothesis, prediction, c.dcp)),
    )
    this.#errors = new Float64Array(c.dcp * Math.max(1, this.#kept))
    this.#used = { right: new Float64Array(c.dcp), seen: new Float64Array(c.dcp), heads: 0 }
  }

  /** Adds a row of which every rank's partial is known. */
  add(row: Row, partials: readonly Partial[]): void {
    const c = this.#case
    for (let keeper = 0; keeper < c.dcp; keeper++) {
      const merged = row.merged[keeper]
      if (merged === undefined) continue
      for (let place = 0; place < this.#kept; place++)
        this.#addHead(
          row.row,
          keeper,
          place,
          merged.subarray(place * c.width, (place + 1) * c.width),
          partials,
        )
    }
  }

  #addHead(
    row: number,
    keeper: number,
    place: number,
    merged: Float64Array,
    partials: readonly Partial[],
  ): void {
    const c = this.#case
    const head = keptHead(c, this.#kept, keeper, place)
    const lse = Float64Array.from(partials, (partial) => partial.lse[head] ?? EMPTY_LSE)
    const right = this.#weights(lse, keeper)
    const own = vectorsOf(c, partials, head, right)
    if (own === undefined || right.every((weight) => weight === 0)) return
    // What is no number has no distance; it is looked for elsewhere.
    if (!merged.every(Number.isFinite)) return
    const products = productsOf(own, merged)
    const scale = Math.max(scaleOf(products, right), 1e-300)
    const error = residual(products, right) / scale
    this.#total += error
    this.#rows.add(row)
    this.#compared++
    const at = keeper * this.#kept + place
    this.#errors[at] = Math.max(this.#errors[at] ?? 0, error)
    this.#note(right, products)
    const input: MergeInput = { row, head, keeper, lse, baseOf: (rank) => this.#baseOf(rank) }
    for (const one of this.#entries) {
      const { prediction } = one
      const weights = Float64Array.from(right)
      prediction.weights?.(input, weights)
      const moved = prediction.headFor?.(head, keeper)
      const found =
        moved === undefined || moved === head
          ? distanceOf(products, right, weights, scale, error)
          : this.#moved(partials, moved, keeper, own, merged, right, scale, error)
      if (found !== undefined) addTo(one, keeper, { ...found, values: c.width })
    }
  }

  #baseOf(rank: number): LseBase {
    return this.#case.byRank.get(rank)?.lseBase ?? this.#base
  }

  /** Weights as every rank's base has them: with ag_rs a rank weighs its own partial, otherwise all that it keeps. */
  #weights(lse: Float64Array, keeper: number): Float64Array {
    if (!weighsOwn(this.#case)) return mergeWeights(lse, this.#baseOf(keeper))
    const ofBase = new Map(LSE_BASES.map((base) => [base, mergeWeights(lse, base)]))
    return lse.map((_, rank) => ofBase.get(this.#baseOf(rank))?.[rank] ?? 0)
  }

  /** Distances when another head lands in this place. */
  #moved(
    partials: readonly Partial[],
    head: number,
    keeper: number,
    own: readonly Float64Array[],
    merged: Float64Array,
    right: Float64Array,
    scale: number,
    error: number,
  ): Omit<Distances, 'values'> | undefined {
    // A head of another place is another vector altogether.
    if (error < MOVED_ERROR) return { right: error, predicted: error, between: 0 }
    const lse = Float64Array.from(partials, (partial) => partial.lse[head] ?? EMPTY_LSE)
    const weights = this.#weights(lse, keeper)
    const vectors = vectorsOf(this.#case, partials, head, weights)
    if (vectors === undefined) return undefined
    let predicted = 0
    let between = 0
    for (let i = 0; i < merged.length; i++) {
      let other = 0
      let here = 0
      for (let r = 0; r < vectors.length; r++) {
        other += (weights[r] ?? 0) * (vectors[r]?.[i] ?? 0)
        here += (right[r] ?? 0) * (own[r]?.[i] ?? 0)
      }
      predicted += ((merged[i] ?? 0) - other) ** 2
      between += (other - here) ** 2
    }
    return { right: error, predicted: predicted / scale, between: between / scale }
  }

  /** Weights that fit what was merged best, one rank at a time, for the picture. */
  #note(right: Float64Array, { gram, withMerged }: Products): void {
    const n = right.length
    const used = this.#used
    used.heads++
    for (let r = 0; r < n; r++) {
      let others = 0
      for (let k = 0; k < n; k++) if (k !== r) others += (right[k] ?? 0) * (gram[r * n + k] ?? 0)
      const self = gram[r * n + r] ?? 0
      used.right[r] = (used.right[r] ?? 0) + (right[r] ?? 0)
      used.seen[r] =
        (used.seen[r] ?? 0) + (self > 0 ? ((withMerged[r] ?? 0) - others) / self : (right[r] ?? 0))
    }
  }

  result(): MergeResult {
    const worst = Math.sqrt(this.#errors.reduce((most, error) => Math.max(most, error), 0))
    const claims = this.#claims()
    return {
      claims,
      compared: this.#compared,
      total: this.#total,
      worst,
      unexplained:
        claims.length === 0 && worst > UNEXPLAINED
          ? `merged differs from what the partials give by up to ${percent(worst)}, and no known fault explains it`
          : undefined,
    }
  }

  #claims(): Claim[] {
    const best = winner(this.#entries, this.#case.dcp, {
      width: this.#case.width,
      rounding: roundingOf(this.#case, 'merged'),
    })
    return best === undefined ? [] : [this.#claim(best)]
  }

  #claim(best: Winner<MergePrediction>): Claim {
    const { hypothesis, prediction, places, verdict, sum, rivals } = best
    const c = this.#case
    const heads = sum.values / c.width
    const ranks = prediction.rank === undefined ? places : [prediction.rank]
    const { right, seen, heads: noted } = this.#used
    const mean = (values: Float64Array): number[] =>
      [...values.subarray(0, PICTURED_RANKS)].map((value) => value / Math.max(1, noted))
    return {
      fault: hypothesis.fault,
      isExact: sum.predicted < heads * Math.max(EXACT * roundingOf(c, 'merged'), LEAST_EXACT) ** 2,
      confidence: Math.min(1, verdict.explained + 0.5),
      explained: verdict.explained,
      ranks,
      rows: [...this.#rows],
      heads: this.#headsOf(places),
      rivals,
      summary:
        `merged differs from what the partials give by ${percent(Math.sqrt(sum.right / heads))}; ${prediction.detail} it is ` +
        `reproduced within ${percent(Math.sqrt(sum.predicted / heads))}${this.#mayBeExchanged(best) ? EXCHANGED : ''}`,
      evidence: {
        numbers: [
          { name: 'relative error of merged', value: Math.sqrt(sum.right / heads), expected: 0 },
          { name: 'relative error that the fault leaves', value: Math.sqrt(sum.predicted / heads) },
          {
            name: 'how far it is the fault and nothing else (0 right, 1 fault)',
            value: verdict.alpha,
            expected: 0,
          },
        ],
        picture: {
          kind: 'bars',
          title: 'mean weight of each rank in merged',
          unit: 'weight',
          labels: Array.from({ length: Math.min(c.dcp, PICTURED_RANKS) }, (_, rank) => `rank ${rank}`),
          series: [
            { name: 'right', values: mean(right) },
            { name: 'fits merged best', values: mean(seen) },
          ],
        },
      },
    }
  }

  /** Heads of another rank whose lengths and slots are the same: its file looks no different in the place of this one. */
  #mayBeExchanged({ places, predictions }: Winner<MergePrediction>): boolean {
    const c = this.#case
    const slice = c.heads / c.dcp
    if (this.#kept === c.heads) return false
    return places.every((keeper, i) => {
      const tables = c.byRank.get(keeper)
      const head = predictions[i]?.headFor?.(keeper * slice, keeper)
      return tables !== undefined && head !== undefined && fits(c, tables, Math.floor(head / slice))
    })
  }

  #headsOf(keepers: readonly number[]): number[] {
    return keepers.flatMap((keeper) =>
      Array.from({ length: this.#kept }, (_, place) => keptHead(this.#case, this.#kept, keeper, place)),
    )
  }
}

export const percent = (share: number): string => `${(share * 100).toPrecision(2)}%`

/** Vectors of one head; undefined where one that has weight is no number. One without weight counts as 0. */
const vectorsOf = (
  c: Case,
  partials: readonly Partial[],
  head: number,
  weights: Float64Array,
): Float64Array[] | undefined => {
  const vectors: Float64Array[] = []
  for (const [rank, { out }] of partials.entries()) {
    const vector = out.subarray(head * c.width, (head + 1) * c.width)
    const finite = vector.every(Number.isFinite)
    if (!finite && (weights[rank] ?? 0) !== 0) return undefined
    vectors.push(finite ? vector : new Float64Array(c.width))
  }
  return vectors
}

/** Inner products of the partials of one head with each other and with merged: enough for any weights. */
interface Products {
  /** [c * c]. */
  readonly gram: Float64Array
  /** [c]. */
  readonly withMerged: Float64Array
  readonly merged: number
}

const productsOf = (vectors: readonly Float64Array[], merged: Float64Array): Products => {
  const n = vectors.length
  const gram = new Float64Array(n * n)
  const withMerged = new Float64Array(n)
  vectors.forEach((a, i) => {
    withMerged[i] = dot(a, merged)
    for (let k = 0; k <= i; k++) {
      const b = vectors[k]
      if (b === undefined) continue
      const product = dot(a, b)
      gram[i * n + k] = product
      gram[k * n + i] = product
    }
  })
  return { gram, withMerged, merged: dot(merged, merged) }
}

const dot = (a: Float64Array, b: Float64Array): number => {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0)
  return sum
}

/** Sum of gram[i, k] a_i b_k. */
const form = (gram: Float64Array, a: Float64Array, b: Float64Array): number => {
  const n = a.length
  let sum = 0
  for (let i = 0; i < n; i++) {
    const weight = a[i] ?? 0
    if (weight === 0) continue
    for (let k = 0; k < n; k++) sum += weight * (b[k] ?? 0) * (gram[i * n + k] ?? 0)
  }
  return sum
}

/** Squared distance of merged from what the weights give. */
const residual = ({ gram, withMerged, merged }: Products, weights: Float64Array): number =>
  Math.max(0, merged - 2 * dot(weights, withMerged) + form(gram, weights, weights))

/** What the error of a head is measured by: the squared length of the parts that were added up. */
const scaleOf = ({ gram }: Products, weights: Float64Array): number => {
  const n = weights.length
  let sum = 0
  for (let i = 0; i < n; i++) sum += (weights[i] ?? 0) ** 2 * (gram[i * n + i] ?? 0)
  return Math.max(sum, form(gram, weights, weights))
}

const distanceOf = (
  products: Products,
  right: Float64Array,
  weights: Float64Array,
  scale: number,
  error: number,
): Omit<Distances, 'values'> => {
  const change = weights.map((weight, i) => weight - (right[i] ?? 0))
  return {
    right: error,
    predicted: residual(products, weights) / scale,
    between: Math.max(0, form(products.gram, change, change)) / scale,
  }
}
