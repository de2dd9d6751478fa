import type { Dump, DumpGroup } from '../dump/dumps.ts'
import type { TensorReader } from '../dump/reader.ts'
import { callSize, firstKeptHead, type RowNames, rowNamesOf } from '../dump/rows.ts'
import { elementCount } from '../dump/safetensors.ts'
import type { Work } from '../dump/survey.ts'
import { cleanLse, convertLse, type LseBase } from '../lse/base.ts'
import { vectorError } from '../lse/error.ts'
import { divergenceTolerance } from './tolerance.ts'

/** Tensors that are compared, in the order in which a step makes them. */
export const COMPARED = [
  'seq_lens_global',
  'seq_lens_local',
  'q',
  'topk',
  'lse_kernel',
  'out_kernel',
  'lse',
  'out',
  'merged',
] as const
export type Compared = (typeof COMPARED)[number]

/** Tensors that are whole numbers, which are the same or not. */
const WHOLE: readonly Compared[] = ['seq_lens_global', 'seq_lens_local', 'topk']
/** Those of them with a row a request. */
const OF_REQUESTS: readonly Compared[] = ['seq_lens_global', 'seq_lens_local']
const LSES: readonly Compared[] = ['lse_kernel', 'lse']
const FROM_KERNEL: readonly Compared[] = ['lse_kernel', 'out_kernel']
/** The only one that is the same for every dcp size, once the heads of all ranks are put together. */
const OF_ALL_RANKS: Compared = 'merged'

/** A row and head, or a row of whole numbers, where both differ by more than their types explain. */
export interface Divergence {
  readonly step: number
  readonly layer: number
  /** Of `merged` the rank of A that keeps the head. */
  readonly rank: number
  readonly row: number
  /** -1 where rows are requests. */
  readonly request: number
  readonly qIndex: number
  /** -1 where a row has no heads. */
  readonly head: number
  /** Relative norm of the difference of vectors; difference of natural lse or of whole numbers. Infinite where one is no number. */
  readonly error: number
  /** The values that are farthest apart, or of which only one is a number, and their place in the row or head. */
  readonly at: number
  readonly a: number
  readonly b: number
}

export interface TensorComparison {
  readonly tensor: Compared
  /** Rows and heads that were compared, and that diverge. */
  readonly cells: number
  readonly diverging: number
  /** 0 where values are compared exactly. */
  readonly tolerance: number
  /** Largest error of all cells in which both are numbers. */
  readonly worst: number
  readonly first: Divergence | null
}

export interface NumberComparison {
  /** Steps and layers of which both have tensors, and those of one only. */
  readonly groups: number
  readonly unmatched: number
  /** Whether both have as many ranks, so that each can be compared with its like. */
  readonly sameRanks: boolean
  /** In the order of COMPARED; only what both have. */
  readonly tensors: readonly TensorComparison[]
  /** What could not be compared, and why, a sentence each. */
  readonly notes: readonly string[]
}

/** The tensor in which both diverge first: at the first step, then layer, then in the order in which a step makes them. */
export const firstDivergence = (
  tensors: readonly TensorComparison[],
): (Divergence & { readonly tensor: Compared }) | null =>
  tensors
    .flatMap(({ tensor, first }) => (first === null ? [] : [{ ...first, tensor }]))
    .reduce<(Divergence & { readonly tensor: Compared }) | null>(
      (best, one) =>
        best === null || one.step < best.step || (one.step === best.step && one.layer < best.layer)
          ? one
          : best,
      null,
    )

/** Compares the tensors of both, a row of heads at a time. Rejects when `work` says that nobody waits. */
export const compareNumbers = async (
  a: readonly DumpGroup[],
  b: readonly DumpGroup[],
  work: Work,
): Promise<NumberComparison> => {
  const matched = a.flatMap((group) => {
    const other = b.find(({ step, layer }) => step === group.step && layer === group.layer)
    return other === undefined ? [] : [{ a: group, b: other }]
  })
  const tallies = new Map<Compared, Tally>()
  const notes = new Set<string>()
  const sameRanks = matched.every((pair) => pair.a.dcpSize === pair.b.dcpSize)
  let done = 0
  for (const pair of matched) {
    work.progress(done++, matched.length)
    await comparePair(pair, tallies, notes, work)
  }
  return {
    groups: matched.length,
    unmatched: a.length + b.length - 2 * matched.length,
    sameRanks,
    tensors: COMPARED.flatMap((name) => tallies.get(name)?.told(name) ?? []),
    notes: [...notes],
  }
}

interface GroupPair {
  readonly a: DumpGroup
  readonly b: DumpGroup
}

const comparePair = async (
  pair: GroupPair,
  tallies: Map<Compared, Tally>,
  notes: Set<string>,
  work: Work,
): Promise<void> => {
  const tolerance = toleranceOf(pair)
  const { rows } = callSize(pair.a)
  const names = await rowNamesOf(pair.a, rows)
  const sameRanks = pair.a.dcpSize === pair.b.dcpSize
  if (!sameRanks) notes.add('They have unlike numbers of ranks: only merged outputs are compared.')
  for (const name of COMPARED) {
    if (name !== OF_ALL_RANKS && !sameRanks) continue
    for (const [rank, dump] of pair.a.ranks)
      for (const other of likeOf(name, rank, pair.b, sameRanks)) {
        if (!dump.reader.has(name) || !other.reader.has(name)) continue
        const tally = tallies.get(name) ?? new Tally(WHOLE.includes(name) ? 0 : tolerance)
        tallies.set(name, tally)
        await compareTensor(name, [sideOf(name, dump, pair.a), sideOf(name, other, pair.b)], {
          place: { step: pair.a.step, layer: pair.a.layer, rank },
          names,
          tally,
          notes,
          work,
        })
      }
  }
}

/** Files of B that hold what a rank of A holds: of merged outputs with unlike ranks those of all, or the first where each keeps all heads. */
const likeOf = (name: Compared, rank: number, b: DumpGroup, sameRanks: boolean): readonly Dump[] => {
  const same = b.ranks.get(rank)
  if (sameRanks || name !== OF_ALL_RANKS) return same === undefined ? [] : [same]
  const all = [...b.ranks.values()]
  const { heads } = callSize(b)
  return all.filter(({ reader }, i) => i === 0 || !reader.has(name) || reader.tensor(name).shape[1] !== heads)
}

/** One of both tensors: where it is, which head of all it begins with, and the base of its lse. */
interface Side {
  readonly reader: TensorReader
  readonly firstHead: number
  readonly base: LseBase
}

const sideOf = (name: Compared, { reader, info }: Dump, group: DumpGroup): Side => ({
  reader,
  firstHead: name === OF_ALL_RANKS ? firstKeptHead(reader, info, callSize(group).heads) : 0,
  base: info.lseBase ?? 'e',
})

interface Into {
  readonly place: Pick<Divergence, 'step' | 'layer' | 'rank'>
  readonly names: RowNames
  readonly tally: Tally
  readonly notes: Set<string>
  readonly work: Work
}

/** The coarsest tolerance of any rank: caches of one group are of one type. */
const toleranceOf = ({ a, b }: GroupPair): number => {
  const typeOf = ({ ranks }: DumpGroup) => [...ranks.values()][0]?.info.kvLayout
  return divergenceTolerance(typeOf(a), typeOf(b))
}

/** How a tensor lies: rows of heads of values. */
interface Lie {
  readonly rows: number
  readonly heads: number
  readonly width: number
  /** Whether a row has heads at all. */
  readonly hasHeads: boolean
}

const lieOf = (name: Compared, reader: TensorReader): Lie => {
  const [rows = 0, ...rest] = reader.tensor(name).shape
  const whole = WHOLE.includes(name)
  const heads = whole ? 1 : (rest[0] ?? 1)
  return { rows, heads, width: whole ? elementCount(rest) : elementCount(rest.slice(1)), hasHeads: !whole }
}

const compareTensor = async (
  name: Compared,
  [a, b]: readonly [a: Side, b: Side],
  { place, names, tally, notes, work }: Into,
): Promise<void> => {
  const [ofA, ofB] = [lieOf(name, a.reader), lieOf(name, b.reader)]
  if (ofA.width !== ofB.width) {
    notes.add(`${name} has ${ofA.width} values a row in A and ${ofB.width} in B: it is not compared.`)
    return
  }
  const from = Math.max(a.firstHead, b.firstHead)
  const heads = Math.min(a.firstHead + ofA.heads, b.firstHead + ofB.heads) - from
  const rows = Math.min(ofA.rows, ofB.rows)
  if (ofA.rows !== ofB.rows) notes.add(`${name} has unlike numbers of rows: the first ${rows} are compared.`)
  for (let row = 0; row < rows && heads > 0; row++) {
    work.aborted()
    const [x, y] = [await rowOf(name, a, ofA, row, from, heads), await rowOf(name, b, ofB, row, from, heads)]
    const keyless = FROM_KERNEL.includes(name) ? await withoutKeys(a, b, row, heads) : []
    for (let head = 0; head < heads; head++) {
      if (keyless[head] === true) continue
      const [start, end] = [head * ofA.width, (head + 1) * ofA.width]
      const [own, other] = [x.subarray(start, end), y.subarray(start, end)]
      const found = LSES.includes(name)
        ? lseApart(own[0] ?? 0, other[0] ?? 0, [a.base, b.base], notes)
        : apart(own, other, ofA.hasHeads)
      tally.take(found, {
        ...place,
        row,
        request: OF_REQUESTS.includes(name) ? row : (names.request[row] ?? -1),
        qIndex: OF_REQUESTS.includes(name) ? -1 : (names.qIndex[row] ?? -1),
        head: ofA.hasHeads ? from + head : -1,
      })
    }
  }
}

/** Values of some heads of a row. */
const rowOf = (
  name: Compared,
  { reader, firstHead }: Side,
  lie: Lie,
  row: number,
  from: number,
  heads: number,
): Promise<Float64Array> =>
  reader.values(name, (row * lie.heads + from - firstHead) * lie.width, heads * lie.width)

/**
 * How far two lse are apart in base e. A dump says which base the merge took them for, which may be wrong: the same numbers under
 * two bases are the same lse, and what differs is the merge.
 */
const lseApart = (
  a: number,
  b: number,
  [baseA, baseB]: readonly [a: LseBase, b: LseBase],
  notes: Set<string>,
): Apart => {
  const inBase = (from: LseBase, to: LseBase): Apart =>
    apart(Float64Array.of(convertLse(a, from, 'e')), Float64Array.of(convertLse(b, to, 'e')), false)
  const converted = inBase(baseA, baseB)
  if (baseA === baseB) return converted
  const asIs = inBase(baseA, baseA)
  if (!(asIs.error < converted.error)) return converted
  notes.add(`The merges took the same lse for base ${baseA} in A and base ${baseB} in B.`)
  return asIs
}

/** Heads of a row in which neither merge saw a key: what their kernels left there means nothing. */
const withoutKeys = async (a: Side, b: Side, row: number, heads: number): Promise<readonly boolean[]> => {
  if (!a.reader.has('lse') || !b.reader.has('lse')) return []
  const [x, y] = await Promise.all(
    [a, b].map(({ reader }) => reader.values('lse', row * (reader.tensor('lse').shape[1] ?? 0), heads)),
  )
  return Array.from({ length: heads }, (_, head) =>
    [x, y].every((lse) => cleanLse(lse?.[head] ?? 0) === Number.NEGATIVE_INFINITY),
  )
}

type Apart = Pick<Divergence, 'error' | 'at' | 'a' | 'b'>

/** How far two vectors are apart: by the norm of A, or by single values. What is no number in both alike is not apart. */
const apart = (a: Float64Array, b: Float64Array, byNorm: boolean): Apart => {
  let at = 0
  let most = -1
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0]
    if (Object.is(x, y) || x === y) continue
    const difference = Math.abs(y - x)
    // Also infinities of unlike sign, and a number beside what is none.
    if (!Number.isFinite(difference)) return { error: Number.POSITIVE_INFINITY, at: i, a: x, b: y }
    if (difference > most) {
      most = difference
      at = i
    }
  }
  const values = { at, a: a[at] ?? 0, b: b[at] ?? 0 }
  if (most < 0) return { error: 0, ...values }
  if (!byNorm) return { error: most, ...values }
  const finite = (vector: Float64Array): Float64Array => vector.map((v) => (Number.isFinite(v) ? v : 0))
  return { error: vectorError(finite(b), finite(a)).relative, ...values }
}

/** What is known of a tensor so far. */
class Tally {
  readonly #tolerance: number
  #cells = 0
  #diverging = 0
  #worst = 0
  #first: Divergence | null = null

  constructor(tolerance: number) {
    this.#tolerance = tolerance
  }

  /** Cells come by step and layer, but rank by rank: the first is that of the first row, head and rank. */
  take(found: Apart, place: Omit<Divergence, keyof Apart>): void {
    this.#cells++
    if (Number.isFinite(found.error)) this.#worst = Math.max(this.#worst, found.error)
    if (!(found.error > this.#tolerance)) return
    this.#diverging++
    const one = { ...place, ...found }
    if (this.#first === null || comesBefore(one, this.#first)) this.#first = one
  }

  told(tensor: Compared): TensorComparison {
    return {
      tensor,
      cells: this.#cells,
      diverging: this.#diverging,
      tolerance: this.#tolerance,
      worst: this.#worst,
      first: this.#first,
    }
  }
}

const ORDER = ['step', 'layer', 'row', 'head', 'rank'] as const

const comesBefore = (a: Divergence, b: Divergence): boolean => {
  const key = ORDER.find((name) => a[name] !== b[name])
  return key !== undefined && a[key] < b[key]
}
