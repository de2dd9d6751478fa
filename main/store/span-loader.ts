import type { DuckDBInstance } from '@duckdb/node-api'
import { checkPart, listParts, type Part } from './bundle-files.ts'
import { streamColumns, withConnection } from './duck.ts'
import { relationOf } from './sources.ts'
import { partedBatch } from './span-batch.ts'
import { SpanIndex } from './span-index.ts'

export interface RankSpans {
  /** Spans that follow each other. */
  readonly index: SpanIndex
  /** Spans of stages that contain others. */
  readonly outer: SpanIndex
}

interface Entry extends RankSpans {
  /** Paths of the parts that were read. */
  readonly loaded: Set<string>
}

/** Spans of a bundle by rank, read from its parts; parts that were closed since are added with each call. */
export class SpanLoader {
  readonly #bundle: string
  readonly #duck: DuckDBInstance
  readonly #ranks = new Map<number, Entry>()
  #loading: Promise<void> = Promise.resolve()

  constructor(bundle: string, duck: DuckDBInstance) {
    this.#bundle = bundle
    this.#duck = duck
  }

  /** Indices of `ranks`, which must differ, up to the parts that are closed now. */
  async load(ranks: readonly number[]): Promise<(RankSpans & { readonly rank: number })[]> {
    const next = this.#loading.then(() => this.#loadNew(ranks))
    this.#loading = next.catch(() => {})
    await next
    return ranks.map((rank) => ({ ...this.#entry(rank), rank }))
  }

  async #loadNew(ranks: readonly number[]): Promise<void> {
    const parts = listParts(this.#bundle, 'spans')
    for (const rank of ranks) {
      const entry = this.#entry(rank)
      const { loaded } = entry
      const fresh = parts.filter((part) => part.rank === rank && !loaded.has(part.path))
      if (fresh.length === 0) continue
      for (const part of fresh) checkPart(part.path)
      try {
        await this.#read(fresh, entry)
      } catch (error) {
        // Some of its spans may be in the index by now: the next call begins anew instead of adding them twice.
        this.#ranks.delete(rank)
        throw error
      }
      for (const part of fresh) loaded.add(part.path)
    }
  }

  #read(parts: readonly Part[], { index, outer }: RankSpans): Promise<void> {
    const sql = `SELECT start_ns::DOUBLE AS start, dur_ns::DOUBLE AS dur,
        greatest(0, coalesce(last_enter_ns - enter_ns, 0))::DOUBLE AS wait,
        enum_code(stage::stage)::UTINYINT AS stage, step::INTEGER AS step, layer::INTEGER AS layer,
        (1 << enum_code(provenance::provenance))::UTINYINT AS source
      FROM ${relationOf('spans', parts)}`
    return withConnection(this.#duck, (connection) =>
      streamColumns(connection, sql, (piece) => {
        const parted = partedBatch({
          start: piece.f64('start'),
          dur: piece.f64('dur'),
          wait: piece.f64('wait'),
          stage: piece.u8('stage'),
          step: piece.i32('step'),
          layer: piece.i32('layer'),
          source: piece.u8('source'),
        })
        index.append(parted.inner)
        outer.append(parted.outer)
      }),
    )
  }

  #entry(rank: number): Entry {
    const entry = this.#ranks.get(rank) ?? {
      index: new SpanIndex(),
      outer: new SpanIndex(),
      loaded: new Set<string>(),
    }
    this.#ranks.set(rank, entry)
    return entry
  }
}
