import { pageChecks, rightSlot } from '../../app/pages/checks.ts'
import { type BesideDump, tableOfDump } from '../../app/pages/dump-table.ts'
import { PageTable } from '../../app/pages/page-table.ts'
import { pagingOf } from '../../app/pages/rank-table.ts'
import { poolPagesOfRun } from '../../app/pages/run-table.ts'
import { poolMarks, tableMarks } from '../../app/pages/windows.ts'
import {
  MAX_PAGE_MARKS,
  MAX_PAGE_USERS,
  type PageSource,
  type StoreMethod,
  type StoreParams,
  type StoreResult,
  storeMethods,
} from '../../app/protocol/store.ts'
import { isDraftLayer } from '../../app/run/branch.ts'
import { listParts } from './bundle-files.ts'
import type { DumpShelf } from './dump-shelf.ts'
import { Latest } from './latest.ts'
import { StoreProblem } from './problem.ts'
import { parsedParams, type RunBundle } from './run-bundle.ts'

/** Methods that are about the block table of a rank, of a run or of a dump. */
export const PAGE_METHODS = [
  'pageSummary',
  'pageCells',
  'poolMarks',
  'pageUsers',
] as const satisfies readonly StoreMethod[]
export type PageMethod = (typeof PAGE_METHODS)[number]

export const isPageMethod = (method: StoreMethod): method is PageMethod =>
  PAGE_METHODS.some((name) => name === method)

type Recorded = Extract<PageSource, { run: string }>
type Dumped = Exclude<PageSource, Recorded>

/** Block tables that stay in memory: those of a step that is looked at and of the one before. */
const OPEN_TABLES = 4

/** Answers questions about block tables and pools. Rejects with one sentence. */
export class PageShelf {
  /** Undefined where there is no such run. */
  readonly #bundle: (run: string) => Promise<RunBundle | undefined>
  readonly #dumps: DumpShelf
  readonly #recorded = new Latest<string, PageTable>(OPEN_TABLES)
  /** By the tables that a dump shelf keeps, since files may be read anew. */
  readonly #dumped = new WeakMap<object, Map<number, Promise<PageTable>>>()

  constructor(bundle: (run: string) => Promise<RunBundle | undefined>, dumps: DumpShelf) {
    this.#bundle = bundle
    this.#dumps = dumps
  }

  async answer(method: PageMethod, params: unknown, aborted: () => void): Promise<StoreResult<PageMethod>> {
    const pagesOf = async (source: PageSource): Promise<PageTable> => {
      const pages = await this.#pages(source)
      aborted()
      return pages
    }
    switch (method) {
      case 'pageSummary': {
        const { source } = parsedParams(method, storeMethods.pageSummary.params, params)
        return summaryOf(await pagesOf(source))
      }
      case 'pageCells': {
        const { source, ...window } = parsedParams(method, storeMethods.pageCells.params, params)
        return cellsOf(await pagesOf(source), window)
      }
      case 'poolMarks': {
        const { source, ...window } = parsedParams(method, storeMethods.poolMarks.params, params)
        return poolMarks(await pagesOf(source), window)
      }
      case 'pageUsers': {
        const { source, page } = parsedParams(method, storeMethods.pageUsers.params, params)
        const users = (await pagesOf(source)).usersOf(page)
        return { users: users.slice(0, MAX_PAGE_USERS), more: Math.max(0, users.length - MAX_PAGE_USERS) }
      }
    }
  }

  #pages(source: PageSource): Promise<PageTable> {
    return 'run' in source ? this.#ofRun(source) : this.#ofDump(source)
  }

  async #ofRun({ run, step, rank }: Recorded): Promise<PageTable> {
    const bundle = await this.#bundle(run)
    if (bundle === undefined) throw new StoreProblem('no such run')
    const { dcpSize } = bundle.manifest.config.parallel
    if (rank >= dcpSize) throw new StoreProblem(`the run has no rank ${rank}, it has ${dcpSize}`)
    // While the run goes on, parts are added.
    const parts = listParts(bundle.folder, 'pages').filter((part) => part.rank === rank).length
    return this.#recorded.of(`${run} ${step} ${rank} ${parts}`, async () => {
      try {
        return new PageTable(await bundle.recordedTable(step, rank))
      } catch (error) {
        throw await bundle.explained(error)
      }
    })
  }

  async #ofDump({ rank, ...ref }: Dumped): Promise<PageTable> {
    const tables = await this.#dumps.tables(ref)
    const ofRanks = this.#dumped.get(tables) ?? new Map<number, Promise<PageTable>>()
    this.#dumped.set(tables, ofRanks)
    const known = ofRanks.get(rank)
    if (known !== undefined) return known
    const made = this.#madeOfDump(tables, { rank, ...ref })
    ofRanks.set(rank, made)
    made.catch(() => ofRanks.delete(rank))
    return made
  }

  /** Of what a run captured the run itself knows the pool, and when pages were taken. */
  async #madeOfDump(
    tables: Parameters<typeof tableOfDump>[0],
    { dump, step, layer, rank }: Dumped,
  ): Promise<PageTable> {
    const bundle = await this.#bundle(dump)
    const beside =
      bundle === undefined ? null : await this.#besideCapture(bundle, { dump, step, layer, rank })
    const found = tableOfDump(tables, rank, beside)
    if ('lacks' in found) throw new StoreProblem(found.lacks)
    return new PageTable(found.table)
  }

  /** Runs do not record when the pages of a draft were taken, which has a pool of its own. */
  async #besideCapture(
    { manifest: { config } }: RunBundle,
    { dump, step, layer, rank }: Dumped,
  ): Promise<BesideDump> {
    const poolPages = poolPagesOfRun(config)
    if (isDraftLayer(config, layer)) return { poolPages, takenOf: () => -1 }
    return { poolPages, takenOf: takenIn(await this.#ofRun({ run: dump, step, rank })) }
  }
}

/** Step at which a page was taken, -1 unknown. */
const takenIn =
  (pages: PageTable) =>
  (page: number): number => {
    const [user] = pages.usersOf(page)
    return user === undefined ? -1 : pages.takenAt(user.request, user.column)
  }

const summaryOf = (pages: PageTable): StoreResult<'pageSummary'> => {
  const { table, widest, extent } = pages
  let [usedPages, last] = [0, -1]
  let [first, latest] = [Number.POSITIVE_INFINITY, -1]
  pages.eachUser(0, Number.POSITIVE_INFINITY, (page, request, column) => {
    if (page !== last) usedPages++
    last = page
    const taken = pages.takenAt(request, column)
    if (taken < 0) return
    first = Math.min(first, taken)
    latest = Math.max(latest, taken)
  })
  return {
    requests: table.requests,
    batch: table.batch,
    page: table.page,
    ...table.sharding,
    prompts: table.prompts === null ? null : Float64Array.from(table.prompts),
    columns: table.width,
    widest,
    poolPages: table.poolPages,
    extent,
    usedPages,
    taken: latest < 0 ? null : [first, latest],
    checks: pageChecks(pages),
  }
}

type CellWindow = Omit<StoreParams<'pageCells'>, 'source'>

const cellsOf = (pages: PageTable, window: CellWindow): StoreResult<'pageCells'> => {
  const requests = Math.max(0, Math.min(window.requests, pages.table.requests - window.requestFrom))
  const { marks } = window
  if (requests * marks > MAX_PAGE_MARKS)
    throw new StoreProblem(
      `pageCells: at most ${MAX_PAGE_MARKS} marks, asked for ${requests} rows of ${marks}`,
    )
  const { table } = pages
  const numbers = Array.from({ length: requests }, (_, row) => window.requestFrom + row)
  const newest = newestOf(pages)
  return {
    requests,
    marks,
    ...tableMarks(pages, { ...window, requests }),
    globalLen: Float64Array.from(numbers, (request) => table.globalLens?.[request] ?? Number.NaN),
    localLen: Float64Array.from(numbers, (request) => pages.localLength(request) ?? Number.NaN),
    columns: Int32Array.from(numbers, (request) => pages.columnsOf(request)),
    held: Int32Array.from(numbers, (request) => pages.heldColumns(request) ?? -1),
    newest: Float64Array.from(numbers, (request) => newest.get(request)?.token ?? -1),
    newestSlot: Float64Array.from(numbers, (request) => {
      const token = newest.get(request)?.token
      const paging = pagingOf(table, request)
      return paging === null || token === undefined
        ? Number.NaN
        : (rightSlot(pages, request, token, paging) ?? Number.NaN)
    }),
    writtenSlot: Float64Array.from(numbers, (request) => newest.get(request)?.written ?? Number.NaN),
  }
}

/** The last token of each request, and where it was written; without query rows its length says which that is. */
const newestOf = ({ table }: PageTable): Map<number, { token: number; written: number | undefined }> => {
  const newest = new Map<number, { token: number; written: number | undefined }>()
  for (let request = 0; request < table.batch; request++) {
    const length = table.globalLens?.[request] ?? 0
    if (length > 0) newest.set(request, { token: length - 1, written: undefined })
  }
  const { newTokens, slots } = table
  for (let row = 0; row < (newTokens?.token.length ?? 0); row++) {
    const token = newTokens?.token[row] ?? -1
    if (token >= 0) newest.set(newTokens?.request[row] ?? -1, { token, written: slots?.[row] })
  }
  return newest
}
