import type { FaultName } from '../../faults/names.ts'
import { cleanLse, EMPTY_LSE } from '../../lse/base.ts'
import { type Case, isReal, keysOf, type RankTables } from '../case.ts'
import type { Claim } from '../claim.ts'
import { rightLocalId } from '../right.ts'
import { keptHead, keptHeads, readRow } from '../rows.ts'

/**
 * Whether `rank` attends to no key for a row: by what is right, and by what the kernel was told. Undefined where neither
 * lengths nor chosen ids say it, or the two contradict each other, which is then the fault of the lengths.
 */
export const isEmpty = (c: Case, rank: RankTables, row: number): boolean | undefined => {
  const right = rightEmpty(c, rank, row)
  const told = toldEmpty(c, rank, row)
  if (right === undefined || told === undefined) return right ?? told
  return right === told ? right : undefined
}

const rightEmpty = (c: Case, rank: RankTables, row: number): boolean | undefined => {
  const { topk } = rank
  if (topk !== undefined) {
    for (let k = 0; k < topk.columns; k++)
      if (rightLocalId(c, rank.rank, topk.values[row * topk.columns + k] ?? -1) >= 0) return false
    return true
  }
  const keys = keysOf(c, rank.rank, row)
  return keys === undefined ? undefined : keys === 0
}

const toldEmpty = (
  c: Case,
  { topkLocal, topkSlots, local }: RankTables,
  row: number,
): boolean | undefined => {
  const chosen = topkLocal ?? topkSlots
  if (chosen !== undefined) {
    for (let k = 0; k < chosen.columns; k++)
      if ((chosen.values[row * chosen.columns + k] ?? -1) >= 0) return false
    return true
  }
  const length = local?.[c.requestOf[row] ?? -1]
  // With several query tokens a row may see none of the keys that are there.
  return length === 0 ? true : length !== undefined && c.qLen === 1 ? false : undefined
}

export interface EmptyFacts {
  /** Rows without keys that were looked at, over all ranks. */
  readonly looked: number
  /** Of these, those whose lse is +inf or NaN with an out of 0, which is harmless. */
  readonly odd: number
  /** Rows of padding with garbage, and their ranks. */
  readonly padding: readonly { readonly rank: number; readonly row: number }[]
  readonly claims: readonly Claim[]
}

interface Bad {
  readonly rank: number
  readonly row: number
  readonly head: number
  readonly lse: number | undefined
  readonly largest: number
}

/** Whether the lse lies where it belongs: it does not, nobody could tell, or it does. */
export type LsePlace = 'misplaced' | 'unknown' | 'right'

/** Faults that put an lse where it does not belong. */
const MISPLACING: readonly FaultName[] = ['lse-layout-transposed', 'lse-head-misaligned']

/** Rows without keys: `out` has to be 0 and `lse` -inf, +inf or NaN. `most` rows of each rank are looked at. */
export const emptyRows = async (
  c: Case,
  most: number,
  place: LsePlace,
  aborted: () => void,
): Promise<EmptyFacts> => {
  const bad: Bad[] = []
  const silent: Bad[] = []
  const padding: { rank: number; row: number }[] = []
  let looked = 0
  let odd = 0
  for (const rank of c.ranks) {
    let left = most
    for (let row = 0; row < c.rows; row++) {
      aborted()
      if (!isReal(c, row)) {
        if (left-- > 0 && (await isGarbage(c, rank, row))) padding.push({ rank: rank.rank, row })
        continue
      }
      const empty = isEmpty(c, rank, row)
      if (empty === false) silent.push(...silentHeads(c, rank, row))
      if (empty !== true || left-- <= 0) continue
      looked++
      const found = await badHead(c, rank, row, place === 'misplaced')
      if (found !== undefined) bad.push(found)
      else if (isOdd(c, rank, row)) odd++
    }
  }
  return {
    looked,
    odd,
    padding,
    claims: [
      ...badClaims(bad, looked, place),
      ...(place === 'misplaced' ? [] : silentClaims(c, silent, place)),
    ],
  }
}

const isOdd = (c: Case, { lse }: RankTables, row: number): boolean => {
  const value = lse?.[row * c.heads]
  return value !== undefined && value !== EMPTY_LSE
}

/** The worst head of a row that should be neutral; undefined where all are. */
const badHead = async (
  c: Case,
  rank: RankTables,
  row: number,
  ignoresLse: boolean,
): Promise<Bad | undefined> => {
  const out = await readRow(c, rank.rank, 'out', row)
  let worst: Bad | undefined
  for (let head = 0; head < c.heads; head++) {
    const lse = rank.lse?.[row * c.heads + head]
    const largest = out === undefined ? 0 : largestOf(out.subarray(head * c.width, (head + 1) * c.width))
    const silent = ignoresLse || lse === undefined || cleanLse(lse) === EMPTY_LSE
    if (largest === 0 && silent) continue
    if (worst === undefined || !(largest <= worst.largest))
      worst = { rank: rank.rank, row, head, lse, largest }
  }
  return worst
}

/** Largest magnitude; NaN where one is NaN. */
const largestOf = (values: Float64Array): number => {
  let largest = 0
  for (const value of values) {
    const size = Math.abs(value)
    if (!(size <= largest)) largest = size
    if (Number.isNaN(size)) return size
  }
  return largest
}

const isGarbage = async (c: Case, rank: RankTables, row: number): Promise<boolean> => {
  for (const name of ['out', 'out_kernel', 'merged']) {
    const values = await readRow(c, rank.rank, name, row)
    if (values?.some((value) => !Number.isFinite(value)) === true) return true
  }
  return false
}

/** Heads of a row with keys whose lse says that there are none. */
const silentHeads = (c: Case, rank: RankTables, row: number): Bad[] => {
  const heads: Bad[] = []
  for (let head = 0; head < c.heads; head++) {
    const lse = rank.lse?.[row * c.heads + head]
    if (lse === EMPTY_LSE) heads.push({ rank: rank.rank, row, head, lse, largest: 0 })
  }
  return heads
}

const badClaims = (bad: readonly Bad[], looked: number, place: LsePlace): Claim[] => {
  const [first] = bad
  if (first === undefined) return []
  const nan = bad.filter(({ largest }) => Number.isNaN(largest)).length
  return [
    {
      fault: 'empty-row-not-neutralised',
      confidence: 1,
      explained: 1,
      ranks: bad.map(({ rank }) => rank),
      rows: bad.map(({ row }) => row),
      heads: bad.map(({ head }) => head),
      // An out of 0 beside an lse that says there are keys may be the lse of another row.
      rivals: place === 'unknown' && bad.every(({ largest }) => largest === 0) ? MISPLACING : [],
      summary:
        `a rank without keys hands ${nan > 0 ? 'NaN' : 'values'} to the merge: rank ${first.rank}, row ${first.row}, head ` +
        `${first.head} has out of up to ${first.largest} and lse ${first.lse ?? 'unknown'}, where 0 and -inf are right`,
      evidence: {
        numbers: [
          { name: 'rows without keys that are not neutral', value: bad.length, expected: 0, unit: 'rows' },
          { name: 'rows without keys that were looked at', value: looked, unit: 'rows' },
          { name: 'of these with NaN', value: nan, expected: 0, unit: 'rows' },
        ],
        picture: {
          kind: 'bars',
          title: 'largest out of rows without keys',
          unit: 'magnitude',
          labels: bad.slice(0, 16).map(({ rank, row }) => `rank ${rank}, row ${row}`),
          series: [
            {
              name: 'out',
              values: bad.slice(0, 16).map(({ largest }) => (Number.isFinite(largest) ? largest : null)),
            },
            {
              name: 'lse',
              values: bad.slice(0, 16).map(({ lse }) => (Number.isFinite(lse) ? (lse ?? null) : null)),
            },
          ],
        },
      },
    },
  ]
}

const silentClaims = (c: Case, silent: readonly Bad[], place: LsePlace): Claim[] => {
  const [first] = silent
  if (first === undefined) return []
  return [
    {
      fault: 'coverage-gap',
      confidence: 1,
      explained: 1,
      ranks: silent.map(({ rank }) => rank),
      rows: silent.map(({ row }) => row),
      heads: silent.map(({ head }) => head),
      rivals: place === 'unknown' ? MISPLACING : [],
      summary: `a rank that has keys contributes nothing: rank ${first.rank}, row ${first.row}, head ${first.head} has lse -inf`,
      evidence: {
        numbers: [
          {
            name: 'heads of rows with keys whose lse is -inf',
            value: silent.length,
            expected: 0,
            unit: 'heads',
          },
          {
            name: 'keys of the first of them',
            value: keysOf(c, first.rank, first.row) ?? null,
            unit: 'keys',
          },
        ],
      },
    },
  ]
}

/** Rows that every rank is empty for: merged has to be 0. Needs lse of every rank. */
export const mergedEmpty = async (c: Case, most: number, aborted: () => void): Promise<Claim[]> => {
  const kept = keptHeads(c)
  if (kept === 0 || c.ranks.length < c.dcp || c.ranks.some(({ lse }) => lse === undefined)) return []
  const bad: { rank: number; row: number; head: number }[] = []
  let looked = 0
  for (let row = 0; row < c.rows && looked < most; row++) {
    aborted()
    if ((c.requestOf[row] ?? -1) < 0) continue
    const heads = neutralHeads(c, row)
    if (heads.size === 0 || !(await isNeutral(c, row))) continue
    looked++
    for (const { rank } of c.ranks) {
      const merged = await readRow(c, rank, 'merged', row)
      if (merged === undefined) continue
      for (let place = 0; place < kept; place++) {
        const head = keptHead(c, kept, rank, place)
        const values = merged.subarray(place * c.width, (place + 1) * c.width)
        if (heads.has(head) && values.some(Number.isNaN)) bad.push({ rank, row, head })
      }
    }
  }
  const [first] = bad
  if (first === undefined) return []
  return [
    {
      fault: 'merged-empty-nan',
      confidence: 1,
      explained: 1,
      ranks: bad.map(({ rank }) => rank),
      rows: bad.map(({ row }) => row),
      heads: bad.map(({ head }) => head),
      rivals: [],
      summary: `every rank is empty for row ${first.row}, and merged is NaN where 0 is right (rank ${first.rank}, head ${first.head})`,
      evidence: {
        numbers: [
          { name: 'heads that are NaN without any key', value: bad.length, expected: 0, unit: 'heads' },
          { name: 'rows without any key', value: looked, unit: 'rows' },
        ],
      },
    },
  ]
}

/** Heads for which the lse of every rank says "no keys". */
const neutralHeads = (c: Case, row: number): Set<number> => {
  const heads = new Set<number>()
  for (let head = 0; head < c.heads; head++)
    if (c.ranks.every(({ lse }) => cleanLse(lse?.[row * c.heads + head] ?? 0) === EMPTY_LSE)) heads.add(head)
  return heads
}

/** No payload of a row has NaN, which would explain that of the merge. */
const isNeutral = async (c: Case, row: number): Promise<boolean> => {
  for (const { rank } of c.ranks) {
    const out = await readRow(c, rank, 'out', row)
    if (out?.some((value) => !Number.isFinite(value)) === true) return false
  }
  return true
}
