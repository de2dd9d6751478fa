import { cleanLse, EMPTY_LSE, type LseBase } from '../../lse/base.ts'
import { mergeWeights } from '../../lse/merge.ts'
import type { Case } from '../case.ts'
import type { Claim } from '../claim.ts'
import type { PartialRow } from '../partial-reference.ts'
import { isEmpty } from './empty-rows.ts'
import { inBase } from './lse.ts'
import type { Partial } from './merge.ts'

/** Values of an lse that all being numbers of bf16 is no accident. */
const LEAST_VALUES = 6
/** Values that differ: bf16 itself has few of the magnitude of an lse, and those that are mostly the same nobody wrote. */
const LEAST_VARIED = 4
/** The base in which an lse is nearer to what is right. */
const nearerBase = (seen: Float64Array, natural: Float64Array): LseBase => {
  const off = (base: LseBase): number =>
    inBase(natural, base).reduce((sum, value, rank) => {
      const gap = Math.abs(value - (seen[rank] ?? EMPTY_LSE))
      return sum + (Number.isFinite(gap) ? gap : 0)
    }, 0)
  return off('e') <= off('2') ? 'e' : '2'
}

/** Root mean square of what rounding to a type changes, as a share of the value. */
const ROUNDING: Readonly<Record<string, number>> = {
  BF16: 2 ** -9 / Math.sqrt(3),
  F16: 2 ** -12 / Math.sqrt(3),
  F32: 2 ** -25 / Math.sqrt(3),
}

/** Ranks all of whose lse are numbers of bf16. */
export const lowPrecisionRanks = (c: Case): number[] =>
  c.ranks
    .filter((rank) => {
      const finite = [...(rank.lse ?? [])].filter(
        (value, at) =>
          cleanLse(value) !== EMPTY_LSE && value !== 0 && isEmpty(c, rank, Math.floor(at / c.heads)) !== true,
      )
      return finite.length >= LEAST_VALUES && finite.every(isBf16) && new Set(finite).size >= LEAST_VARIED
    })
    .map(({ rank }) => rank)

const scratch = new Float32Array(1)
const bits = new Uint32Array(scratch.buffer)
const isBf16 = (value: number): boolean => {
  scratch[0] = value
  return scratch[0] === value && ((bits[0] ?? 0) & 0xffff) === 0
}

/** What an lse in bf16 changes of the merged output, against the lse of the reference. */
export class LowPrecisionSite {
  readonly #case: Case
  readonly ranks: readonly number[]
  readonly #rows = new Set<number>()
  #squared = 0
  #heads = 0

  constructor(c: Case) {
    this.#case = c
    this.ranks = lowPrecisionRanks(c)
  }

  /** Adds a row of which every rank's partial and what it should be are known. */
  add(row: number, seen: readonly Partial[], right: readonly PartialRow[]): void {
    if (this.ranks.length === 0) return
    const c = this.#case
    this.#rows.add(row)
    for (let head = 0; head < c.heads; head++) {
      const natural = Float64Array.from(right, ({ lse }) => lse[head] ?? EMPTY_LSE)
      const own = Float64Array.from(seen, ({ lse }) => lse[head] ?? EMPTY_LSE)
      const base = nearerBase(own, natural)
      const weights = mergeWeights(natural, 'e')
      const dumped = mergeWeights(
        Float64Array.from(seen, ({ lse }) => lse[head] ?? EMPTY_LSE),
        base,
      )
      // An lse that is another one altogether is no rounding.
      const offset = inBase(natural, base).some((value, rank) => {
        const own = seen[rank]?.lse[head] ?? EMPTY_LSE
        const isAbsent = cleanLse(own) === EMPTY_LSE
        if (isAbsent || value === EMPTY_LSE) return isAbsent !== (value === EMPTY_LSE)
        return Math.abs(value - own) > Math.abs(value) * 2 ** -8 + 0.02
      })
      if (offset) continue
      let [change, size] = [0, 0]
      for (let i = head * c.width; i < (head + 1) * c.width; i++) {
        let [off, sum] = [0, 0]
        for (let rank = 0; rank < c.dcp; rank++) {
          const value = right[rank]?.out[i] ?? 0
          off += ((dumped[rank] ?? 0) - (weights[rank] ?? 0)) * value
          sum += (weights[rank] ?? 0) * value
        }
        change += off * off
        size += sum * sum
      }
      if (size === 0) continue
      this.#squared += change / size
      this.#heads++
    }
  }

  /** Root mean square relative change of merged; undefined where it is not known. */
  get effect(): number | undefined {
    return this.#heads === 0 ? undefined : Math.sqrt(this.#squared / this.#heads)
  }

  claims(): Claim[] {
    const { effect } = this
    if (effect === undefined || !(effect > roundingOf(this.#case))) return []
    return [
      {
        fault: 'lse-low-precision',
        confidence: 0.9,
        explained: 1 - (roundingOf(this.#case) / effect) ** 2,
        ranks: this.ranks,
        rows: [...this.#rows],
        heads: [],
        rivals: [],
        summary: `every lse is a number of bf16, which changes merged by ${effect.toExponential(1)}, more than the rounding of out`,
        evidence: {
          numbers: [
            { name: 'relative change of merged by the lse', value: effect, expected: 0 },
            { name: 'rounding of out', value: roundingOf(this.#case) },
          ],
        },
      },
    ]
  }
}

const roundingOf = (c: Case): number => {
  const reader = c.ranks[0]?.dump.reader
  for (const name of ['merged', 'out']) if (reader?.has(name)) return ROUNDING[reader.tensor(name).dtype] ?? 0
  return 0
}
