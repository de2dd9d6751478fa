import type { DuckDBConnection } from '@duckdb/node-api'
import {
  type CheckOutcome,
  type DifferingRow,
  ROW_DIFFERENCES,
  type RowComparison,
} from '../../app/compare/rows.ts'
import type { StepTimes } from '../../app/compare/times.ts'
import { divergenceTolerance } from '../../app/compare/tolerance.ts'
import type { RunConfig } from '../../app/run/config.ts'
import { checkTolerance } from '../../app/run/engine-config.ts'
import { OUTER_STAGES, PROVENANCES, type Provenance, STAGES, type Stage } from '../../app/trace/stages.ts'
import { numberOf, type PlainRow, plainRows, readColumns, sqlText, textOf } from './duck.ts'
import { countedSpans, relation } from './sources.ts'

/** A bundle and what was asked of its run. */
export interface Compared {
  readonly folder: string
  readonly config: RunConfig
}

/** What a run spent its time on, of the steps that are whole and count. */
export const stepTimes = async (
  connection: DuckDBConnection,
  { folder, config }: Compared,
): Promise<StepTimes> => {
  const counted = countedSpans(folder)
  const steps = await readColumns(
    connection,
    `SELECT step::INTEGER AS step, wall_ns::DOUBLE AS wall_ns FROM ${relation(folder, 'steps')}
     WHERE ${counted} ORDER BY step`,
  )
  const wait = 'least(dur_ns, greatest(0, coalesce(last_enter_ns - enter_ns, 0)))'
  const cells = await readColumns(
    connection,
    `SELECT step::INTEGER AS step, rank::INTEGER AS rank, enum_code(stage::stage)::UTINYINT AS stage,
       sum(dur_ns - ${wait})::DOUBLE AS work_ns, sum(${wait})::DOUBLE AS wait_ns
     FROM ${relation(folder, 'spans')}
     WHERE ${counted} AND stage NOT IN (${OUTER_STAGES.map(sqlText).join(', ')})
     GROUP BY ALL ORDER BY ALL`,
  )
  return {
    step: steps.i32('step'),
    wallNs: steps.f64('wall_ns'),
    ranks: config.parallel.dcpSize,
    cells: {
      step: cells.i32('step'),
      rank: cells.i32('rank'),
      stage: cells.u8('stage'),
      workNs: cells.f64('work_ns'),
      waitNs: cells.f64('wait_ns'),
    },
  }
}

/** Where the times of each stage come from. */
export const stageSources = async (
  connection: DuckDBConnection,
  folder: string,
): Promise<ReadonlyMap<Stage, Provenance[]>> => {
  const rows = await plainRows(
    connection,
    `SELECT stage, string_agg(DISTINCT provenance::VARCHAR, ' ') AS sources
     FROM ${relation(folder, 'spans')} WHERE ${countedSpans(folder)} GROUP BY stage`,
  )
  return new Map(
    rows.flatMap((row) => {
      const stage = STAGES.find((name) => name === row.stage)
      const found = textOf(row, 'sources').split(' ')
      return stage === undefined ? [] : [[stage, PROVENANCES.filter((source) => found.includes(source))]]
    }),
  )
}

/** Where the times of whole steps come from. */
export const wallSources = async (connection: DuckDBConnection, folder: string): Promise<Provenance[]> => {
  const rows = await plainRows(
    connection,
    `SELECT DISTINCT provenance::VARCHAR AS source FROM ${relation(folder, 'steps')}`,
  )
  return PROVENANCES.filter((source) => rows.some((row) => row.source === source))
}

/** Rows of partials that both runs recorded, one by one, and their checks. */
export const compareRows = async (
  connection: DuckDBConnection,
  a: Compared,
  b: Compared,
): Promise<RowComparison> => {
  const unlike = whyUnlike(a.config, b.config)
  const tolerance = divergenceTolerance(a.config.cache.kvDtype, b.config.cache.kvDtype)
  const checks = { a: await checkOf(connection, a), b: await checkOf(connection, b) }
  const differing = { keys: 0, empty: 0, nan: 0, lse: 0, out: 0 }
  if (unlike !== null) return { unlike, rows: 0, differing, tolerance, first: null, checks }
  const judged = judgedRows(a, b, tolerance)
  const [counts] = await plainRows(
    connection,
    `SELECT count(*) AS n, ${ROW_DIFFERENCES.map((kind) => `count_if(kind = '${kind}') AS "${kind}"`).join(', ')}
     FROM (${judged})`,
  )
  const [first] = await plainRows(
    connection,
    `SELECT * FROM (${judged}) WHERE kind <> '' ORDER BY step, layer, request, q_index, rank LIMIT 1`,
  )
  return {
    unlike,
    rows: numberOf(counts, 'n'),
    differing: {
      keys: numberOf(counts, 'keys'),
      empty: numberOf(counts, 'empty'),
      nan: numberOf(counts, 'nan'),
      lse: numberOf(counts, 'lse'),
      out: numberOf(counts, 'out'),
    },
    tolerance,
    first: first === undefined ? null : differingRow(first),
    checks,
  }
}

const whyUnlike = (a: RunConfig, b: RunConfig): string | null => {
  const differs = (['dcpSize', 'interleave'] as const).find((key) => a.parallel[key] !== b.parallel[key])
  return differs === undefined
    ? null
    : `Their ranks hold other tokens (parallel.${differs} is ${a.parallel[differs]} and ${b.parallel[differs]}), so partials cannot be compared rank by rank.`
}

/** Factor that brings an lse of a kernel to base e. */
const toNatural = ({ config }: Compared): number => (config.engine.lseBase === '2' ? Math.LN2 : 1)

const VALUES = {
  keys: 'visible_keys',
  empty: '"empty"::INTEGER',
  nan: 'out_nan + lse_nan + out_inf',
  out: 'out_absmax',
} as const

/** Rows that both have, each with what differs first ('' nothing) and both values of that. */
const judgedRows = (a: Compared, b: Compared, tolerance: number): string => {
  const side = (run: Compared): string => {
    const lse = toNatural(run)
    return `SELECT step, layer, rank, request, q_index, local_len, ${Object.entries(VALUES)
      .map(([name, value]) => `${value} AS v_${name}`)
      .join(', ')}, lse_min * ${lse} AS least, lse_max * ${lse} AS v_lse FROM ${relation(run.folder, 'rows')}`
  }
  // What a kernel leaves in a row without keys means nothing. NaN and infinities of both alike are no difference; DuckDB takes NaN for the largest number.
  const apart = (column: string, limit: string): string =>
    `(coalesce(isfinite(a.${column}), false) <> coalesce(isfinite(b.${column}), false)
      OR (isfinite(a.${column}) AND isfinite(b.${column}) AND abs(a.${column} - b.${column}) > ${limit}))`
  const kind = `CASE
      WHEN a.v_keys <> b.v_keys OR a.local_len <> b.local_len THEN 'keys'
      WHEN a.v_empty <> b.v_empty THEN 'empty'
      WHEN a.v_empty = 1 THEN ''
      WHEN a.v_nan <> b.v_nan THEN 'nan'
      WHEN ${apart('least', String(tolerance))} OR ${apart('v_lse', String(tolerance))} THEN 'lse'
      WHEN ${apart('v_out', `${tolerance} * greatest(a.v_out, b.v_out)`)} THEN 'out'
      ELSE '' END`
  const value = (name: string): string =>
    `CASE kind ${ROW_DIFFERENCES.map((one) => `WHEN '${one}' THEN ${name}.v_${one}::DOUBLE`).join(' ')} END`
  return `SELECT step, layer, rank, request, q_index, ${kind} AS kind,
      ${value('a')} AS value_a, ${value('b')} AS value_b
    FROM (${side(a)}) a JOIN (${side(b)}) b USING (step, layer, rank, request, q_index)`
}

const differingRow = (row: PlainRow): DifferingRow => ({
  step: numberOf(row, 'step'),
  layer: numberOf(row, 'layer'),
  rank: numberOf(row, 'rank'),
  request: numberOf(row, 'request'),
  qIndex: numberOf(row, 'q_index'),
  kind: ROW_DIFFERENCES.find((kind) => kind === row.kind) ?? 'out',
  a: numberOf(row, 'value_a', Number.NaN),
  b: numberOf(row, 'value_b', Number.NaN),
})

const checkOf = async (connection: DuckDBConnection, { folder, config }: Compared): Promise<CheckOutcome> => {
  const tolerance = checkTolerance(config)
  // NaN is the largest number here, so it fails as well.
  const [row] = await plainRows(
    connection,
    `SELECT sum(checked_rows) AS checked, max(max_rel_err) AS worst, count_if(max_rel_err > ${tolerance}) AS failed,
       min(step) FILTER (WHERE max_rel_err > ${tolerance}) AS first_failed
     FROM ${relation(folder, 'steps')}`,
  )
  const firstFailed = row?.first_failed
  return {
    tolerance,
    checkedRows: numberOf(row, 'checked'),
    worst: typeof row?.worst === 'number' ? row.worst : null,
    failedSteps: numberOf(row, 'failed'),
    firstFailed: typeof firstFailed === 'number' ? firstFailed : null,
  }
}
