import { mergePartials } from '../lse/merge.ts'
import { type Case, keysOf, type RankTables } from './case.ts'
import { KeyReader, type Keys } from './keys.ts'
import type { Reference } from './reference.ts'
import { rightLocalId, slotOfLocal } from './right.ts'

/** A rank's partial of one row in fp64: out [H * W], lse [H] natural, -inf without keys. */
export interface PartialRow {
  readonly out: Float64Array
  readonly lse: Float64Array
}

/** What the partial of one rank and row should be, and what it would be with other keys. */
export interface PartialContext {
  readonly rank: RankTables
  readonly row: number
  readonly request: number
  /** Keys that the row is to attend to; of sparse attention how many it chose of this rank. */
  readonly rightCount: number
  /** Attention to chosen keys, not to all. */
  readonly isSparse: boolean
  /** Keys that the rank was told that it has, where that is dumped. */
  readonly told: number | undefined
  /** As dumped, out [H * W], lse [H] natural; absent until it is known. */
  readonly seen: { readonly out: Float64Array | undefined; readonly lse: Float64Array | undefined }
  /** Undefined where the dump does not have the keys. */
  right(): Promise<PartialRow | undefined>
  /** Over the first `count` local keys, for each of `counts`, in one pass. */
  prefixes(counts: readonly number[]): Promise<ReadonlyMap<number, PartialRow>>
  /** Over local keys from `from` to before `to`. */
  range(from: number, to: number): Promise<PartialRow | undefined>
  /** Over the keys that are right, with another map of heads to key heads. */
  mapped(kvHeadOf: Int32Array): Promise<PartialRow | undefined>
  /** Over the keys that are right, read as rows that lie `stride` bytes apart in the pool. */
  strided(stride: number): Promise<PartialRow | undefined>
}

type KeysOf = (from: number, to: number) => Promise<Keys | undefined>

/** Key head of each query head: heads in groups of equal size. */
export const kvHeadMap = (c: Case): Int32Array =>
  Int32Array.from({ length: c.heads }, (_, head) => Math.floor((head * c.kvHeads) / c.heads))

/** Values of keys that are held and attended to at once: 32 MB of doubles, 7,000 tokens of an MLA cache. */
const PASS_VALUES = 1 << 22

/** Computes partials in fp64 from what a case has of queries, keys and tables. */
export class PartialReference {
  readonly #case: Case
  readonly #reference: Reference
  readonly #reader: KeyReader
  readonly #map: Int32Array
  readonly #passTokens: number
  /** Multiply-adds so far. */
  spent = 0

  constructor(c: Case, reference: Reference) {
    this.#case = c
    this.#reference = reference
    this.#reader = new KeyReader(c)
    this.#map = kvHeadMap(c)
    this.#passTokens = Math.max(1, Math.floor(PASS_VALUES / Math.max(1, c.kvHeads * c.keyWidth)))
  }

  /** Undefined where the rank lacks what its partial is computed from. */
  context(rank: RankTables, row: number, q: Float64Array | undefined): PartialContext | undefined {
    const c = this.#case
    const request = c.requestOf[row] ?? -1
    if (q === undefined || c.scale === undefined || request < 0) return undefined
    const isSparse = (rank.topk ?? rank.topkLocal ?? rank.topkSlots) !== undefined
    const chosen = isSparse ? this.#chosenSlots(rank, row) : undefined
    const rightCount = isSparse ? chosen?.length : keysOf(c, rank.rank, row)
    if (rightCount === undefined) return undefined
    /** Local keys from one to before another, of those that are right. */
    const rightKeys = (from: number, to: number): Promise<Keys | undefined> =>
      chosen === undefined
        ? this.#reader.range(rank, request, from, to)
        : this.#reader.at(rank, chosen.slice(from, to))
    const stridedKeys =
      (stride: number) =>
      (from: number, to: number): Promise<Keys | undefined> =>
        this.#reader.strided(
          rank,
          chosen?.slice(from, to) ?? this.#reader.slots(rank, request, from, to),
          stride,
        )
    const over = (of: KeysOf, to: number, map = this.#map): Promise<PartialRow | undefined> =>
      this.#inPasses(q, of, 0, to, map)
    return {
      rank,
      row,
      request,
      rightCount,
      isSparse,
      told: rank.local?.[request],
      seen: { out: undefined, lse: undefined },
      right: () => over(rightKeys, rightCount),
      prefixes: (counts) => this.#prefixes(rank, request, q, counts),
      range: (from, to) =>
        this.#inPasses(q, (a, b) => this.#reader.range(rank, request, a, b), from, to, this.#map),
      mapped: (kvHeadOf) => over(rightKeys, rightCount, kvHeadOf),
      strided: (stride) => over(stridedKeys(stride), rightCount),
    }
  }

  /** Attention to keys from `from` to before `to`, of which no more than a pass are held at once. */
  async #inPasses(
    q: Float64Array,
    of: KeysOf,
    from: number,
    to: number,
    map: Int32Array,
  ): Promise<PartialRow | undefined> {
    let sum: PartialRow | undefined
    for (let at = from; at < to || sum === undefined; at += this.#passTokens) {
      const keys = await of(at, Math.min(to, at + this.#passTokens))
      const [part] = keys === undefined ? [] : await this.#attend(q, keys, map)
      if (part === undefined) return undefined
      sum = sum === undefined ? part : mergedRow(this.#case, [sum, part])
    }
    return sum
  }

  /** Segments from one count to the next are computed once and merged; counts beyond the dumped keys are left out. */
  async #prefixes(
    rank: RankTables,
    request: number,
    q: Float64Array,
    counts: readonly number[],
  ): Promise<Map<number, PartialRow>> {
    const found = new Map<number, PartialRow>()
    const ends = [...new Set(counts)].sort((a, b) => a - b)
    const most = ends.at(-1) ?? 0
    if (most > this.#passTokens) return this.#longPrefixes(rank, request, q, ends)
    let keys: Keys | undefined
    while (keys === undefined && ends.length > 0) {
      keys = await this.#reader.prefix(rank, request, ends.at(-1) ?? 0)
      if (keys === undefined) ends.pop()
    }
    if (keys === undefined) return found
    const segments = await this.#attend(q, keys, this.#map, ends)
    let sum: PartialRow | undefined
    ends.forEach((end, i) => {
      const segment = segments[i]
      if (segment === undefined) return
      sum = sum === undefined ? segment : mergedRow(this.#case, [sum, segment])
      found.set(end, sum)
    })
    return found
  }

  /** The same for more keys than are held at once, some after the other. */
  async #longPrefixes(
    rank: RankTables,
    request: number,
    q: Float64Array,
    ends: readonly number[],
  ): Promise<Map<number, PartialRow>> {
    const found = new Map<number, PartialRow>()
    const keysOf: KeysOf = (from, to) => this.#reader.range(rank, request, from, to)
    let sum: PartialRow | undefined
    let from = 0
    for (const end of ends) {
      const part = await this.#inPasses(q, keysOf, from, end, this.#map)
      if (part === undefined) return found
      sum = sum === undefined ? part : mergedRow(this.#case, [sum, part])
      found.set(end, sum)
      from = end
    }
    return found
  }

  /**
   * Slots of the keys that a row chose, of those that the rank holds; undefined where its table does not say them. Where the
   * choice itself is not dumped it is what the kernel was told.
   */
  #chosenSlots(rank: RankTables, row: number): number[] | undefined {
    const c = this.#case
    const { topk, topkLocal, topkSlots } = rank
    const table = topk ?? topkSlots ?? topkLocal
    if (table === undefined) return undefined
    const ids = table.values.subarray(row * table.columns, (row + 1) * table.columns)
    if (table === topkSlots) return [...ids].filter((slot) => slot >= 0)
    const slots: number[] = []
    for (const id of ids) {
      const local = table === topk ? rightLocalId(c, rank.rank, id) : id
      if (local < 0) continue
      const slot = slotOfLocal(c, rank, c.requestOf[row] ?? -1, local)
      if (slot === undefined) return undefined
      slots.push(slot)
    }
    return slots
  }

  /** One partial for each segment, which end at `ends` (default: one of all keys). */
  async #attend(
    q: Float64Array,
    { tokens, keys, values }: Keys,
    kvHeadOf: Int32Array,
    ends: readonly number[] = [tokens],
  ): Promise<PartialRow[]> {
    const c = this.#case
    this.spent += tokens * c.heads * (c.keyWidth + c.width)
    const { out, lse } = await this.#reference.attend({
      q,
      heads: c.heads,
      keyDim: c.keyWidth,
      valueDim: c.width,
      keys,
      ...(values === undefined ? {} : { values }),
      kvHeadOf,
      kvHeads: c.kvHeads,
      scale: c.scale ?? 1,
      segments: Int32Array.from(ends),
    })
    const size = c.heads * c.width
    return ends.map((_, i) => ({
      out: out.subarray(i * size, (i + 1) * size),
      lse: lse.subarray(i * c.heads, (i + 1) * c.heads),
    }))
  }
}

/** Partials of all ranks merged in fp64, natural logarithm: out [H * W], lse [H]. */
export const mergedRow = (c: Case, partials: readonly PartialRow[]): PartialRow => {
  const out = new Float64Array(c.heads * c.width)
  const lse = new Float64Array(c.heads)
  for (let head = 0; head < c.heads; head++) {
    const vectors = new Float64Array(partials.length * c.width)
    partials.forEach((partial, i) => {
      vectors.set(partial.out.subarray(head * c.width, (head + 1) * c.width), i * c.width)
    })
    const merged = mergePartials({
      lse: partials.map((partial) => partial.lse[head] ?? Number.NEGATIVE_INFINITY),
      out: vectors,
      width: c.width,
      base: 'e',
    })
    out.set(merged.out, head * c.width)
    lse[head] = merged.lse
  }
  return { out, lse }
}
