import { localIndex, localLength, owner } from '../dcp/ownership.ts'
import type { Paging, Sharding } from '../dcp/types.ts'
import { pageSizeOf } from '../dump/content.ts'
import type { Dump, DumpGroup } from '../dump/dumps.ts'
import { mostCommon } from '../dump/majority.ts'
import type { LseBase } from '../lse/base.ts'

/** An integer table of one rank, row major. */
export interface Table {
  readonly rows: number
  readonly columns: number
  readonly values: Float64Array
}

/** Small tensors of one rank, read as a whole; absent where the dump has none. */
export interface RankTables {
  readonly rank: number
  readonly dump: Dump
  /** Global and local lengths handed to the kernel, [B] tokens. */
  readonly global: Float64Array | undefined
  readonly local: Float64Array | undefined
  /** Page table, [B, columns]. */
  readonly table: Table | undefined
  /** [T]. */
  readonly slots: Float64Array | undefined
  /** [T, K] each. */
  readonly topk: Table | undefined
  readonly topkLocal: Table | undefined
  readonly topkSlots: Table | undefined
  /** [T * H]. */
  readonly lse: Float64Array | undefined
  readonly lseKernel: Float64Array | undefined
  /** Pages whose keys are dumped; undefined without keys. */
  readonly dumpedPages: ReadonlySet<number> | undefined
  /** What its merge takes the lse for, as the dump says. */
  readonly lseBase: LseBase | undefined
}

/** What every rank of a case shares. */
export interface CaseShape {
  readonly step: number
  readonly layer: number
  readonly dcp: number
  readonly interleave: number
  /** Tokens of each prompt where generated tokens are dealt out anew behind it, [B]. */
  readonly prompts: Float64Array | undefined
  /** Tokens of a page; undefined where nothing says it. */
  readonly page: number | undefined
  /** Query rows (T), heads of the group (H), values of a partial (W), of a key (D), requests (B); 0 where unknown. */
  readonly rows: number
  readonly heads: number
  readonly width: number
  readonly keyWidth: number
  readonly requests: number
  readonly qLen: number
  readonly kvHeads: number
  readonly scale: number | undefined
  readonly comm: 'ag_rs' | 'a2a' | 'p2p' | undefined
  readonly maxLen: number | undefined
  readonly graph: boolean
}

/** One step and layer: its tables, and which query row is whose. Whatever is not there is undefined. */
export interface Case extends CaseShape {
  readonly group: DumpGroup
  readonly ranks: readonly RankTables[]
  readonly byRank: ReadonlyMap<number, RankTables>
  /** Global lengths that most ranks have, [B]; undefined where no rank has any. */
  readonly lengths: Float64Array | undefined
  /** Requests of the batch itself: those behind them only pad it. */
  readonly batch: number
  /** Request of each row and its place among the request's rows, [T]; -1 for rows that only pad. */
  readonly requestOf: Int32Array
  readonly queryIndex: Int32Array
  /** Query rows of each request, [B]. */
  readonly queriesOf: Int32Array
}

/** Reads the tables of a group; `aborted` may throw between two files. */
export const loadCase = async (group: DumpGroup, aborted: () => void = () => {}): Promise<Case> => {
  const ranks: RankTables[] = []
  for (const [rank, dump] of group.ranks) {
    aborted()
    ranks.push(await rankTables(rank, dump))
    await dump.reader.close()
  }
  const shape = { ...shapeOf(group), prompts: await first(group, 'prompt_lens') }
  const starts = await first(group, 'query_start')
  const owners = rowOwners(shape, starts)
  const lengths = globalLengths(shape, ranks, owners)
  return {
    ...shape,
    group,
    ranks,
    byRank: new Map(ranks.map((tables) => [tables.rank, tables])),
    lengths,
    batch: batchOf(shape, ranks, owners, lengths),
    ...owners,
  }
}

const rankTables = async (rank: number, dump: Dump): Promise<RankTables> => {
  const { reader } = dump
  const values = async (name: string): Promise<Float64Array | undefined> =>
    reader.has(name) ? await reader.values(name) : undefined
  const table = async (name: string): Promise<Table | undefined> => {
    if (!reader.has(name)) return undefined
    const [rows = 0, columns = 0] = reader.tensor(name).shape
    return { rows, columns, values: await reader.values(name) }
  }
  return {
    rank,
    dump,
    global: await values('seq_lens_global'),
    local: await values('seq_lens_local'),
    table: await table('block_table'),
    slots: await values('slot_mapping'),
    topk: await table('topk'),
    topkLocal: await table('topk_local'),
    topkSlots: await table('topk_slots'),
    lse: await values('lse'),
    lseKernel: await values('lse_kernel'),
    dumpedPages: await dumpedPages(dump),
    lseBase: dump.info.lseBase,
  }
}

const dumpedPages = async ({ reader }: Dump): Promise<Set<number> | undefined> => {
  const name = ['kv', 'kv_k'].find((one) => reader.has(one))
  if (name === undefined) return undefined
  const [pages = 0] = reader.tensor(name).shape
  return new Set(reader.has('page_ids') ? await reader.values('page_ids') : Array(pages).keys())
}

/** Sizes as the first file that knows them says; grouping has left out files that contradict each other. */
const shapeOf = (group: DumpGroup): Omit<CaseShape, 'prompts'> => {
  const dumps = [...group.ranks.values()]
  const first = <V>(value: (dump: Dump) => V | undefined): V | undefined => {
    for (const dump of dumps) {
      const found = value(dump)
      if (found !== undefined) return found
    }
    return undefined
  }
  const dim = (place: number, ...names: string[]): number | undefined =>
    first(({ reader }) => {
      const name = names.find((one) => reader.has(one))
      return name === undefined ? undefined : reader.tensor(name).shape[place]
    })
  const width =
    first(({ info }) => info.kvLoraRank ?? info.headDim) ?? dim(2, 'out', 'out_kernel', 'merged') ?? 0
  const isLatent = dumps.some(({ info, reader }) => info.kvLoraRank !== undefined || reader.has('kv'))
  return {
    step: group.step,
    layer: group.layer,
    dcp: group.dcpSize,
    interleave: mostCommon(dumps, ({ info }) => info.interleave) ?? 1,
    page: mostCommon(dumps, ({ reader, info }) => pageSizeOf(reader, info)),
    rows: dim(0, 'q', 'out', 'lse', 'out_kernel', 'lse_kernel', 'merged', 'slot_mapping', 'topk') ?? 0,
    heads: first(({ info }) => info.numHeads) ?? dim(1, 'q', 'out', 'lse', 'out_kernel', 'lse_kernel') ?? 0,
    width,
    keyWidth: dim(2, 'q') ?? 0,
    requests: dim(0, 'seq_lens_global', 'seq_lens_local', 'block_table') ?? 0,
    qLen: mostCommon(dumps, ({ info }) => info.qLen) ?? 1,
    // Latent keys are those of all heads, whatever the model's own files say of KV heads.
    kvHeads: isLatent ? 1 : (dim(2, 'kv_k', 'kv_v') ?? first(({ info }) => info.numKvHeads) ?? 1),
    scale: mostCommon(dumps, ({ info }) => info.softmaxScale),
    comm: mostCommon(dumps, ({ info }) => info.comm),
    maxLen: first(({ info }) => info.maxLen),
    graph: dumps.some(({ info }) => info.graph),
  }
}

/** A small tensor that all ranks share, of the first that has it. */
const first = async (group: DumpGroup, name: string): Promise<Float64Array | undefined> => {
  for (const { reader } of group.ranks.values())
    if (reader.has(name)) {
      const values = await reader.values(name)
      await reader.close()
      return values
    }
  return undefined
}

/** How the tokens of a request are dealt out. */
export const dealOf = (
  { dcp, interleave, prompts }: Pick<CaseShape, 'dcp' | 'interleave' | 'prompts'>,
  request: number,
): Sharding => ({ dcp, interleave, prompt: prompts?.[request] })

/** Columns that a request of `length` tokens needs in the block table, in pages of `page` tokens. */
export const columnsOf = (
  shape: Pick<CaseShape, 'dcp' | 'interleave' | 'prompts'>,
  page: number,
  length: number,
  request: number,
): number => Math.ceil(localLength(length, 0, dealOf(shape, request)) / page)

const rowOwners = (
  { rows, requests, qLen }: CaseShape,
  starts: Float64Array | undefined,
): Pick<Case, 'requestOf' | 'queryIndex' | 'queriesOf'> => {
  const requestOf = new Int32Array(rows).fill(-1)
  const queryIndex = new Int32Array(rows)
  const count = starts === undefined ? Math.max(requests, Math.ceil(rows / qLen)) : starts.length - 1
  const queriesOf = new Int32Array(count)
  for (let request = 0; request < count; request++) {
    const from = starts?.[request] ?? request * qLen
    const to = Math.min(rows, starts?.[request + 1] ?? from + qLen)
    queriesOf[request] = to - from
    for (let row = from; row < to; row++) {
      requestOf[row] = request
      queryIndex[row] = row - from
    }
  }
  return { requestOf, queryIndex, queriesOf }
}

type Owners = Pick<Case, 'requestOf' | 'queryIndex' | 'queriesOf'>

/**
 * Global lengths: those that most ranks have, of equally many those that fit slots of new tokens and local lengths better. Or what
 * the ranks have together, where each has its own part for the whole (local lengths taken for global ones) and slots say so.
 */
const globalLengths = (
  shape: CaseShape,
  ranks: readonly RankTables[],
  owners: Owners,
): Float64Array | undefined => {
  const told = distinctRows(ranks.map(({ global }) => global))
  if (told.length === 0) return summedLengths(shape, ranks, owners)
  const most = Math.max(0, ...told.map(({ count }) => count))
  const [common] = told
    .filter(({ count }) => count === most)
    .map(({ row }) => ({
      row,
      errors: slotErrors(shape, ranks, owners, row) + lengthErrors(shape, ranks, row),
      tokens: row.reduce((sum, length) => sum + length, 0),
    }))
    .sort((a, b) => a.errors - b.errors || b.tokens - a.tokens)
    .map(({ row }) => row)
  if (common === undefined || shape.dcp === 1) return common
  // Ranks no two of which say the same, and not all are there to add them up.
  if (ranks.length < shape.dcp) return most === 1 && told.length > 1 ? undefined : common
  const sums = common.map((_, request) =>
    ranks.reduce((sum, { global }) => sum + (global?.[request] ?? 0), 0),
  )
  const isPart = ranks.every(({ rank, global }) =>
    global?.every(
      (length, request) => length === localLength(sums[request] ?? 0, rank, dealOf(shape, request)),
    ),
  )
  if (!isPart) return common
  const { page } = shape
  const needed =
    page === undefined
      ? 0
      : Math.max(0, ...sums.map((length, request) => columnsOf(shape, page, length, request)))
  const slotsSay =
    ranks.every(({ table }) => table === undefined || table.columns >= needed) &&
    slotErrors(shape, ranks, owners, sums) === 0 &&
    slotErrors(shape, ranks, owners, common) > 0
  return told.length > 1 || slotsSay ? sums : common
}

/**
 * Global lengths that are not dumped, from the local ones of all ranks, where these are parts of them by the rule and new tokens
 * were written as they say.
 */
const summedLengths = (
  shape: CaseShape,
  ranks: readonly RankTables[],
  owners: Owners,
): Float64Array | undefined => {
  const [first] = ranks
  if (first?.local === undefined || ranks.length < shape.dcp) return undefined
  if (ranks.some(({ slots }) => slots === undefined)) return undefined
  const sums = first.local.map((_, request) =>
    ranks.reduce((sum, { local }) => sum + (local?.[request] ?? Number.NaN), 0),
  )
  if (!sums.every(Number.isFinite)) return undefined
  return lengthErrors(shape, ranks, sums) + slotErrors(shape, ranks, owners, sums) === 0 ? sums : undefined
}

/** Local lengths that global ones do not lead to. */
const lengthErrors = (shape: CaseShape, ranks: readonly RankTables[], lengths: Float64Array): number =>
  ranks.reduce(
    (sum, { rank, local }) =>
      sum +
      (local?.filter(
        (length, request) => length !== localLength(lengths[request] ?? 0, rank, dealOf(shape, request)),
      ).length ?? 0),
    0,
  )

/** Rows whose new token was written on a rank that does not hold it, not on the one that does, or at another place of a page. */
const slotErrors = (
  shape: CaseShape,
  ranks: readonly RankTables[],
  { requestOf, queryIndex, queriesOf }: Owners,
  lengths: Float64Array,
): number => {
  let errors = 0
  for (const { rank, slots } of ranks)
    slots?.forEach((slot, row) => {
      const request = requestOf[row] ?? -1
      const token = (lengths[request] ?? 0) - (queriesOf[request] ?? 1) + (queryIndex[row] ?? 0)
      if (token < 0) return
      const deal = dealOf(shape, request)
      const isOwned = owner(token, deal) === rank
      if (isOwned !== slot >= 0) errors++
      else if (
        isOwned &&
        shape.page !== undefined &&
        slot % shape.page !== localIndex(token, deal) % shape.page
      )
        errors++
    })
  return errors
}

/** Requests at the end of the batch of a graph that have no token, or one that was written nowhere, only pad it. */
const batchOf = (
  { graph, requests, rows, qLen }: CaseShape,
  ranks: readonly RankTables[],
  { requestOf }: Owners,
  lengths: Float64Array | undefined,
): number => {
  let batch = requests > 0 ? requests : Math.ceil(rows / qLen)
  if (!graph) return batch
  const slotsAreThere = ranks.every(({ slots }) => slots !== undefined)
  const localsAreThere = ranks.every(({ local }) => local !== undefined)
  if (lengths === undefined && !localsAreThere && !slotsAreThere) return batch
  const lengthOf = (request: number): number =>
    lengths?.[request] ?? Math.max(0, ...ranks.map(({ local }) => local?.[request] ?? 0))
  const isWritten = (request: number): boolean =>
    ranks.some(({ slots }) => slots?.some((slot, row) => requestOf[row] === request && slot >= 0) === true)
  while (batch > 0 && lengthOf(batch - 1) <= 1 && !isWritten(batch - 1)) batch--
  return batch
}

/** Rows that differ, and how often there is each. */
const distinctRows = (
  rows: readonly (Float64Array | undefined)[],
): { readonly row: Float64Array; readonly count: number }[] => {
  const found = new Map<string, { row: Float64Array; count: number }>()
  for (const row of rows) {
    if (row === undefined) continue
    const key = row.join()
    found.set(key, { row, count: (found.get(key)?.count ?? 0) + 1 })
  }
  return [...found.values()]
}

/** Global positions that row `row` sees when its request is `length` tokens long, the new ones included. */
export const visibleTo = (c: Case, row: number, length: number): number => {
  const queries = c.queriesOf[c.requestOf[row] ?? -1] ?? 1
  return Math.max(0, length - (queries - 1) + (c.queryIndex[row] ?? 0))
}

/** Tokens that the ranks were told of for a request, all together where no global length says it; undefined where nothing does. */
export const toldTokens = (c: Case, request: number): number | undefined => {
  const length = c.lengths?.[request]
  if (length !== undefined || c.ranks.length < c.dcp) return length
  return c.ranks.reduce<number | undefined>((sum, { local }) => {
    const own = local?.[request]
    return sum === undefined || own === undefined ? undefined : sum + own
  }, 0)
}

/** Keys of `rank` that row `row` has to attend to, the first so many of its local ones; undefined without lengths. */
export const keysOf = (c: Case, rank: number, row: number): number | undefined => {
  const length = c.lengths?.[c.requestOf[row] ?? -1]
  if (length === undefined) return undefined
  return localLength(visibleTo(c, row, length), rank, dealOf(c, c.requestOf[row] ?? -1))
}

/** Sharding and page size; undefined where no page size is known. */
export const pagingOf = (c: Case, request: number): Paging | undefined =>
  c.page === undefined ? undefined : { ...dealOf(c, request), page: c.page }

/** Whether a row belongs to a request that has tokens; rows of padding have none. */
export const isReal = (c: Case, row: number): boolean => {
  const request = c.requestOf[row] ?? -1
  return request >= 0 && request < c.batch && (c.lengths === undefined || (c.lengths[request] ?? 0) > 0)
}

/** Sparse attention: each row chooses its keys. */
export const isSparse = (c: Case): boolean =>
  c.ranks.some(({ topk, topkLocal, topkSlots }) => (topk ?? topkLocal ?? topkSlots) !== undefined)

/** Whether every rank of the group has `name`. */
export const allHave = (c: Case, name: string): boolean =>
  c.ranks.length === c.dcp && c.ranks.every(({ dump }) => dump.reader.has(name))

/** Each rank weighs its own partial before partials are summed (ag_rs, also where no transport is named). */
export const weighsOwn = ({ comm }: Case): boolean => comm !== 'a2a' && comm !== 'p2p'
