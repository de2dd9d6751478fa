import type { DuckDBConnection } from '@duckdb/node-api'
import type { RecordedCells } from '../../app/pages/run-table.ts'
import type { StoreParams, StoreResult } from '../../app/protocol/store.ts'
import { type PointRow, pointRowOf } from '../../app/sweep/point-rows.ts'
import { OUTER_STAGES, PROVENANCES, type Provenance, STAGES } from '../../app/trace/stages.ts'
import type { Part } from './bundle-files.ts'
import { numberOf, type PlainRow, plainRows, readColumns, sqlText, textOf } from './duck.ts'
import { countedSpans, relation, relationOf } from './sources.ts'

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

export const blockTable = async (
  connection: DuckDBConnection,
  parts: readonly Part[],
  { step, request }: Omit<StoreParams<'blockTable'>, 'run'>,
): Promise<StoreResult<'blockTable'>> => {
  const cells = await readColumns(
    connection,
    `SELECT "column"::INTEGER AS place, arg_max(page, step)::INTEGER AS page
     FROM ${relationOf('pages', parts)} WHERE request = ${request} AND step <= ${step}
     GROUP BY "column" ORDER BY "column"`,
  )
  const places = cells.i32('place')
  const found = cells.i32('page')
  const pages = new Int32Array((places.at(-1) ?? -1) + 1).fill(-1)
  places.forEach((place, i) => {
    pages[place] = found[i] ?? -1
  })
  return { pages }
}

/** Cells of the block table of a rank, whose parts are given, as they were last recorded up to a step. */
export const recordedCells = async (
  connection: DuckDBConnection,
  parts: readonly Part[],
  step: number,
): Promise<RecordedCells> => {
  const cells = await readColumns(
    connection,
    `SELECT request::INTEGER AS request, "column"::INTEGER AS place, arg_max(page, step)::INTEGER AS page,
       arg_max(valid, step)::INTEGER AS valid, min(step)::INTEGER AS taken
     FROM ${relationOf('pages', parts)} WHERE step <= ${step}
     GROUP BY request, "column" ORDER BY request, "column"`,
  )
  return {
    request: cells.i32('request'),
    column: cells.i32('place'),
    page: cells.i32('page'),
    valid: cells.i32('valid'),
    taken: cells.i32('taken'),
  }
}

export const rows = async (
  connection: DuckDBConnection,
  parts: readonly Part[],
  { step, layer }: Omit<StoreParams<'rows'>, 'run'>,
): Promise<StoreResult<'rows'>> => {
  const found = await readColumns(
    connection,
    `SELECT rank::INTEGER AS rank, request::INTEGER AS request, q_index::INTEGER AS q_index,
       global_len::INTEGER AS global_len, local_len::INTEGER AS local_len, visible_keys::INTEGER AS visible_keys,
       "empty"::UTINYINT AS is_empty, out_nan::INTEGER AS out_nan, out_inf::INTEGER AS out_inf,
       out_absmax::FLOAT AS out_absmax, lse_nan::INTEGER AS lse_nan,
       lse_min::FLOAT AS lse_min, lse_max::FLOAT AS lse_max
     FROM ${relationOf('rows', parts)} WHERE step = ${step} AND layer = ${layer}
     ORDER BY rank, request, q_index`,
  )
  return {
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
