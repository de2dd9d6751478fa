import type { FaultName } from '../../faults/names.ts'
import { cleanLse, EMPTY_LSE, LSE_BASES, type LseBase } from '../../lse/base.ts'
import type { Case, RankTables } from '../case.ts'
import type { Claim } from '../claim.ts'
import type { Distances } from '../contest.ts'
import type { Hypothesis, KeysPrediction, PartialPrediction } from '../hypothesis.ts'
import type { PartialContext, PartialRow } from '../partial-reference.ts'
import { roundingOf } from '../rounding.ts'
import { addTo, type Entry, entry, winner } from '../scoreboard.ts'
import { percent } from './merge.ts'

/** A rank's partial of one row as dumped: out [H * W], lse [H]; one of them may be missing. */
export interface SeenPartial {
  readonly out: Float64Array | undefined
  readonly lse: Float64Array | undefined
}

/** Root mean square relative error of a partial from which it is looked at with every hypothesis, and that is wrong at all. */
const SUSPICIOUS = 0.006
const WRONG = 0.1
/** Root mean square distance of an lse, natural, that arithmetic in a few bits does not make. */
const WRONG_LSE = 0.25
/** Counts of keys up to which predictions are computed together with what is right; others only where that is wrong. */
const NEAR = 1.25
const NEAR_KEYS = 256

/** Most that arithmetic makes of an lse in fp32: it is not rounded as out is, and shows keys that out hides. */
const LSE_ARITHMETIC = 3e-4

type Prediction = { readonly detail: string }

/** Distances of out and lse together, and of lse alone. */
interface Scores {
  readonly all: Entry<Prediction>
  readonly lse: Entry<Prediction>
}

const scores = (hypothesis: Hypothesis, prediction: Prediction, places: number): Scores => ({
  all: entry(hypothesis, prediction, places),
  lse: entry(hypothesis, prediction, places),
})

export interface PartialResult {
  readonly claims: readonly Claim[]
  /** Partials that were compared. */
  readonly compared: number
  /** Largest root mean square relative error of a partial, over its heads. */
  readonly worst: number
  readonly unexplained: string | undefined
  /** Ranks of which partials were compared. */
  readonly comparedRanks: readonly number[]
  /** Those of which none is wrong; and those of which one is. */
  readonly rightRanks: readonly number[]
  readonly wrongRanks: readonly number[]
}

/** Compares the partials of kernels with those of the reference, and with what each hypothesis says of their keys. */
export class PartialSite {
  readonly #case: Case
  readonly #counts: readonly { readonly scores: Scores; readonly prediction: KeysPrediction }[]
  readonly #others: readonly { readonly scores: Scores; readonly prediction: PartialPrediction }[]
  readonly #rows = new Set<number>()
  readonly #worstOf: Float64Array
  /** Mean squared relative error of each rank's heads, [c * H], and how often it was added. */
  readonly #errors: Float64Array
  readonly #added: Float64Array
  /** Of these, those with an lse that says that there are keys. */
  readonly #spoken: Float64Array
  #compared = 0
  #worst: { error: number; rank: number; row: number } | undefined
  /** Of the lse of kernels alone, natural. */
  #worstLse: { error: number; rank: number; row: number } | undefined

  constructor(c: Case, hypotheses: readonly Hypothesis[]) {
    this.#case = c
    this.#counts = hypotheses.flatMap((hypothesis) =>
      (hypothesis.keys?.(c) ?? []).map((prediction) => ({
        scores: scores(hypothesis, prediction, c.dcp),
        prediction,
      })),
    )
    this.#others = hypotheses.flatMap((hypothesis) =>
      (hypothesis.partials?.(c) ?? []).map((prediction) => ({
        scores: scores(hypothesis, prediction, c.dcp),
        prediction,
      })),
    )
    this.#worstOf = new Float64Array(c.dcp)
    this.#errors = new Float64Array(c.dcp * c.heads)
    this.#added = new Float64Array(c.dcp)
    this.#spoken = new Float64Array(c.dcp)
  }

  /** Adds a partial that has keys; returns what it should be, undefined where the dump does not say it. */
  async add(context: PartialContext, seen: SeenPartial): Promise<PartialRow | undefined> {
    const { rank, row, rightCount } = context
    const wanted = this.#countsOf(context)
    const sparse = context.isSparse
    const near = wanted.map(({ count }) => count).filter((count) => count <= NEAR * rightCount + NEAR_KEYS)
    const prefixes = sparse
      ? new Map<number, PartialRow>()
      : new Map(await context.prefixes([rightCount, ...near]))
    const right = sparse ? await context.right() : prefixes.get(rightCount)
    if (right === undefined || (seen.out === undefined && seen.lse === undefined)) return right
    if (rightCount === 0) {
      if (!sparse) await this.#addEmpty(context, seen, right, wanted)
      return right
    }
    const told = this.#silenced(rank, row, seen, right)
    const own = inNatural(rank.lseBase, told, right)
    const error = Math.sqrt(errorOf(this.#case, own, right))
    if (own.lse?.every((value) => cleanLse(value) === EMPTY_LSE) !== true)
      this.#spoken[rank.rank] = (this.#spoken[rank.rank] ?? 0) + 1
    this.#note(rank, row, own, right, error)
    const isSuspicious = Math.max(error, lseErrorOf(own, right)) > SUSPICIOUS
    if (isSuspicious && near.length < wanted.length)
      for (const [count, partial] of await context.prefixes(wanted.map((one) => one.count)))
        prefixes.set(count, partial)
    for (const { scores: one, count } of wanted)
      this.#score(one, rank.rank, told, right, prefixes.get(count) ?? right)
    for (const { scores: one, prediction } of this.#others) {
      const predicted = isSuspicious ? await prediction.partial({ ...context, seen: own }) : undefined
      this.#score(one, rank.rank, told, right, predicted ?? right)
    }
    return right
  }

  /** What a kernel without keys leaves means nothing: where it is silenced and wrong, it is the silence that counts. */
  #silenced(rank: RankTables, row: number, seen: SeenPartial, right: PartialRow): SeenPartial {
    const c = this.#case
    const lse = rank.lse?.subarray(row * c.heads, (row + 1) * c.heads)
    if (lse === undefined || !lse.every((value) => value === EMPTY_LSE)) return seen
    if (errorOf(c, inNatural(rank.lseBase, seen, right), right) <= WRONG ** 2) return seen
    return { out: seen.out && new Float64Array(seen.out.length), lse }
  }

  #score(
    { all, lse }: Scores,
    rank: number,
    seen: SeenPartial,
    right: PartialRow,
    predicted: PartialRow,
  ): void {
    const own = inNatural(this.#case.byRank.get(rank)?.lseBase, seen, right, predicted)
    addTo(all, rank, distancesOf(this.#case, own, right, predicted))
    if (own.lse !== undefined) addTo(lse, rank, lseDistancesOf(own.lse, right, predicted))
  }

  #countsOf({ rank, row, rightCount, isSparse }: PartialContext): { scores: Scores; count: number }[] {
    if (isSparse) return []
    return this.#counts.map(({ scores: one, prediction }) => ({
      scores: one,
      count: prediction.count(rank, row) ?? rightCount,
    }))
  }

  /** A row that has no keys, where a hypothesis says that it got some: it holds those, or what kernels leave. */
  async #addEmpty(
    context: PartialContext,
    seen: SeenPartial,
    right: PartialRow,
    wanted: readonly { scores: Scores; count: number }[],
  ): Promise<void> {
    const some = wanted.filter(({ count }) => count > 0)
    if (some.length === 0) return
    const prefixes = await context.prefixes(some.map(({ count }) => count))
    for (const { scores: one, count } of some) {
      const predicted = prefixes.get(count)
      if (predicted === undefined) continue
      const distances = distancesOf(
        this.#case,
        inNatural(context.rank.lseBase, seen, right, predicted),
        right,
        predicted,
      )
      if (Math.min(distances.right, distances.predicted) < distances.between / 2) {
        addTo(one.all, context.rank.rank, distances)
        this.#rows.add(context.row)
      }
    }
  }

  #note(rank: RankTables, row: number, seen: SeenPartial, base: PartialRow, error: number): void {
    const c = this.#case
    this.#compared++
    this.#rows.add(row)
    this.#worstOf[rank.rank] = Math.max(this.#worstOf[rank.rank] ?? 0, error)
    if (this.#worst === undefined || !(error <= this.#worst.error))
      this.#worst = { error, rank: rank.rank, row }
    const ofLse = rank.lseKernel === undefined ? 0 : lseErrorOf(seen, base)
    if (!(ofLse <= (this.#worstLse?.error ?? 0))) this.#worstLse = { error: ofLse, rank: rank.rank, row }
    this.#added[rank.rank] = (this.#added[rank.rank] ?? 0) + 1
    for (let head = 0; head < c.heads; head++) {
      const at = rank.rank * c.heads + head
      this.#errors[at] = (this.#errors[at] ?? 0) + headError(c, seen, base, head)
    }
  }

  result(): PartialResult {
    const claims = this.#claims()
    const worst = this.#worst
    const wrong = [...this.#worstOf.keys()].filter((rank) => (this.#worstOf[rank] ?? 0) > WRONG)
    return {
      claims,
      comparedRanks: [...this.#added.keys()].filter((rank) => (this.#added[rank] ?? 0) > 0),
      rightRanks: [...this.#added.keys()].filter(
        (rank) => (this.#added[rank] ?? 0) > 0 && !wrong.includes(rank),
      ),
      wrongRanks: [...new Set([...claims.flatMap(({ ranks }) => ranks), ...wrong])],
      compared: this.#compared,
      worst: worst?.error ?? 0,
      unexplained: claims.length === 0 ? this.#unexplained() : undefined,
    }
  }

  #unexplained(): string | undefined {
    const [worst, lse] = [this.#worst, this.#worstLse]
    if (worst !== undefined && !(worst.error <= WRONG))
      return (
        `the partial of rank ${worst.rank}, row ${worst.row} differs from the fp64 reference by ${percent(worst.error)}, ` +
        'and no known fault explains it'
      )
    return lse === undefined || lse.error <= WRONG_LSE
      ? undefined
      : `the lse_kernel of rank ${lse.rank}, row ${lse.row} differs from that of the fp64 reference by ` +
          `${lse.error.toPrecision(2)} (natural logarithm), and no known fault explains it`
  }

  #claims(): Claim[] {
    const c = this.#case
    const all = [...this.#counts, ...this.#others].map((one) => one.scores)
    const ofAll = winner(
      all.map((one) => one.all),
      c.dcp,
      { width: c.width, rounding: roundingOf(c, 'out_kernel', 'out') },
    )
    const best =
      ofAll ??
      winner(
        all.map((one) => one.lse),
        c.dcp,
        { width: 1, rounding: LSE_ARITHMETIC },
      )
    if (best === undefined) return []
    const { hypothesis, prediction, places, verdict, sum, rivals } = best
    const [width, what] = ofAll === undefined ? [1, 'lse of partials'] : [c.width, 'partials']
    const values = Math.max(1, sum.values)
    const rms = (squared: number): number => Math.sqrt((squared * width) / values)
    return [
      {
        fault: hypothesis.fault,
        confidence: Math.min(1, verdict.explained + 0.5),
        explained: verdict.explained,
        ranks: places,
        rows: [...this.#rows],
        heads: this.#wrongHeads(places),
        rivals: [...rivals, ...this.#ofTold(hypothesis, places)],
        summary:
          `${what} differ from the fp64 reference by ${percent(rms(sum.right))}; ${prediction.detail} they are ` +
          `reproduced within ${percent(rms(sum.predicted))}`,
        evidence: {
          numbers: [
            { name: `relative error of ${what}`, value: rms(sum.right), expected: 0 },
            { name: 'relative error that the fault leaves', value: rms(sum.predicted) },
            {
              name: 'how far it is the fault and nothing else (0 right, 1 fault)',
              value: verdict.alpha,
              expected: 0,
            },
          ],
          picture: this.#picture(),
        },
      },
    ]
  }

  /** What leaves the same where nothing says that kernels were told the right lengths, or of ranks that say nothing at all. */
  #ofTold({ fault }: Hypothesis, places: readonly number[]): FaultName[] {
    const isTold = places.every((rank) => this.#case.byRank.get(rank)?.local !== undefined)
    if (fault === 'page-table-not-local') return isTold ? [] : ['length-views-swapped']
    if (fault !== 'kv-layout-mismatch' || places.some((rank) => (this.#spoken[rank] ?? 0) > 0)) return []
    return isTold || !this.#case.graph ? ['coverage-gap'] : ['coverage-gap', 'stale-graph-metadata']
  }

  #wrongHeads(ranks: readonly number[]): number[] {
    const c = this.#case
    return Array.from({ length: c.heads }, (_, head) => head).filter((head) =>
      ranks.some((rank) => this.#meanError(rank, head) > SUSPICIOUS),
    )
  }

  #meanError(rank: number, head: number): number {
    const sum = this.#errors[rank * this.#case.heads + head] ?? 0
    return Math.sqrt(sum / Math.max(1, this.#added[rank] ?? 0))
  }

  #picture(): NonNullable<Claim['evidence']['picture']> {
    const c = this.#case
    const ranks = Array.from({ length: c.dcp }, (_, rank) => rank)
    const heads = Array.from({ length: c.heads }, (_, head) => head)
    return {
      kind: 'heat',
      title: 'relative error of partials against the fp64 reference',
      unit: 'share',
      rowLabel: 'rank',
      columnLabel: 'head',
      rows: ranks.map(String),
      columns: heads.map(String),
      values: ranks.flatMap((rank) =>
        heads.map((head) => {
          const error = this.#meanError(rank, head)
          return Number.isFinite(error) ? error : null
        }),
      ),
    }
  }
}

/**
 * The lse in natural logarithms, from the base in which more heads are as in any of `partials`; where that says nothing, from the
 * declared one, else from the one in which it is nearer. Which base it should have is asked elsewhere.
 */
const inNatural = (
  declared: LseBase | undefined,
  { out, lse }: SeenPartial,
  ...partials: readonly PartialRow[]
): SeenPartial => {
  if (lse === undefined) return { out, lse }
  const [first] = LSE_BASES.map((base) => {
    const values = base === 'e' ? lse : lse.map((value) => value * Math.LN2)
    return {
      values,
      alike: Math.max(...partials.map((partial) => headsAlike(values, partial.lse))),
      isDeclared: Number(base === declared),
      off: Math.min(...partials.map((partial) => squared(values, partial.lse))),
    }
  }).sort((a, b) => b.alike - a.alike || b.isDeclared - a.isDeclared || a.off - b.off)
  return { out, lse: first?.values ?? lse }
}

/** Natural logarithm by which an lse in bf16 may be off. */
const ALIKE = 0.05

const headsAlike = (a: Float64Array, b: Float64Array): number =>
  a.reduce((sum, value, i) => sum + Number(Math.abs(value - (b[i] ?? Number.NaN)) < ALIKE), 0)

const squared = (a: Float64Array, b: Float64Array): number => {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += gap(a[i] ?? 0, b[i] ?? 0)
  return sum
}

/** Squared difference; of values that are no numbers, none where both are the same, else a large one. */
const gap = (a: number, b: number): number => {
  if (Number.isFinite(a) && Number.isFinite(b)) return Math.min((a - b) ** 2, FAR)
  return Object.is(a, b) ? 0 : FAR
}
const FAR = 100

/** Squared relative error of one head: of out, and of lse where there is no out. */
const headError = (c: Case, seen: SeenPartial, right: PartialRow, head: number): number => {
  if (seen.out === undefined) return gap(seen.lse?.[head] ?? 0, right.lse[head] ?? 0)
  const from = head * c.width
  const to = from + c.width
  const reference = right.out.subarray(from, to)
  return Math.min(FAR, apart(seen.out.subarray(from, to), reference) / lengthOf(reference))
}

const apart = (a: Float64Array, b: Float64Array): number => {
  let sum = 0
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    sum += difference * difference
  }
  if (Number.isFinite(sum)) return sum
  // Two that are both no numbers look the same.
  return a.every(Number.isFinite) === b.every(Number.isFinite) ? 0 : FAR
}

/** Squared length; 1 of what is no numbers. */
const lengthOf = (values: Float64Array): number => {
  let sum = 0
  for (const value of values) sum += value * value
  return Number.isFinite(sum) ? Math.max(sum, 1e-300) : 1
}

/** Mean over the heads. */
const errorOf = (c: Case, seen: SeenPartial, right: PartialRow): number => {
  let sum = 0
  for (let head = 0; head < c.heads; head++) sum += headError(c, seen, right, head)
  return sum / Math.max(1, c.heads)
}

/** Root mean square distance of the lse of all heads; 0 where there is none. */
const lseErrorOf = ({ lse }: SeenPartial, right: PartialRow): number =>
  lse === undefined ? 0 : Math.sqrt(squared(lse, right.lse) / Math.max(1, lse.length))

const lseDistancesOf = (seen: Float64Array, right: PartialRow, predicted: PartialRow): Distances => ({
  right: squared(seen, right.lse),
  predicted: squared(seen, predicted.lse),
  between: squared(predicted.lse, right.lse),
  values: seen.length,
})

/** Distances over all heads, out and lse together: both are shares of a weight. */
const distancesOf = (c: Case, seen: SeenPartial, right: PartialRow, predicted: PartialRow): Distances => {
  let [toRight, toPredicted, between, values] = [0, 0, 0, 0]
  for (let head = 0; head < c.heads; head++) {
    const from = head * c.width
    const to = from + c.width
    const reference = right.out.subarray(from, to)
    if (seen.out !== undefined) {
      const own = seen.out.subarray(from, to)
      const other = predicted.out.subarray(from, to)
      // A row without keys has no length to measure by.
      const scale = right.lse[head] === Number.NEGATIVE_INFINITY ? lengthOf(other) : lengthOf(reference)
      toRight += Math.min(FAR, apart(own, reference) / scale)
      toPredicted += Math.min(FAR, apart(own, other) / scale)
      between += Math.min(FAR, apart(other, reference) / scale)
      values += c.width
    }
    if (seen.lse !== undefined) {
      const own = seen.lse[head] ?? 0
      toRight += gap(own, right.lse[head] ?? 0)
      toPredicted += gap(own, predicted.lse[head] ?? 0)
      between += gap(predicted.lse[head] ?? 0, right.lse[head] ?? 0)
      values++
    }
  }
  return { right: toRight, predicted: toPredicted, between, values }
}

export const canReference = (c: Case): boolean => c.page !== undefined && c.scale !== undefined
