import type { DuckDBConnection } from '@duckdb/node-api'
import type { StoreParams, StoreResult } from '../../app/protocol/store.ts'
import { type PointRow, pointRowOf } from '../../app/sweep/point-rows.ts'
import { OUTER_STAGES, PROVENANCES, type Provenance, STAGES } from '../../app/trace/stages.ts'
import { numberOf, type PlainRow, plainRows, sqlText, textOf } from './duck.ts'
import { countedSpans, relation } from './sources.ts'

/** The store's methods that are one look at all Parquet parts of a bundle. Units and shapes: app/protocol/store.ts. */

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
