import type { Case, RankTables } from './case.ts'
import { pageAt } from './right.ts'

/** Keys of some tokens of one rank, in their order: [n * kvHeads * D], and values where they are no part of the keys. */
export interface Keys {
  readonly tokens: number
  readonly keys: Float64Array
  readonly values: Float64Array | undefined
}

/** Doubles of keys that are kept from one row of a request to the next. */
const MOST_KEPT = 1 << 25

/** Reads keys of ranks by the slots of their pools; those of the last request are kept. */
export class KeyReader {
  readonly #case: Case
  readonly #places = new Map<number, Map<number, number>>()
  readonly #kept = new Map<string, Keys>()
  #keptDoubles = 0

  constructor(c: Case) {
    this.#case = c
  }

  /** The first `tokens` local keys of a request; undefined where the table or the dumped pages do not reach so far. */
  async prefix(rank: RankTables, request: number, tokens: number): Promise<Keys | undefined> {
    const { page } = this.#case
    if (page === undefined || !hasCache(rank)) return undefined
    const name = `${rank.rank}/${request}`
    const kept = this.#kept.get(name)
    if (kept !== undefined && kept.tokens >= tokens) return cut(kept, tokens)
    const slots: number[] = []
    for (let column = 0; column * page < tokens; column++) {
      const id = pageAt(rank, request, column)
      if (id === undefined) return undefined
      for (let offset = 0; offset < page && column * page + offset < tokens; offset++)
        slots.push(id * page + offset)
    }
    const keys = await this.at(rank, slots)
    if (keys !== undefined) this.#keep(name, keys)
    return keys
  }

  /** Keys at slots of the pool; undefined where the dump lacks one of their pages. */
  async at(rank: RankTables, slots: readonly number[]): Promise<Keys | undefined> {
    const { page } = this.#case
    const { reader } = rank.dump
    if (page === undefined || !hasCache(rank)) return undefined
    const name = reader.has('kv') ? 'kv' : 'kv_k'
    const places = await this.#placesOf(rank)
    const width = reader.tokenWidth(name)
    const keys = new Float64Array(slots.length * width)
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
      while (i + run < tokens.length && tokens[i + run] === from + run) run++
      keys.set(await reader.tokens(name, from, run), i * width)
      if (valueWidth > 0) values.set(await reader.tokens('kv_v', from, run), i * valueWidth)
      i += run
    }
    return { tokens: slots.length, keys, values: valueWidth === 0 ? undefined : values }
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

  #keep(name: string, keys: Keys): void {
    if (this.#keptDoubles + keys.keys.length > MOST_KEPT) {
      this.#kept.clear()
      this.#keptDoubles = 0
    }
    this.#kept.set(name, keys)
    this.#keptDoubles += keys.keys.length + (keys.values?.length ?? 0)
  }
}

const hasCache = ({ dump: { reader } }: RankTables): boolean =>
  reader.has('kv') || (reader.has('kv_k') && reader.has('kv_v'))

const cut = ({ tokens: all, keys, values }: Keys, tokens: number): Keys => ({
  tokens,
  keys: keys.subarray(0, (keys.length / Math.max(1, all)) * tokens),
  values: values?.subarray(0, (values.length / Math.max(1, all)) * tokens),
})
