import type { DuckDBInstance } from '@duckdb/node-api'
import { z } from 'zod'
import {
  type RunInfo,
  type StoreMethod,
  type StoreParams,
  type StoreResult,
  storeMethods,
} from '../../app/protocol/store.ts'
import { MAX_DCP_SIZE } from '../../app/run/config.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import { TABLE_NAMES } from '../../app/trace/tables.ts'
import { checkPart, listCaptures, listParts } from './bundle-files.ts'
import { captureShape, mergeRow } from './captures.ts'
import { withConnection } from './duck.ts'
import { PartTotals } from './part-totals.ts'
import { SpanLoader } from './span-loader.ts'
import { runQuery } from './sql-query.ts'
import { blockTable, events, rows, spanStartingAt, stages, stepCount, steps } from './table-queries.ts'
import { TileBuilder } from './tile-builder.ts'

/** What the parameters of every method about one run have in common. */
export const runParams = z.object({ run: z.string() })

/** Methods that are about one run. */
export type RunMethod = Exclude<StoreMethod, 'listRuns'>
type Params<M extends RunMethod> = Omit<StoreParams<M>, 'run'>
type Methods = {
  readonly [M in RunMethod]: (params: Params<M>, signal?: AbortSignal) => Promise<StoreResult<M>>
}

/** Answers questions about one bundle, which may still grow. Rejects with one sentence. */
export class RunBundle {
  readonly id: string
  readonly folder: string
  readonly #duck: DuckDBInstance
  readonly #manifest: () => Manifest
  readonly #spans: SpanLoader
  readonly #totals: PartTotals

  /** `manifest` gives the manifest as it is now; `duck` knows the enumerations of table-sql.ts. */
  constructor(id: string, folder: string, duck: DuckDBInstance, manifest: () => Manifest) {
    this.id = id
    this.folder = folder
    this.#duck = duck
    this.#manifest = manifest
    this.#spans = new SpanLoader(folder, duck)
    this.#totals = new PartTotals(folder, duck)
  }

  /** Refuses a bundle with a part that is not a whole file. */
  checkParts(): void {
    for (const table of TABLE_NAMES) for (const part of listParts(this.folder, table)) checkPart(part.path)
  }

  get manifest(): Manifest {
    return this.#manifest()
  }

  readonly methods: Methods = {
    runInfo: () => this.#info(),
    spanTile: (params) => this.#tile(params),
    spanAt: (params) => this.#spanAt(params),
    steps: (params) => withConnection(this.#duck, (c) => steps(c, this.folder, params)),
    stages: () => withConnection(this.#duck, (c) => stages(c, this.folder)),
    blockTable: (params) => withConnection(this.#duck, (c) => blockTable(c, this.folder, params)),
    rows: (params) => withConnection(this.#duck, (c) => rows(c, this.folder, params)),
    events: (params) => withConnection(this.#duck, (c) => events(c, this.folder, params)),
    capture: async (params) => {
      const stats = await this.methods.rows(params)
      return captureShape(this.folder, this.#manifest().config, params, stats)
    },
    mergeRow: (params) => mergeRow(this.folder, this.#manifest().config, params),
    query: (params, signal) => runQuery(this.folder, params, signal),
  }

  async #info(): Promise<RunInfo> {
    const manifest = this.#manifest()
    const totals = await this.#totals.now()
    return {
      id: this.id,
      manifest,
      steps: await withConnection(this.#duck, (c) => stepCount(c, this.folder)),
      ranks: Math.min(manifest.config.parallel.dcpSize, MAX_DCP_SIZE),
      ...totals,
      captures: listCaptures(this.folder),
    }
  }

  async #tile({ ranks, startNs, endNs, buckets }: Params<'spanTile'>): Promise<StoreResult<'spanTile'>> {
    const wanted = [...new Set(ranks)].sort((a, b) => a - b)
    const tile = new TileBuilder()
    for (const { rank, index } of await this.#spans.load(wanted)) {
      tile.rank = rank
      index.tile(startNs, endNs, buckets, tile)
    }
    return tile.build(startNs, endNs)
  }

  async #spanAt({ rank, atNs }: Params<'spanAt'>): Promise<StoreResult<'spanAt'>> {
    const [loaded] = await this.#spans.load([rank])
    const start = loaded?.index.startAt(atNs)
    if (start === undefined) return null
    return withConnection(this.#duck, (c) => spanStartingAt(c, this.folder, rank, start))
  }
}

/** Answers `method`; `params` are parsed here, which also tells their type. */
export const answerRun = (
  bundle: RunBundle,
  method: RunMethod,
  params: unknown,
  signal?: AbortSignal,
): Promise<StoreResult<RunMethod>> => {
  const answer = <M extends RunMethod>(name: M, parse: (given: unknown) => Params<M>) =>
    bundle.methods[name](parse(params), signal)
  switch (method) {
    case 'runInfo':
      return answer(method, (given) => storeMethods.runInfo.params.parse(given))
    case 'spanTile':
      return answer(method, (given) => storeMethods.spanTile.params.parse(given))
    case 'spanAt':
      return answer(method, (given) => storeMethods.spanAt.params.parse(given))
    case 'steps':
      return answer(method, (given) => storeMethods.steps.params.parse(given))
    case 'stages':
      return answer(method, (given) => storeMethods.stages.params.parse(given))
    case 'blockTable':
      return answer(method, (given) => storeMethods.blockTable.params.parse(given))
    case 'rows':
      return answer(method, (given) => storeMethods.rows.params.parse(given))
    case 'events':
      return answer(method, (given) => storeMethods.events.params.parse(given))
    case 'capture':
      return answer(method, (given) => storeMethods.capture.params.parse(given))
    case 'mergeRow':
      return answer(method, (given) => storeMethods.mergeRow.params.parse(given))
    case 'query':
      return answer(method, (given) => storeMethods.query.params.parse(given))
  }
}
