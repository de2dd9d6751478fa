import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { z } from 'zod'
import type { StepTimes } from '../../app/compare/times.ts'
import type { RankTable } from '../../app/pages/rank-table.ts'
import { type RecordedCells, tableOfRun } from '../../app/pages/run-table.ts'
import {
  type RunInfo,
  type StoreMethod,
  type StoreParams,
  type StoreResult,
  storeMethods,
} from '../../app/protocol/store.ts'
import { MAX_DCP_SIZE } from '../../app/run/config.ts'
import { contextLens } from '../../app/run/engine-config.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import type { Provenance, Stage } from '../../app/trace/stages.ts'
import { TABLE_NAMES, type TableName } from '../../app/trace/tables.ts'
import { checkPart, hasReference, listCaptures, listParts, type Part } from './bundle-files.ts'
import { captureLse, captureShape, mergeRow } from './captures.ts'
import { type CellBlock, cellBlock, cellsAt, pagesByColumn } from './cell-block.ts'
import { stageSources, stepTimes, wallSources } from './compare-queries.ts'
import type { CompareMethod } from './compare-shelf.ts'
import { naming } from './damaged-part.ts'
import { interruptible, withConnection } from './duck.ts'
import type { DumpMethod } from './dump-shelf.ts'
import { eventMarks } from './event-marks.ts'
import { eventDensity, eventGroups, eventRows } from './event-queries.ts'
import { find } from './find.ts'
import { causeOfRun, type WasMerged } from './first-cause.ts'
import { KernelLoader } from './kernel-loader.ts'
import { Latest } from './latest.ts'
import { readNotes, writeNote } from './notes-file.ts'
import type { PageMethod } from './page-shelf.ts'
import { PartSteps } from './part-steps.ts'
import { PartTotals } from './part-totals.ts'
import { StoreProblem } from './problem.ts'
import { type RowBlock, rowBlock, rowsAt } from './row-block.ts'
import { SpanLoader } from './span-loader.ts'
import { spanStats } from './span-stats.ts'
import { runQuery } from './sql-query.ts'
import { blockOf, MOST_OPEN_ROWS, OPEN_BLOCKS, type StepRange } from './step-blocks.ts'
import { collective, longestStep, stepPath } from './step-spans.ts'
import { StepTable } from './step-table.ts'
import { events, kernelAt, points, spanStartingAt, stages } from './table-queries.ts'
import { TileBuilder } from './tile-builder.ts'
import { WholeLook } from './whole-look.ts'

/** What the parameters of every method about one run have in common. */
export const runParams = z.object({ run: z.string() })

/** Methods that are about one run. */
export type RunMethod = Exclude<StoreMethod, 'listRuns' | DumpMethod | PageMethod | CompareMethod>
const EVERY_STEP: StepRange = { first: 0, last: Number.POSITIVE_INFINITY }

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
  readonly #kernels: KernelLoader
  readonly #totals: PartTotals
  readonly #steps: StepTable
  readonly #partSteps: PartSteps
  readonly #rowBlocks = new Latest<string, RowBlock>(OPEN_BLOCKS, {
    most: MOST_OPEN_ROWS,
    sizeOf: ({ step }) => step.length,
  })
  readonly #cellBlocks = new Latest<string, CellBlock>(OPEN_BLOCKS, {
    most: MOST_OPEN_ROWS,
    sizeOf: ({ before, changes }) => before.request.length + changes.request.length,
  })
  readonly #stages: WholeLook<StoreResult<'stages'>>
  #ranks: number | undefined

  /** `manifest` gives the manifest as it is now; `duck` knows the enumerations of table-sql.ts. */
  constructor(id: string, folder: string, duck: DuckDBInstance, manifest: () => Manifest) {
    this.id = id
    this.folder = folder
    this.#duck = duck
    this.#manifest = manifest
    this.#spans = new SpanLoader(folder, duck)
    this.#kernels = new KernelLoader(folder, duck)
    this.#totals = new PartTotals(folder, duck)
    this.#steps = new StepTable(folder, duck)
    this.#partSteps = new PartSteps(folder, duck)
    this.#stages = new WholeLook(() => withConnection(duck, (c) => stages(c, folder)))
  }

  /** Refuses a bundle with a part that is not a whole file. */
  checkParts(): void {
    for (const table of TABLE_NAMES) for (const part of listParts(this.folder, table)) checkPart(part.path)
  }

  /** An error of a method, with the name of the part that caused it where one did. */
  explained(error: unknown): Promise<unknown> {
    return naming(error, this.folder, this.#duck)
  }

  get manifest(): Manifest {
    return this.#manifest()
  }

  readonly methods: Methods = {
    runInfo: () => this.#info(),
    spanTile: (params) => this.#tile(params),
    spanAt: (params) => this.#spanAt(params),
    kernelAt: (params) => withConnection(this.#duck, (c) => kernelAt(c, this.folder, params)),
    steps: (params) => this.#steps.thinned(params),
    stages: async () =>
      this.#stages.answer({
        version: `${listParts(this.folder, 'spans').length} ${listParts(this.folder, 'steps').length}`,
        growing: this.#manifest().status === 'running',
      }),
    spanStats: (params, signal) => this.#asked(signal, (c) => spanStats(c, this.folder, params)),
    stepPath: async (params, signal) => {
      const parts = {
        spans: await this.#ofStep('spans', params),
        kernels: await this.#ofStep('kernels', params),
      }
      return this.#asked(signal, (c) => stepPath(c, parts, params))
    },
    longestStep: () => withConnection(this.#duck, (c) => longestStep(c, this.folder)),
    collective: async (params, signal) => {
      const parts = await this.#ofStep('spans', params)
      return this.#asked(signal, (c) => collective(c, parts, params))
    },
    eventMarks: (params, signal) => this.#asked(signal, (c) => eventMarks(c, this.folder, params)),
    notes: async () => [...readNotes(this.folder)],
    writeNote: async ({ note }) => [...writeNote(this.folder, note)],
    blockTable: async ({ step, request }, signal) =>
      pagesByColumn(await this.#cells(step, { rank: null, request }, signal)),
    rows: async ({ step, layer }, signal) => {
      const { parts, steps } = await this.#partSteps.holding('rows', step)
      const { requests, qLen, ranks } = this.#call()
      const { first, last } = blockOf(step, steps, requests * qLen * ranks)
      const key = [layer, first, last, ...parts.map(({ path }) => path)].join('\n')
      const read = (unwanted: AbortSignal): Promise<RowBlock> =>
        this.#asked(unwanted, (c) => rowBlock(c, parts, { first, last }, layer))
      return rowsAt(await this.#rowBlocks.of(key, read, signal), step)
    },
    events: (params) => withConnection(this.#duck, (c) => events(c, this.folder, params)),
    find: (params, signal) => withConnection(this.#duck, (c) => find(c, this.folder, params, signal)),
    eventGroups: (params, signal) => this.#asked(signal, (c) => eventGroups(c, this.folder, params)),
    eventRows: (params, signal) =>
      this.#asked(signal, (c) => eventRows(c, this.folder, params, this.#qLen())),
    eventDensity: (params, signal) => this.#asked(signal, (c) => eventDensity(c, this.folder, params)),
    firstCause: ({ buckets }, signal) =>
      this.#asked(signal, (connection) =>
        causeOfRun({
          connection,
          bundle: this.folder,
          qLen: this.#qLen(),
          buckets,
          wasMerged: this.#wasMerged,
        }),
      ),
    capture: async (params) => {
      const stats = await this.methods.rows(params)
      return captureShape(this.folder, this.#manifest().config, params, stats)
    },
    captureLse: (params) => captureLse(this.folder, this.#manifest().config, params),
    mergeRow: (params) => mergeRow(this.folder, this.#manifest().config, params),
    points: (params) => withConnection(this.#duck, (c) => points(c, this.folder, params)),
    query: (params, signal) => runQuery(this.folder, params, signal),
  }

  /** Work that ends when nobody waits for it any more. */
  #asked<T>(signal: AbortSignal | undefined, work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
    return withConnection(this.#duck, (connection) =>
      interruptible(connection, signal, () => work(connection)),
    )
  }

  #ofStep(table: TableName, { step }: { readonly step: number }): Promise<Part[]> {
    return this.#partSteps.between(table, step, step)
  }

  #qLen(): number {
    return this.#manifest().config.workload.qLen
  }

  /** Of what was captured; one head tells, as rows are made neutral whole. */
  readonly #wasMerged: WasMerged = async ({ step, layer, rank, request, qIndex }) => {
    const whole = hasReference(this.folder, { step, layer })
    if (!whole || !listCaptures(this.folder).some((ref) => ref.step === step && ref.layer === layer))
      return null
    const row = request * this.#qLen() + qIndex
    const { lse, out } = await mergeRow(this.folder, this.#manifest().config, { step, layer, row, head: 0 })
    const width = out.length / lse.length
    const values = out.subarray(rank * width, (rank + 1) * width)
    return lse[rank] !== Number.NEGATIVE_INFINITY || values.some((value) => value !== 0)
  }

  /** The block table of a rank at a step, from what is on disk now. */
  async recordedTable(step: number, rank: number): Promise<RankTable> {
    const cells = await this.#cells(step, { rank, request: null })
    return tableOfRun(this.#manifest().config, rank, step, cells)
  }

  /** What the rows of a call are counted by. */
  #call(): { readonly requests: number; readonly qLen: number; readonly ranks: number } {
    const { config } = this.#manifest()
    return {
      requests: contextLens(config).length,
      qLen: config.workload.qLen,
      ranks: config.parallel.dcpSize,
    }
  }

  /**
   * What block tables said at a step, of one request or of all: of one rank, or where it does not matter of the first, since a
   * request has the same pages on all of them.
   */
  async #cells(
    step: number,
    { rank, request }: { readonly rank: number | null; readonly request: number | null },
    signal?: AbortSignal,
  ): Promise<RecordedCells> {
    const { requests, qLen, ranks } = this.#call()
    const of = async (steps: StepRange): Promise<CellBlock> => {
      const all = await this.#partSteps.between('pages', 0, steps.last)
      const told = rank ?? Math.min(...all.map((part) => part.rank))
      const parts = all.filter((part) => part.rank === told)
      const key = [told, request, steps.first, steps.last, parts.length].join(' ')
      const read = (unwanted: AbortSignal): Promise<CellBlock> =>
        this.#asked(unwanted, (c) => cellBlock(c, parts, steps, request))
      return this.#cellBlocks.of(key, read, signal)
    }
    // A new token fills a slot of one rank, whose cell is recorded again.
    const rowsPerStep = ((request === null ? requests : 1) * qLen) / ranks
    const about = blockOf(step, EVERY_STEP, rowsPerStep)
    const block = await of(about).catch((error: unknown) => {
      if (signal?.aborted === true || about.first === about.last) throw error
      // A part of later steps may be damaged.
      return of({ first: step, last: step })
    })
    return cellsAt(block, step)
  }

  /** What the run spent its time on, step by step. */
  stepTimes(signal?: AbortSignal): Promise<StepTimes> {
    const { config } = this.#manifest()
    return this.#asked(signal, (c) => stepTimes(c, { folder: this.folder, config }))
  }

  /** Where the times of whole steps and of each stage come from. */
  async timeSources(signal?: AbortSignal): Promise<{
    readonly step: readonly Provenance[]
    readonly stages: ReadonlyMap<Stage, readonly Provenance[]>
  }> {
    return this.#asked(signal, async (c) => ({
      step: await wallSources(c, this.folder),
      stages: await stageSources(c, this.folder),
    }))
  }

  async #info(): Promise<RunInfo> {
    const manifest = this.#manifest()
    const totals = await this.#totals.now()
    const steps = await this.#steps.count()
    const captures = listCaptures(this.folder)
    return {
      id: this.id,
      manifest,
      steps,
      ranks: Math.min(manifest.config.parallel.dcpSize, MAX_DCP_SIZE),
      ...totals,
      // While the run goes on, one that is still being written is not listed: whoever opens it wants it whole.
      captures:
        manifest.status === 'running'
          ? captures.filter((ref) => ref.step < steps && hasReference(this.folder, ref))
          : captures,
    }
  }

  #isRank(rank: number): boolean {
    this.#ranks ??= this.#manifest().config.parallel.dcpSize
    return rank >= 0 && rank < this.#ranks
  }

  async #tile({ ranks, startNs, endNs, buckets }: Params<'spanTile'>): Promise<StoreResult<'spanTile'>> {
    const wanted = [...new Set(ranks)].filter((rank) => this.#isRank(rank)).sort((a, b) => a - b)
    const [items, outer] = [new TileBuilder(), new TileBuilder()]
    for (const spans of endNs <= startNs ? [] : await this.#spans.load(wanted)) {
      items.rank = spans.rank
      outer.rank = spans.rank
      spans.index.tile(startNs, endNs, buckets, items)
      spans.outer.tile(startNs, endNs, buckets, outer)
    }
    const kernels = await this.#kernels.tile(wanted, startNs, endNs, buckets)
    return { startNs, endNs, ...items.build(), outer: outer.build(), ...kernels }
  }

  async #spanAt({ rank, atNs, beside }: Params<'spanAt'>): Promise<StoreResult<'spanAt'>> {
    if (!this.#isRank(rank)) return null
    const [loaded] = await this.#spans.load([rank])
    const start = beside === undefined ? loaded?.index.startAt(atNs) : loaded?.index.startBeside(atNs, beside)
    if (start === undefined) return null
    return withConnection(this.#duck, (c) => spanStartingAt(c, this.folder, rank, start))
  }
}

/** Parameters of a method; a StoreProblem names the method, the field and the rule. */
export const parsedParams = <T>(method: StoreMethod, schema: z.ZodType<T>, given: unknown): T => {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new StoreProblem(`${method}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not valid'}`)
}

/** Answers `method`; `params` are parsed here, which also tells their type. */
export const answerRun = (
  bundle: RunBundle,
  method: RunMethod,
  params: unknown,
  signal?: AbortSignal,
): Promise<StoreResult<RunMethod>> => {
  const answer = async <M extends RunMethod>(name: M, schema: z.ZodType<Params<M>>) => {
    const parsed = parsedParams(name, schema, params)
    try {
      return await bundle.methods[name](parsed, signal)
    } catch (error) {
      throw await bundle.explained(error)
    }
  }
  switch (method) {
    case 'runInfo':
      return answer(method, storeMethods.runInfo.params)
    case 'spanTile':
      return answer(method, storeMethods.spanTile.params)
    case 'spanAt':
      return answer(method, storeMethods.spanAt.params)
    case 'kernelAt':
      return answer(method, storeMethods.kernelAt.params)
    case 'steps':
      return answer(method, storeMethods.steps.params)
    case 'stages':
      return answer(method, storeMethods.stages.params)
    case 'spanStats':
      return answer(method, storeMethods.spanStats.params)
    case 'stepPath':
      return answer(method, storeMethods.stepPath.params)
    case 'longestStep':
      return answer(method, storeMethods.longestStep.params)
    case 'collective':
      return answer(method, storeMethods.collective.params)
    case 'eventMarks':
      return answer(method, storeMethods.eventMarks.params)
    case 'notes':
      return answer(method, storeMethods.notes.params)
    case 'writeNote':
      return answer(method, storeMethods.writeNote.params)
    case 'blockTable':
      return answer(method, storeMethods.blockTable.params)
    case 'rows':
      return answer(method, storeMethods.rows.params)
    case 'events':
      return answer(method, storeMethods.events.params)
    case 'find':
      return answer(method, storeMethods.find.params)
    case 'capture':
      return answer(method, storeMethods.capture.params)
    case 'captureLse':
      return answer(method, storeMethods.captureLse.params)
    case 'mergeRow':
      return answer(method, storeMethods.mergeRow.params)
    case 'eventGroups':
      return answer(method, storeMethods.eventGroups.params)
    case 'eventRows':
      return answer(method, storeMethods.eventRows.params)
    case 'eventDensity':
      return answer(method, storeMethods.eventDensity.params)
    case 'firstCause':
      return answer(method, storeMethods.firstCause.params)
    case 'points':
      return answer(method, storeMethods.points.params)
    case 'query':
      return answer(method, storeMethods.query.params)
  }
}
