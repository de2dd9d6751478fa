import type { FaultName } from '../../faults/names.ts'
import { cleanLse, EMPTY_LSE } from '../../lse/base.ts'
import { type Case, isReal, isSparse, keysOf, type RankTables, visibleTo } from '../case.ts'
import type { Claim } from '../claim.ts'
import { rightLength, rightLocalId } from '../right.ts'
import { keptHead, keptHeads, readRow } from '../rows.ts'
import { type EmptyContent, emptyContent } from './empty-content.ts'

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

/** Whether the dump says what the kernel was told. */
export const wasTold = ({ local, topk, topkLocal, topkSlots }: RankTables): boolean =>
  topk === undefined ? local !== undefined : (topkLocal ?? topkSlots) !== undefined

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

const toldEmpty = (c: Case, tables: RankTables, row: number): boolean | undefined => {
  const { rank, topkLocal, topkSlots, local } = tables
  const chosen = [topkLocal, topkSlots].filter((table) => table !== undefined)
  if (chosen.length > 0)
    return chosen.every(({ columns, values }) =>
      values.subarray(row * columns, (row + 1) * columns).every((id) => id < 0),
    )
  const request = c.requestOf[row] ?? -1
  const length = local?.[request]
  // With several query tokens a row may see none of the keys that are there, as the lengths say.
  if (length !== undefined && length === rightLength(c, { rank }, request)) return rightEmpty(c, tables, row)
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
  /** Said where it is not known what the kernel was told, and so not whether it is at fault. */
  readonly unexplained: string | undefined
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

/** Faults by which a kernel attends to keys that its rows do not have. */
export const OTHER_KEYS: readonly FaultName[] = ['page-table-not-local', 'causal-end-aligned']

/** Faults that put an lse where it does not belong. */
const MISPLACING: readonly FaultName[] = ['lse-layout-transposed', 'lse-head-misaligned']

/** What is known of ranks by now. */
export interface Known {
  /** Something else is wrong that explains what their rows hold. */
  readonly excused: ReadonlySet<number>
  /** Nobody knows whether their kernels attended to what they were told. */
  readonly unsure: ReadonlySet<number>
  /** Partials of theirs were compared with the reference. */
  readonly compared: ReadonlySet<number>
  /** Kernels were seen to attend to keys that rows do not have. */
  readonly otherKeys: boolean
}

/**
 * Rows without keys: `out` has to be 0 and `lse` -inf, +inf or NaN. `most` rows of each rank are looked at.
 */
export const emptyRows = async (
  c: Case,
  most: number,
  place: LsePlace,
  known: Known,
  aborted: () => void,
): Promise<EmptyFacts> => {
  const { excused, unsure, compared, otherKeys } = known
  const bad: Bad[] = []
  const silent: Bad[] = []
  const neutral: { rank: number; row: number }[] = []
  const padding: { rank: number; row: number }[] = []
  let looked = 0
  let odd = 0
  for (const rank of c.ranks) {
    let left = most
    for (let row = 0; row < c.rows; row++) {
      aborted()
      if (isPadding(c, row)) {
        if (left-- > 0 && (await isGarbage(c, rank, row))) padding.push({ rank: rank.rank, row })
        continue
      }
      if (excused.has(rank.rank)) continue
      const empty = isEmpty(c, rank, row)
      if (empty === false) silent.push(...silentHeads(c, rank, row))
      if (empty !== true || left-- <= 0) continue
      looked++
      const found = await badHead(c, rank, row, place === 'misplaced')
      if (found !== undefined) bad.push(found)
      else {
        // An out of 0 alone may be that of keys of zeros.
        if (rank.lse !== undefined) neutral.push({ rank: rank.rank, row })
        if (isOdd(c, rank, row)) odd++
      }
    }
  }
  const isTold = ({ rank }: Bad): boolean => {
    const tables = c.byRank.get(rank)
    return tables !== undefined && wasTold(tables)
  }
  const told = bad.filter(isTold)
  const contents = new Set<EmptyContent>()
  for (const { rank, row } of told) {
    aborted()
    const tables = c.byRank.get(rank)
    if (tables !== undefined) contents.add(await emptyContent(c, tables, row))
  }
  // Without the reference nobody knows that attention is not sparse, where a row may well choose no key of a rank.
  const isHeard = (one: Bad): boolean => isTold(one) && compared.has(one.rank)
  const untold = [...bad.filter((one) => !isTold(one)), ...silent.filter((one) => !isHeard(one))][0]
  return {
    looked,
    odd,
    padding,
    claims: [
      ...badClaims(c, told, looked, place, {
        contents,
        neutral,
        mayHaveOtherKeys: otherKeys || told.some(({ rank }) => unsure.has(rank)),
      }),
      ...(place === 'misplaced' ? [] : silentClaims(c, silent.filter(isHeard), place, unsure)),
    ],
    unexplained:
      untold === undefined
        ? undefined
        : `row ${untold.row} of rank ${untold.rank} has keys where it should have none, or none where it should have some; without ` +
          'what the kernel was told (seq_lens_local, topk_local or topk_slots) nothing says why',
  }
}

const isOdd = (c: Case, { lse }: RankTables, row: number): boolean => {
  const value = lse?.[row * c.heads]
  return value !== undefined && value !== EMPTY_LSE
}

/** A row of no request, or one without a token that pads a graph; other requests without tokens are rows without keys. */
const isPadding = (c: Case, row: number): boolean => {
  if (isReal(c, row)) return false
  const isWritten = c.ranks.some(({ slots }) => (slots?.[row] ?? -1) >= 0)
  return (c.requestOf[row] ?? -1) < 0 || (c.graph && c.batch > 0 && !isWritten)
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
  for (const name of ['out', 'out_kernel']) {
    const values = await readRow(c, rank.rank, name, row)
    if (values?.some((value) => !Number.isFinite(value)) === true) return true
  }
  return false
}

/** Heads of a row with keys, where the lse of all says that there are none. */
const silentHeads = (c: Case, rank: RankTables, row: number): Bad[] => {
  const heads: Bad[] = []
  for (let head = 0; head < c.heads; head++) {
    const lse = rank.lse?.[row * c.heads + head]
    if (lse === EMPTY_LSE) heads.push({ rank: rank.rank, row, head, lse, largest: 0 })
  }
  return heads.length === c.heads ? heads : []
}

/** What rows without keys hold, and which of them hold nothing. */
interface Looked {
  readonly contents: ReadonlySet<EmptyContent>
  readonly neutral: readonly { readonly rank: number; readonly row: number }[]
  /** Nobody knows whether the kernels attended to what they were told. */
  readonly mayHaveOtherKeys: boolean
}

/** The fault that such rows are of, and others that leave the same. */
type Blame = Pick<Claim, 'fault' | 'rivals'>

const blameOf = (c: Case, bad: readonly Bad[], looked: Looked): Blame => {
  if (isSparse(c)) return blameOfChoice(c, bad, looked)
  const { contents, mayHaveOtherKeys } = looked
  if (!mayHaveOtherKeys || contents.has('garbage')) return { fault: 'empty-row-not-neutralised', rivals: [] }
  // A rank writes the keys that it has: rows of zeros are of pages in which it has none.
  if (isOfZeros(contents)) return { fault: 'page-table-not-local', rivals: [] }
  // Counts of pages would give all rows of a rank keys that are not its own.
  const isOnAll = !looked.neutral.some(
    ({ rank, row }) => bad.some((one) => one.rank === rank) && seesSome(c, row),
  )
  const isOfBound = bad.every((one) => seesNoneOfSome(c, one))
  // Rows of requests of which the rank has no key are as they should be.
  if (isOfBound && !isOnAll) return { fault: 'causal-end-aligned', rivals: [] }
  return {
    fault: 'empty-row-not-neutralised',
    rivals: [
      ...(isOnAll ? (['page-table-not-local'] as const) : []),
      ...(isOfBound ? (['causal-end-aligned'] as const) : []),
    ],
  }
}

/** Attention to several keys of zeros somewhere, and nowhere what no attention gives. */
const isOfZeros = (contents: ReadonlySet<EmptyContent>): boolean =>
  contents.has('zeros') && !contents.has('garbage')

const seesSome = (c: Case, row: number): boolean => {
  const length = c.lengths?.[c.requestOf[row] ?? -1]
  return length !== undefined && visibleTo(c, row, length) > 0
}

/** A row of several that sees none of the keys that its rank has. */
const seesNoneOfSome = (c: Case, { rank, row }: Bad): boolean => {
  const request = c.requestOf[row] ?? -1
  return (c.queriesOf[request] ?? 1) > 1 && (rightLength(c, { rank }, request) ?? 0) > 0
}

/**
 * Rows may count as such with keys because a -1 among their chosen ids counts: only on the last rank, and only rows that have
 * one. Rows without a -1 that are neutral there decide, or zeros that were attended to.
 */
const blameOfChoice = (c: Case, bad: readonly Bad[], { contents, neutral }: Looked): Blame => {
  const notNeutralised: Blame = { fault: 'empty-row-not-neutralised', rivals: [] }
  const last = c.byRank.get(c.dcp - 1)
  if (last?.topk === undefined || bad.some(({ rank }) => rank !== last.rank)) return notNeutralised
  const hasNone = (row: number): boolean => {
    const { topk } = last
    return topk?.values.subarray(row * topk.columns, (row + 1) * topk.columns).includes(-1) === true
  }
  const ofLast = neutral.filter(({ rank }) => rank === last.rank)
  if (!bad.every(({ row }) => hasNone(row)) || ofLast.some(({ row }) => hasNone(row))) return notNeutralised
  const isSure = ofLast.length > 0 || isOfZeros(contents)
  return { fault: 'topk-sentinel-owned', rivals: isSure ? [] : ['empty-row-not-neutralised'] }
}

const badClaims = (c: Case, bad: readonly Bad[], looked: number, place: LsePlace, found: Looked): Claim[] => {
  const [first] = bad
  if (first === undefined) return []
  const nan = bad.filter(({ largest }) => Number.isNaN(largest)).length
  const { fault, rivals } = blameOf(c, bad, found)
  return [
    {
      fault,
      confidence: 1,
      explained: 1,
      ranks: bad.map(({ rank }) => rank),
      rows: bad.map(({ row }) => row),
      heads: bad.map(({ head }) => head),
      // An out of 0 beside an lse that says there are keys may be the lse of another row.
      rivals: [
        ...rivals,
        ...(place === 'unknown' && !isOfZeros(found.contents) && bad.every(({ largest }) => largest === 0)
          ? MISPLACING
          : []),
      ],
      summary:
        `a rank without keys hands ${nan > 0 ? 'NaN' : 'values'} to the merge: rank ${first.rank}, row ${first.row}, head ` +
        `${first.head} has out of up to ${first.largest} and lse ${lseText(first.lse)}, where 0 and -inf are right${
          fault === 'page-table-not-local' ? '; this is what attention to keys of zeros gives' : ''
        }`,
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

const silentClaims = (
  c: Case,
  silent: readonly Bad[],
  place: LsePlace,
  unsure: ReadonlySet<number>,
): Claim[] => {
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
      rivals: [
        ...(c.qLen > 1 && silent.some(({ rank }) => unsure.has(rank))
          ? (['causal-end-aligned'] as const)
          : []),
        ...(c.ranks.some(({ dump }) => dump.info.kvLayout?.startsWith('fp8') === true)
          ? (['kv-layout-mismatch'] as const)
          : []),
        ...(place === 'unknown' ? MISPLACING : []),
      ],
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
  const real = bad.filter(({ row }) => isReal(c, row))
  const shown = real.length > 0 ? real : bad
  const [first] = shown
  if (first === undefined) return []
  return [
    {
      fault: 'merged-empty-nan',
      ofPadding: real.length === 0,
      confidence: 1,
      explained: 1,
      ranks: shown.map(({ rank }) => rank),
      rows: shown.map(({ row }) => row),
      heads: shown.map(({ head }) => head),
      rivals: [],
      summary: `every rank is empty for row ${first.row}, and merged is NaN where 0 is right (rank ${first.rank}, head ${first.head})`,
      evidence: {
        numbers: [
          { name: 'heads that are NaN without any key', value: shown.length, expected: 0, unit: 'heads' },
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

/** -inf as it is written in this text elsewhere. */
const lseText = (lse: number | undefined): string =>
  lse === undefined ? 'unknown' : String(lse).replace('Infinity', 'inf')
