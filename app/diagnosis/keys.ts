import { DS_MLA_VALUES, decodeDsMla } from '../dump/ds-mla.ts'
import type { TensorReader } from '../dump/reader.ts'
import type { Case, RankTables } from './case.ts'
import { pageAt } from './right.ts'

/** Keys of some tokens of one rank, in their order: [n * kvHeads * D], and values where they are no part of the keys. */
export interface Keys {
  readonly tokens: number
  readonly keys: Float64Array
  readonly values: Float64Array | undefined
}

/** Gives room for so many values. */
type Room = (length: number) => Float64Array<ArrayBuffer>

/** Values of keys that are kept from one row of a request to the next: 32 MB of doubles. */
const MOST_KEPT = 1 << 22
/** Tokens that are read at once. */
const MOST_AT_ONCE = 512

/** Reads keys of ranks by the slots of their pools; those of the last request are kept. */
export class KeyReader {
  readonly #case: Case
  readonly #places = new Map<number, Map<number, number>>()
  readonly #kept = new Map<string, Keys>()
  #keptDoubles = 0
  #memory = new Float64Array(0)

  constructor(c: Case) {
    this.#case = c
  }

  /** The first `tokens` local keys of a request; undefined where the table or the dumped pages do not reach so far. */
  prefix(rank: RankTables, request: number, tokens: number): Promise<Keys | undefined> {
    return this.range(rank, request, 0, tokens)
  }

  /**
   * Local keys of a request from `from` to before `to`, if the table and the dumped pages reach so far. Those that are not the
   * first ones are good until the next are asked for.
   */
  async range(rank: RankTables, request: number, from: number, to: number): Promise<Keys | undefined> {
    if (!hasCache(rank)) return undefined
    const name = `${rank.rank}/${request}`
    const kept = this.#kept.get(name)
    if (kept !== undefined && kept.tokens >= to) return cut(kept, from, to)
    const slots = this.slots(rank, request, from, to)
    if (slots === undefined) return undefined
    if (from > 0) return this.at(rank, slots, this.#scratch)
    const keys = await this.at(rank, slots)
    if (keys !== undefined) this.#keep(name, keys)
    return keys
  }

  /** Slots of local keys from `from` to before `to`; undefined where the table does not reach so far. */
  slots(rank: RankTables, request: number, from: number, to: number): number[] | undefined {
    const { page } = this.#case
    if (page === undefined) return undefined
    const slots: number[] = []
    for (let local = from; local < to; ) {
      const id = pageAt(rank, request, Math.floor(local / page))
      if (id === undefined) return undefined
      const end = Math.min(to, (Math.floor(local / page) + 1) * page)
      for (; local < end; local++) slots.push(id * page + (local % page))
    }
    return slots
  }

  /** One local key. */
  async one(rank: RankTables, request: number, local: number): Promise<Float64Array | undefined> {
    const { page } = this.#case
    const id = page === undefined ? undefined : pageAt(rank, request, Math.floor(local / page))
    if (page === undefined || id === undefined) return undefined
    return (await this.at(rank, [id * page + (local % page)]))?.keys
  }

  /** Keys at slots of the pool, in memory that `room` gives; undefined where the dump lacks one of their pages. */
  async at(
    rank: RankTables,
    slots: readonly number[],
    room: Room = (length) => new Float64Array(length),
  ): Promise<Keys | undefined> {
    const { page } = this.#case
    const { reader } = rank.dump
    if (page === undefined || !hasCache(rank)) return undefined
    const name = reader.has('kv') ? 'kv' : 'kv_k'
    const places = await this.#placesOf(rank)
    const width = reader.tokenWidth(name)
    const keys = room(slots.length * width)
    const valueWidth = name === 'kv' ? 0 : reader.tokenWidth('kv_v')
    const values = new Float64Array(slots.length * valueWidth)
    const tokens: number[] = []
    for (const slot of slots) {
      const place = places.get(Math.floor(slot / page))
      if (place === undefined) return undefined
      tokens.push(place * page + (slot % page))
    }
    for (let i = 0; i < tokens.length; ) {
      const from = tokens[i] ?? 0
      // What lies one after the other is read at once.
      let run = 1
      while (run < MOST_AT_ONCE && i + run < tokens.length && tokens[i + run] === from + run) run++
      const own = keys.subarray(i * width, (i + run) * width)
      const read = await reader.tokens(name, from, run, own)
      if (read !== own) own.set(read)
      if (valueWidth > 0) values.set(await reader.tokens('kv_v', from, run), i * valueWidth)
      i += run
    }
    return { tokens: slots.length, keys, values: valueWidth === 0 ? undefined : values }
  }

  /**
   * Keys at slots as somebody reads them who takes rows of the pool to lie `stride` bytes apart, of a cache whose values are
   * bytes; zeros where the dump lacks the page.
   */
  async strided(
    rank: RankTables,
    slots: readonly number[] | undefined,
    stride: number,
  ): Promise<Keys | undefined> {
    const { page, width } = this.#case
    const { reader } = rank.dump
    if (page === undefined || slots === undefined || !reader.has('kv')) return undefined
    const tokens = slots.length
    const [, , row = 0] = reader.tensor('kv').shape
    const places = await this.#placesOf(rank)
    const scaled = reader.tensor('kv').dtype !== 'U8'
    const scale = scaled && reader.has('kv_scale') ? ((await reader.values('kv_scale'))[0] ?? 1) : 1
    const keyWidth = scaled ? row : DS_MLA_VALUES
    const keys = new Float64Array(tokens * keyWidth)
    for (const [token, slot] of slots.entries()) {
      const codes = await bytesFrom(reader, places, page * row, slot * stride, row)
      keys.set(
        scaled ? codes.map((code) => code * scale) : decodeDsMla(Uint8Array.from(codes)),
        token * keyWidth,
      )
    }
    // A value is the beginning of its key.
    return width <= keyWidth ? { tokens, keys: keys.map(Math.fround), values: undefined } : undefined
  }

  /** Place in `kv` of each page that the dump has. */
  async #placesOf({ rank, dump: { reader } }: RankTables): Promise<Map<number, number>> {
    const known = this.#places.get(rank)
    if (known !== undefined) return known
    const [pages = 0] = reader.tensor(reader.has('kv') ? 'kv' : 'kv_k').shape
    const ids = reader.has('page_ids')
      ? [...(await reader.values('page_ids'))]
      : Array.from({ length: pages }, (_, i) => i)
    const places = new Map(ids.map((id, i) => [id, i]))
    this.#places.set(rank, places)
    return places
  }

  /** Memory that is used over and over: what is held at once is no garbage of the next. */
  readonly #scratch: Room = (length) => {
    if (this.#memory.length < length) this.#memory = new Float64Array(length)
    return this.#memory.subarray(0, length)
  }

  #keep(name: string, keys: Keys): void {
    const size = keys.keys.length + (keys.values?.length ?? 0)
    if (this.#keptDoubles + size > MOST_KEPT) {
      this.#kept.clear()
      this.#keptDoubles = 0
    }
    if (size > MOST_KEPT) return
    this.#kept.set(name, keys)
    this.#keptDoubles += size
  }
}

/** `count` bytes (or codes of a byte each) of the pool from byte `from` on, which may lie in two pages. */
const bytesFrom = async (
  reader: TensorReader,
  places: ReadonlyMap<number, number>,
  pageBytes: number,
  from: number,
  count: number,
): Promise<Float64Array> => {
  const bytes = new Float64Array(count)
  for (let done = 0; done < count; ) {
    const place = places.get(Math.floor((from + done) / pageBytes))
    const within = (from + done) % pageBytes
    const taken = Math.min(count - done, pageBytes - within)
    // Pages that are not dumped hold nothing of the step.
    if (place !== undefined) bytes.set(await reader.values('kv', place * pageBytes + within, taken), done)
    done += taken
  }
  return bytes
}

const hasCache = ({ dump: { reader } }: RankTables): boolean =>
  reader.has('kv') || (reader.has('kv_k') && reader.has('kv_v'))

const cut = ({ tokens: all, keys, values }: Keys, from: number, to: number): Keys => {
  const part = (of: Float64Array): Float64Array => {
    const width = of.length / Math.max(1, all)
    return of.subarray(width * from, width * to)
  }
  return { tokens: to - from, keys: part(keys), values: values && part(values) }
}
