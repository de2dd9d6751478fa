import type { DuckDBInstance } from '@duckdb/node-api'
import type { StoreResult } from '../../app/protocol/store.ts'
import { checkPart, listParts } from './bundle-files.ts'
import { plainRows, sqlText, streamColumns, textOf, withConnection } from './duck.ts'
import { relationOf } from './sources.ts'
import { SpanIndex } from './span-index.ts'
import { TileBuilder } from './tile-builder.ts'

interface RankKernels {
  readonly index: SpanIndex
  /** Place of the name by start. */
  readonly names: Map<number, number>
}

type KernelTile = Pick<StoreResult<'spanTile'>, 'kernels' | 'kernelNames'>

/** Recorded kernels of a bundle, read from its parts; parts that were closed since are added with each call. */
export class KernelLoader {
  readonly #bundle: string
  readonly #duck: DuckDBInstance
  readonly #loaded = new Set<string>()
  readonly #ranks = new Map<number, RankKernels>()
  readonly #names: string[] = []
  #loading: Promise<void> = Promise.resolve()

  constructor(bundle: string, duck: DuckDBInstance) {
    this.#bundle = bundle
    this.#duck = duck
  }

  /** Kernels of `ranks` (rising) in [startNs, endNs), merged into at most `buckets` a rank. */
  async tile(ranks: readonly number[], startNs: number, endNs: number, buckets: number): Promise<KernelTile> {
    const next = this.#loading.then(() => this.#loadNew())
    this.#loading = next.catch(() => {})
    await next
    const builder = new TileBuilder()
    for (const rank of endNs <= startNs ? [] : ranks) {
      builder.rank = rank
      this.#ranks.get(rank)?.index.tile(startNs, endNs, buckets, builder)
    }
    return this.#named(builder)
  }

  /** Single kernels with their names, of which only the used ones go along. */
  #named(builder: TileBuilder): KernelTile {
    const items = builder.build()
    const used = new Map<number, number>()
    const name = Int32Array.from(items.start, (start, i) => {
      const place = items.count[i] === 1 ? this.#ranks.get(items.rank[i] ?? -1)?.names.get(start) : undefined
      if (place === undefined) return -1
      const known = used.get(place) ?? used.size
      used.set(place, known)
      return known
    })
    return {
      kernels: { ...items, name },
      kernelNames: [...used.keys()].map((place) => this.#names[place] ?? ''),
    }
  }

  async #loadNew(): Promise<void> {
    const fresh = listParts(this.#bundle, 'kernels').filter(({ path }) => !this.#loaded.has(path))
    for (const part of fresh) {
      checkPart(part.path)
      await this.#read(part.rank, relationOf('kernels', [part]))
      this.#loaded.add(part.path)
    }
  }

  #read(rank: number, parts: string): Promise<void> {
    return withConnection(this.#duck, async (connection) => {
      const distinct = await plainRows(connection, `SELECT DISTINCT name FROM ${parts}`)
      for (const row of distinct)
        if (!this.#names.includes(textOf(row, 'name'))) this.#names.push(textOf(row, 'name'))
      const starts: number[] = []
      const places: number[] = []
      const batches: Parameters<SpanIndex['append']>[0][] = []
      await streamColumns(
        connection,
        `SELECT start_ns::DOUBLE AS start, dur_ns::DOUBLE AS dur, enum_code(stage::stage)::UTINYINT AS stage,
           step::INTEGER AS step, layer::INTEGER AS layer,
           (1 << enum_code(provenance::provenance))::UTINYINT AS source,
           (list_position([${this.#names.map(sqlText).join(', ')}], name) - 1)::INTEGER AS place
         FROM ${parts}`,
        (piece) => {
          const start = piece.f64('start')
          starts.push(...start)
          places.push(...piece.i32('place'))
          batches.push({
            start,
            dur: piece.f64('dur'),
            wait: new Float64Array(start.length),
            stage: piece.u8('stage'),
            step: piece.i32('step'),
            layer: piece.i32('layer'),
            source: piece.u8('source'),
          })
        },
      )
      // Only now, so that a part that breaks in the middle is not there twice when it is read again.
      const own = this.#ranks.get(rank) ?? { index: new SpanIndex(), names: new Map<number, number>() }
      this.#ranks.set(rank, own)
      for (const batch of batches) own.index.append(batch)
      starts.forEach((start, i) => {
        own.names.set(start, places[i] ?? -1)
      })
    })
  }
}
