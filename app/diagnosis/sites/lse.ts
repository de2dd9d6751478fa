import { cleanLse, EMPTY_LSE, LSE_BASES, type LseBase } from '../../lse/base.ts'
import type { Case, RankTables } from '../case.ts'
import type { Claim } from '../claim.ts'
import { added, type Distances, holds, judge, NO_DISTANCE } from '../contest.ts'
import { otherBase } from '../hypotheses/lse-base-mismatch.ts'
import type { Hypothesis, LsePrediction } from '../hypothesis.ts'
import type { PartialRow } from '../partial-reference.ts'
import { isEmpty, type LsePlace } from './empty-rows.ts'

/** Mean squared distance of an lse from what is right, natural, from which its place is in doubt. */
const MISPLACED = 1e-4
/** Mean squared distance from the lse of the kernel that no rounding makes. */
const FAR_OFF = 0.01
/** Share of that distance that a prediction may leave. */
const LEFT = 0.1
/** Squared distance of values one of which is not finite. */
const FAR = 25
/** Confidence where nothing of the kernel landed where it can be seen. */
const OF_STRANGE = 0.5
const PICTURED = 24

/** Sums of squared distances over the values that are right, of where they are and of where they should have landed. */
interface Placed {
  readonly hypothesis: Hypothesis
  readonly prediction: LsePrediction
  /** Of each rank, over the values that land somewhere. */
  readonly moved: Float64Array
  readonly still: Float64Array
  readonly values: Float64Array
  /** Places of each rank where no value of the kernel lands: those that are wrong, and those that are right all the same. */
  readonly strange: Float64Array
  readonly kept: Float64Array
  /** Values of each rank's kernel that landed elsewhere, a few of those that differ. */
  readonly landed: readonly Set<number>[]
}

/** Values of a kernel, bit by bit the same elsewhere, that are no accident. */
const ENOUGH_LANDED = 2

/**
 * Compares the lse that the merge gets with what it should be: in its place (against that of the kernel, or the reference),
 * and in its base (against the reference).
 */
export class LseSite {
  readonly #case: Case
  readonly #base: LseBase
  readonly #placed: readonly Placed[]
  /** Rows of each rank that hold no lse at all. */
  readonly #neutral = new Map<number, Map<number, boolean>>()
  /** Of the lse of each rank from base e (right) and base 2 (predicted). */
  readonly #bases: Distances[]
  /** Squared distance of each rank's lse from what is right, where it is, and how many values that is of. */
  readonly #still: Float64Array
  readonly #values: Float64Array
  readonly #samples: { rank: number; row: number; head: number; seen: number; right: number }[] = []

  /** `base` stands in for what the dump does not say of the base. */
  constructor(c: Case, hypotheses: readonly Hypothesis[], base: LseBase = 'e') {
    this.#case = c
    this.#base = base
    this.#placed = hypotheses.flatMap((hypothesis) =>
      (hypothesis.lse?.(c) ?? []).map((prediction) => ({
        hypothesis,
        prediction,
        moved: new Float64Array(c.dcp),
        still: new Float64Array(c.dcp),
        values: new Float64Array(c.dcp),
        strange: new Float64Array(c.dcp),
        kept: new Float64Array(c.dcp),
        landed: Array.from({ length: c.dcp }, () => new Set<number>()),
      })),
    )
    this.#still = new Float64Array(c.dcp)
    this.#values = new Float64Array(c.dcp)
    this.#bases = Array.from({ length: c.dcp }, () => NO_DISTANCE)
    for (const rank of c.ranks) this.#addKernel(rank)
  }

  /**
   * Where the kernel's own lse is dumped, no reference is needed to see that it was moved. All that it wrote may land somewhere,
   * also what it left in rows without keys.
   */
  #addKernel(rank: RankTables): void {
    const { lse, lseKernel } = rank
    if (lse === undefined || lseKernel === undefined) return
    const { rows, heads } = this.#case
    const hasKeys = Array.from({ length: rows }, (_, row) => !this.#isNeutral(rank, lse, row))
    for (let at = 0; at < rows * heads; at++) {
      const right = lseKernel[at] ?? 0
      if (hasKeys[Math.floor(at / heads)] !== true || !Number.isFinite(right)) continue
      this.#still[rank.rank] = (this.#still[rank.rank] ?? 0) + gap(lse[at], right)
      this.#values[rank.rank] = (this.#values[rank.rank] ?? 0) + 1
    }
    for (const one of this.#placed) {
      const landed = new Uint8Array(rows * heads)
      for (let from = 0; from < rows * heads; from++) {
        const at = one.prediction.place(Math.floor(from / heads), from % heads)
        if (at === undefined) continue
        landed[at] = 1
        if (hasKeys[Math.floor(at / heads)] !== true) continue
        const [there, here] = [gap(lse[at], lseKernel[from] ?? 0), gap(lse[at], lseKernel[at] ?? 0)]
        addPlaced(one, rank.rank, there, here)
        const value = lseKernel[from] ?? 0
        if (there === 0 && here > 0 && Number.isFinite(value)) {
          const values = one.landed[rank.rank]
          if ((values?.size ?? 0) < ENOUGH_LANDED) values?.add(value)
        }
      }
      landed.forEach((is, at) => {
        const right = lseKernel[at] ?? 0
        if (is === 1 || hasKeys[Math.floor(at / heads)] !== true || !Number.isFinite(right)) return
        const counts = gap(lse[at], right) > MISPLACED ? one.strange : one.kept
        counts[rank.rank] = (counts[rank.rank] ?? 0) + 1
      })
    }
  }

  /** Adds a row of a rank with keys, and what its partial should be. */
  add(rank: RankTables, row: number, right: PartialRow): void {
    const c = this.#case
    const { lse, lseKernel } = rank
    const own = (lseKernel ?? lse)?.subarray(row * c.heads, (row + 1) * c.heads)
    if (own === undefined) return
    const rightLse = inBase(right.lse, rank.lseBase ?? this.#base)
    if (lseKernel === undefined && lse !== undefined) this.#place(rank, row, lse, rightLse)
    this.#bases[rank.rank] = added(
      this.#bases[rank.rank] ?? NO_DISTANCE,
      basesOf(own, right.lse, inBase(right.lse, '2')),
    )
    for (let head = 0; head < c.heads && this.#samples.length < PICTURED; head++)
      this.#samples.push({
        rank: rank.rank,
        row,
        head,
        seen: own[head] ?? Number.NaN,
        right: rightLse[head] ?? Number.NaN,
      })
  }

  #place(rank: RankTables, row: number, seen: Float64Array, right: Float64Array): void {
    const c = this.#case
    for (let head = 0; head < c.heads; head++) {
      const value = right[head] ?? 0
      if (!Number.isFinite(value)) continue
      const here = gap(seen[row * c.heads + head], value)
      this.#still[rank.rank] = (this.#still[rank.rank] ?? 0) + here
      this.#values[rank.rank] = (this.#values[rank.rank] ?? 0) + 1
      for (const one of this.#placed) {
        const at = one.prediction.place(row, head)
        if (at === undefined || this.#isNeutral(rank, seen, Math.floor(at / c.heads))) continue
        addPlaced(one, rank.rank, gap(seen[at], value), here)
      }
    }
  }

  /** Whether a row has no keys, so that what lands there is neutralised; where nothing says it, as its lse does. */
  #isNeutral(rank: RankTables, seen: Float64Array, row: number): boolean {
    const rows = this.#neutral.get(rank.rank) ?? new Map<number, boolean>()
    this.#neutral.set(rank.rank, rows)
    const known = rows.get(row)
    if (known !== undefined) return known
    const { heads } = this.#case
    const neutral =
      isEmpty(this.#case, rank, row) ??
      seen.subarray(row * heads, (row + 1) * heads).every((value) => cleanLse(value) === EMPTY_LSE)
    rows.set(row, neutral)
    return neutral
  }

  /** Whether the lse lies where it belongs, as far as it was compared. */
  get place(): LsePlace {
    if (this.#misplaced().length > 0) return 'misplaced'
    const compared = this.#placed.some(({ values }) => values.some((count) => count > 0))
    return compared || this.#placed.length === 0 ? 'right' : 'unknown'
  }

  /** `assumed` is what the merge of a rank takes the lse for, where that is known. */
  claims(assumed: (rank: number) => LseBase | undefined): Claim[] {
    const misplaced = this.#misplaced()
    return misplaced.length > 0 ? misplaced : this.#otherBase(assumed)
  }

  /** An lse that is not that of its kernel, for no known reason; `excused` are ranks that have one. */
  unexplained(excused: readonly number[]): string | undefined {
    if (this.#misplaced().length > 0) return undefined
    const rank = this.#case.ranks.find(
      (one) =>
        !excused.includes(one.rank) &&
        one.lseKernel !== undefined &&
        (this.#still[one.rank] ?? 0) > FAR_OFF * (this.#values[one.rank] ?? 0),
    )
    return rank === undefined
      ? undefined
      : `the lse that the merge gets of rank ${rank.rank} is not that of its kernel, and no known fault explains it`
  }

  /** Distances from the base that is assumed (right) and the other one (predicted). */
  #fromAssumed(rank: number, base: LseBase | undefined): Distances {
    const found = this.#bases[rank]
    if (found === undefined || base === undefined) return NO_DISTANCE
    return base === 'e' ? found : { ...found, right: found.predicted, predicted: found.right }
  }

  #misplaced(): Claim[] {
    const c = this.#case
    const scored = this.#placed
      .map((one) => {
        const ranks = c.ranks
          .map(({ rank }) => rank)
          .filter((rank) => {
            const [still, moved] = [one.still[rank] ?? 0, one.moved[rank] ?? 0]
            const landed = one.values[rank] ?? 0
            const all = this.#still[rank] ?? 0
            // What lands nowhere is only seen to be missing where it should be.
            if (!(all > MISPLACED * (this.#values[rank] ?? 0))) return false
            // What lands where it was, or in rows without keys, decides nothing; then it is the rest that has to be strange.
            const isStrange = still === 0 && moved === 0 && this.#isStrange(one, rank)
            const isSame = moved === 0 && (one.landed[rank]?.size ?? 0) >= ENOUGH_LANDED
            return isStrange || isSame || (landed >= c.heads && moved < LEFT * still)
          })
        const sum = (values: Float64Array): number =>
          ranks.reduce((total, rank) => total + (values[rank] ?? 0), 0)
        return {
          ...one,
          stillOf: one.still,
          ranks,
          still: Math.max(sum(one.still), sum(this.#still) / 2),
          seen: sum(one.still),
          left: sum(one.moved),
          count: sum(one.values),
        }
      })
      .filter(({ ranks }) => ranks.length > 0)
      .sort((a, b) => b.still - b.left - (a.still - a.left) || b.seen - a.seen)
    const [best] = scored
    if (best === undefined) return []
    const explained = 1 - best.left / best.still
    // That values are strange says that something else landed there, not what.
    const isSeen = best.ranks.some((rank) => (best.moved[rank] ?? 0) < (best.stillOf[rank] ?? 0))
    const rivals = scored.filter(
      (one) =>
        one.hypothesis !== best.hypothesis &&
        one.still === best.still &&
        one.seen * 2 > best.seen &&
        one.left <= best.left * 1.5 + 1e-12,
    )
    return [
      {
        fault: best.hypothesis.fault,
        confidence: isSeen ? explained : Math.min(explained, OF_STRANGE),
        explained,
        ranks: best.ranks,
        rows: Array.from({ length: c.rows }, (_, row) => row),
        heads: [],
        rivals: [...new Set(rivals.map(({ hypothesis }) => hypothesis.fault))],
        summary: isSeen
          ? `the lse that the merge gets is not in its place; ${best.prediction.detail} it is`
          : 'the lse that the merge gets is none that the kernel gave, as where heads that only pad are read as real ones',
        evidence: {
          numbers: [
            {
              name: 'distance of lse from what is right',
              value: Math.sqrt(best.still / Math.max(1, best.count)),
              expected: 0,
            },
            {
              name: 'distance where the fault puts it',
              value: Math.sqrt(best.left / Math.max(1, best.count)),
            },
          ],
          picture: this.#picture(),
        },
      },
    ]
  }

  /** Every place where no value of the kernel lands holds another one than is right, as where heads that only pad land. */
  #isStrange({ strange, kept, hypothesis }: Placed, rank: number): boolean {
    if (hypothesis.fault !== 'lse-head-misaligned') return false
    return (strange[rank] ?? 0) >= this.#case.heads && (kept[rank] ?? 0) === 0
  }

  #otherBase(assumed: (rank: number) => LseBase | undefined): Claim[] {
    const distances = (rank: number): Distances => this.#fromAssumed(rank, assumed(rank))
    const ranks = this.#case.ranks.map(({ rank }) => rank).filter((rank) => isOther(distances(rank)))
    const base = ranks[0] === undefined ? undefined : assumed(ranks[0])
    if (base === undefined) return this.#severalBases()
    const sum = ranks.reduce((total, rank) => added(total, distances(rank)), NO_DISTANCE)
    const { explained, alpha } = judge(sum)
    const other = otherBase(base)
    const ratio = base === 'e' ? Math.LOG2E : Math.LN2
    return [
      {
        fault: 'lse-base-mismatch',
        confidence: explained,
        explained,
        ranks,
        rows: [],
        heads: [],
        rivals: [],
        summary: `the lse is in base ${other} where the merge assumes base ${base}: it is ${ratio.toFixed(4)} times what is right`,
        evidence: {
          numbers: [
            { name: 'lse over what is right', value: 1 + alpha * (ratio - 1), expected: 1 },
            {
              name: 'distance of lse from what is right',
              value: Math.sqrt(sum.right / sum.values),
              expected: 0,
            },
            {
              name: `distance from what is right in base ${other}`,
              value: Math.sqrt(sum.predicted / sum.values),
            },
          ],
          picture: this.#picture(),
        },
      },
    ]
  }

  /** Merges that take the lse for different bases cannot all be right, whatever the lse of this step shows of it. */
  #severalBases(): Claim[] {
    const said = this.#case.ranks.filter(({ lseBase }) => lseBase !== undefined)
    const [first, ...others] = LSE_BASES.map((base) => ({
      base,
      ranks: said.filter(({ lseBase }) => lseBase === base).map(({ rank }) => rank),
    })).sort((a, b) => a.ranks.length - b.ranks.length)
    const rest = others[0]
    if (first === undefined || rest === undefined || first.ranks.length === 0) return []
    // Of two halves nothing says which one is wrong.
    const ranks = first.ranks.length < rest.ranks.length ? first.ranks : said.map(({ rank }) => rank)
    return [
      {
        fault: 'lse-base-mismatch',
        confidence: 1,
        explained: 1,
        ranks,
        rows: [],
        heads: [],
        rivals: [],
        summary:
          `the merges of ranks take the lse for different bases: ${first.base} on rank ${first.ranks.join(', ')}, ` +
          `${rest.base} on rank ${rest.ranks.join(', ')}; the values of this step do not show it`,
        evidence: {
          numbers: [{ name: 'bases that merges assume', value: 2, expected: 1 }],
        },
      },
    ]
  }

  #picture(): NonNullable<Claim['evidence']['picture']> {
    const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)
    return {
      kind: 'bars',
      title: 'lse as the merge gets it, and as it should be',
      unit: this.#case.ranks[0]?.lseBase === '2' ? 'log2' : 'ln',
      labels: this.#samples.map(({ rank, row, head }) => `rank ${rank}, row ${row}, head ${head}`),
      series: [
        { name: 'dumped', values: this.#samples.map(({ seen }) => finite(seen)) },
        { name: 'right', values: this.#samples.map(({ right }) => finite(right)) },
      ],
    }
  }
}

export const inBase = (natural: Float64Array, base: LseBase): Float64Array =>
  base === 'e' ? natural : natural.map((value) => value * Math.LOG2E)

/** Squared; of values one of which is no number, none where both are the same. */
const gap = (a: number | undefined, b: number): number => {
  if (a !== undefined && Number.isFinite(a) && Number.isFinite(b)) return Math.min((a - b) ** 2, FAR)
  return Object.is(a, b) ? 0 : FAR
}

const addPlaced = ({ moved, still, values }: Placed, rank: number, there: number, here: number): void => {
  moved[rank] = (moved[rank] ?? 0) + there
  still[rank] = (still[rank] ?? 0) + here
  values[rank] = (values[rank] ?? 0) + 1
}

/** Share of the distance that the other base may leave. */
const LEFT_BY_BASE = 0.02

const isOther = (distances: Distances): boolean =>
  holds(judge(distances)) && distances.predicted < LEFT_BY_BASE * distances.right

const basesOf = (seen: Float64Array, right: Float64Array, other: Float64Array): Distances => {
  const sum = { right: 0, predicted: 0, between: 0, values: 0 }
  seen.forEach((value, head) => {
    const should = right[head] ?? Number.NaN
    const would = other[head] ?? Number.NaN
    if (!Number.isFinite(value) || !Number.isFinite(should)) return
    sum.right += (value - should) ** 2
    sum.predicted += (value - would) ** 2
    sum.between += (would - should) ** 2
    sum.values++
  })
  return sum
}
