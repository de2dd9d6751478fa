import type { DuckDBConnection } from '@duckdb/node-api'
import type { RecordedCells } from '../../app/pages/run-table.ts'
import type { StoreParams, StoreResult } from '../../app/protocol/store.ts'
import { type PointRow, pointRowOf } from '../../app/sweep/point-rows.ts'
import { OUTER_STAGES, PROVENANCES, type Provenance, STAGES } from '../../app/trace/stages.ts'
import type { Part } from './bundle-files.ts'
import { numberOf, type PlainRow, plainRows, readColumns, sqlText, textOf } from './duck.ts'
import { countedSpans, relation, relationOf } from './sources.ts'
import type { StepRange } from './step-blocks.ts'

/** The store's methods that are one look at the Parquet parts of a bundle, all of them or those given. Units and shapes: app/protocol/store.ts. */

export const stages = async (
  connection: DuckDBConnection,
  bundle: string,
): Promise<StoreResult<'stages'>> => {
  const rows = await plainRows(
    connection,
    `SELECT stage, quantile_cont(dur_ns, 0.5) / 1e3 AS p50, quantile_cont(dur_ns, 0.95) / 1e3 AS p95,
       sum(dur_ns)::DOUBLE AS time, sum(coalesce(last_enter_ns - enter_ns, 0))::DOUBLE AS wait,
       string_agg(DISTINCT provenance::VARCHAR, ' ') AS sources
     FROM ${relation(bundle, 'spans')} WHERE ${countedSpans(bundle)} GROUP BY stage`,
  )
  const isOuter = (row: PlainRow): boolean => OUTER_STAGES.some((stage) => stage === row.stage)
  const total = rows.reduce((sum, row) => sum + (isOuter(row) ? 0 : numberOf(row, 'time')), 0)
  const share = (row: PlainRow, name: string): number =>
    total > 0 && !isOuter(row) ? numberOf(row, name) / total : 0
  return STAGES.flatMap((stage) =>
    rows
      .filter((row) => row.stage === stage)
      .map((row) => ({
        stage,
        p50Us: numberOf(row, 'p50'),
        p95Us: numberOf(row, 'p95'),
        share: share(row, 'time'),
        waitShare: share(row, 'wait'),
        sources: sourcesOf(textOf(row, 'sources')),
      })),
  )
}

/** Provenances of a list with spaces, in their order. */
export const sourcesOf = (list: string): Provenance[] => {
  const found = list.split(' ')
  return PROVENANCES.filter((provenance) => found.includes(provenance))
}

/** Cells of block tables: as they were before the first of some steps, and every change in those. */
export interface CellBlock {
  readonly before: RecordedCells
  /** Sorted by request, column and step. */
  readonly changes: Omit<RecordedCells, 'taken'> & { readonly step: Int32Array }
}

const NO_CELLS = new Int32Array()

/** Cells of the given parts, of one request or of all, at the steps of a range. */
export const cellBlock = async (
  connection: DuckDBConnection,
  parts: readonly Part[],
  { first, last }: StepRange,
  request: number | null,
): Promise<CellBlock> => {
  const from = `FROM ${relationOf('pages', parts)} WHERE ${request === null ? '' : `request = ${request} AND `}`
  const before =
    first === 0
      ? null
      : await readColumns(
          connection,
          `SELECT request::INTEGER AS request, "column"::INTEGER AS place, arg_max(page, step)::INTEGER AS page,
             arg_max(valid, step)::INTEGER AS valid, min(step)::INTEGER AS taken
           ${from} step < ${first} GROUP BY request, "column" ORDER BY request, "column"`,
        )
  const changes = await readColumns(
    connection,
    `SELECT request::INTEGER AS request, "column"::INTEGER AS place, page::INTEGER AS page, valid::INTEGER AS valid,
       step::INTEGER AS step
     ${from} step BETWEEN ${first} AND ${last} ORDER BY request, "column", step`,
  )
  return {
    before: {
      request: before?.i32('request') ?? NO_CELLS,
      column: before?.i32('place') ?? NO_CELLS,
      page: before?.i32('page') ?? NO_CELLS,
      valid: before?.i32('valid') ?? NO_CELLS,
      taken: before?.i32('taken') ?? NO_CELLS,
    },
    changes: {
      request: changes.i32('request'),
      column: changes.i32('place'),
      page: changes.i32('page'),
      valid: changes.i32('valid'),
      step: changes.i32('step'),
    },
  }
}

/** The cells as they were last recorded up to a step of the block. */
export const cellsAt = ({ before, changes }: CellBlock, step: number): RecordedCells => {
  const most = before.request.length + changes.request.length
  const cells: RecordedCells = {
    request: new Int32Array(most),
    column: new Int32Array(most),
    page: new Int32Array(most),
    valid: new Int32Array(most),
    taken: new Int32Array(most),
  }
  let count = 0
  const isLast = (request: number, column: number): boolean =>
    count > 0 && cells.request[count - 1] === request && cells.column[count - 1] === column
  /** Puts a cell at the end, over the same one. */
  const put = (from: Omit<RecordedCells, 'taken'>, at: number, taken: number): void => {
    const [request = 0, column = 0] = [from.request[at], from.column[at]]
    if (!isLast(request, column)) {
      cells.request[count] = request
      cells.column[count] = column
      cells.taken[count] = taken
      count++
    }
    cells.page[count - 1] = from.page[at] ?? -1
    cells.valid[count - 1] = from.valid[at] ?? 0
  }
  let old = 0
  const isOldFirst = (at: number): boolean => {
    const by = (before.request[old] ?? 0) - (changes.request[at] ?? 0)
    return by < 0 || (by === 0 && (before.column[old] ?? 0) <= (changes.column[at] ?? 0))
  }
  for (let at = 0; at < changes.request.length; at++) {
    const changed = changes.step[at] ?? 0
    if (changed > step) continue
    for (; old < before.request.length && isOldFirst(at); old++) put(before, old, before.taken[old] ?? 0)
    put(changes, at, changed)
  }
  for (; old < before.request.length; old++) put(before, old, before.taken[old] ?? 0)
  return {
    request: cells.request.slice(0, count),
    column: cells.column.slice(0, count),
    page: cells.page.slice(0, count),
    valid: cells.valid.slice(0, count),
    taken: cells.taken.slice(0, count),
  }
}

/** Physical page of each column of a request whose cells are given, -1 where none was recorded. */
export const pagesByColumn = ({ column, page }: RecordedCells): StoreResult<'blockTable'> => {
  const pages = new Int32Array((column.at(-1) ?? -1) + 1).fill(-1)
  column.forEach((place, i) => {
    pages[place] = page[i] ?? -1
  })
  return { pages }
}

/** Statistics of the rows of one layer at some steps. */
export interface RowBlock {
  readonly step: Int32Array
  readonly rows: StoreResult<'rows'>
}

export const rowBlock = async (
  connection: DuckDBConnection,
  parts: readonly Part[],
  { first, last }: StepRange,
  layer: number,
): Promise<RowBlock> => {
  const found = await readColumns(
    connection,
    `SELECT step::INTEGER AS step, rank::INTEGER AS rank, request::INTEGER AS request, q_index::INTEGER AS q_index,
       global_len::INTEGER AS global_len, local_len::INTEGER AS local_len, visible_keys::INTEGER AS visible_keys,
       "empty"::UTINYINT AS is_empty, out_nan::INTEGER AS out_nan, out_inf::INTEGER AS out_inf,
       out_absmax::FLOAT AS out_absmax, lse_nan::INTEGER AS lse_nan,
       lse_min::FLOAT AS lse_min, lse_max::FLOAT AS lse_max
     FROM ${relationOf('rows', parts)} WHERE step BETWEEN ${first} AND ${last} AND layer = ${layer}
     ORDER BY step, rank, request, q_index`,
  )
  return {
    step: found.i32('step'),
    rows: {
      rank: found.i32('rank'),
      request: found.i32('request'),
      qIndex: found.i32('q_index'),
      globalLen: found.i32('global_len'),
      localLen: found.i32('local_len'),
      visibleKeys: found.i32('visible_keys'),
      empty: found.u8('is_empty'),
      outNan: found.i32('out_nan'),
      outInf: found.i32('out_inf'),
      outAbsmax: found.f32('out_absmax'),
      lseNan: found.i32('lse_nan'),
      lseMin: found.f32('lse_min'),
      lseMax: found.f32('lse_max'),
    },
  }
}

/** Of a block the rows of one step, in columns of their own. */
export const rowsAt = ({ step: steps, rows }: RowBlock, step: number): StoreResult<'rows'> => {
  const first = steps.indexOf(step)
  const [from, to] = first < 0 ? [0, 0] : [first, steps.lastIndexOf(step) + 1]
  return {
    rank: rows.rank.slice(from, to),
    request: rows.request.slice(from, to),
    qIndex: rows.qIndex.slice(from, to),
    globalLen: rows.globalLen.slice(from, to),
    localLen: rows.localLen.slice(from, to),
    visibleKeys: rows.visibleKeys.slice(from, to),
    empty: rows.empty.slice(from, to),
    outNan: rows.outNan.slice(from, to),
    outInf: rows.outInf.slice(from, to),
    outAbsmax: rows.outAbsmax.slice(from, to),
    lseNan: rows.lseNan.slice(from, to),
    lseMin: rows.lseMin.slice(from, to),
    lseMax: rows.lseMax.slice(from, to),
  }
}

const stageNames: readonly string[] = STAGES

const nullable = (row: PlainRow, name: string): number | null => {
  const value = row[name]
  return typeof value === 'number' ? value : null
}

/** The newest first when there are more than `limit`; in order of time. */
export const events = async (
  connection: DuckDBConnection,
  bundle: string,
  { limit }: Omit<StoreParams<'events'>, 'run'>,
): Promise<StoreResult<'events'>> => {
  const found = await plainRows(
    connection,
    `SELECT * FROM (
       SELECT * FROM ${relation(bundle, 'events')} ORDER BY time_ns DESC LIMIT ${limit}
     ) ORDER BY time_ns`,
  )
  return found.map((row) => ({
    step: numberOf(row, 'step'),
    layer: numberOf(row, 'layer'),
    rank: nullable(row, 'rank'),
    request: nullable(row, 'request'),
    timeNs: numberOf(row, 'time_ns'),
    kind: textOf(row, 'kind'),
    severity: textOf(row, 'severity'),
    message: textOf(row, 'message'),
    detail: textOf(row, 'detail'),
  }))
}

/**
 * Every column of the span of `rank` that starts at `startNs`, of stages that contain no others; the one that ends last
 * when there are several.
 */
export const spanStartingAt = async (
  connection: DuckDBConnection,
  bundle: string,
  rank: number,
  startNs: number,
): Promise<StoreResult<'spanAt'>> => {
  const [row] = await plainRows(
    connection,
    `SELECT * FROM ${relation(bundle, 'spans')} WHERE rank = ${rank} AND start_ns = ${startNs}
       AND stage NOT IN (${OUTER_STAGES.map(sqlText).join(', ')})
     ORDER BY dur_ns DESC LIMIT 1`,
  )
  if (row === undefined) return null
  return {
    step: numberOf(row, 'step'),
    layer: numberOf(row, 'layer'),
    stage: stageNames.indexOf(textOf(row, 'stage')),
    startNs: numberOf(row, 'start_ns'),
    durNs: numberOf(row, 'dur_ns'),
    bytes: numberOf(row, 'bytes'),
    flops: numberOf(row, 'flops'),
    collectiveSeq: nullable(row, 'collective_seq'),
    enterNs: nullable(row, 'enter_ns'),
    lastEnterNs: nullable(row, 'last_enter_ns'),
    provenance: textOf(row, 'provenance'),
  }
}

/** Every column of the recorded kernel of `rank` that covers `atNs`; the one that starts last where there are several. */
export const kernelAt = async (
  connection: DuckDBConnection,
  bundle: string,
  { rank, atNs }: Omit<StoreParams<'kernelAt'>, 'run'>,
): Promise<StoreResult<'kernelAt'>> => {
  const [row] = await plainRows(
    connection,
    `SELECT * FROM ${relation(bundle, 'kernels')}
     WHERE rank = ${rank} AND start_ns <= ${atNs} AND start_ns + dur_ns > ${atNs}
     ORDER BY start_ns DESC LIMIT 1`,
  )
  if (row === undefined) return null
  const three = (name: string): number[] | null =>
    nullable(row, `${name}_x`) === null
      ? null
      : ['x', 'y', 'z'].map((axis) => numberOf(row, `${name}_${axis}`))
  return {
    step: numberOf(row, 'step'),
    layer: numberOf(row, 'layer'),
    stage: stageNames.indexOf(textOf(row, 'stage')),
    name: textOf(row, 'name'),
    startNs: numberOf(row, 'start_ns'),
    durNs: numberOf(row, 'dur_ns'),
    bytes: nullable(row, 'bytes'),
    grid: three('grid'),
    block: three('block'),
    registers: nullable(row, 'registers'),
    sharedBytes: nullable(row, 'shared_bytes'),
    stream: numberOf(row, 'stream'),
    graph: row.graph === true,
    provenance: textOf(row, 'provenance'),
  }
}

/** DuckDB gives the rows of files in their order. */
export const points = async (
  connection: DuckDBConnection,
  bundle: string,
  { from, max }: Omit<StoreParams<'points'>, 'run'>,
): Promise<PointRow[]> => {
  const found = await plainRows(
    connection,
    `SELECT * FROM ${relation(bundle, 'points')} LIMIT ${max} OFFSET ${from}`,
  )
  return found.map(pointRowOf)
}
