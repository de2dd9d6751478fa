import type { DuckDBConnection } from '@duckdb/node-api'
import { ROW_KINDS, ROW_SEVERITY, type RowKind } from '../../app/events/row-kinds.ts'
import { rowText } from '../../app/events/text.ts'
import {
  type EventFilter,
  type EventGrouping,
  MAX_EVENT_GROUPS,
  type StoreParams,
  type StoreResult,
} from '../../app/protocol/store.ts'
import { SEVERITIES, type Severity } from '../../app/trace/stages.ts'
import { numberOf, type PlainRow, plainRows, readColumns, sqlText, textOf } from './duck.ts'
import { relation } from './sources.ts'

/** What a run says is worth a look: its events, and the rows of partials that are bad or empty. Shapes: app/protocol/store.ts. */

/** `rowKind` of app/events/row-kinds.ts in SQL, over the columns of the `rows` table; NaN compares as the greatest there. */
export const ROW_KIND_SQL = `CASE
  WHEN "empty" THEN CASE
    WHEN out_nan > 0 OR out_inf > 0 OR out_absmax > 0 OR lse_nan > 0 OR lse_max > '-inf'::FLOAT
    THEN 'empty_row_left' ELSE 'empty_row' END
  WHEN out_nan > 0 THEN 'nan_in_row'
  WHEN out_inf > 0 THEN 'inf_in_row'
  WHEN lse_nan > 0 OR lse_max = 'inf'::FLOAT THEN 'lse_in_row' END`

const ROW_SEVERITY_SQL = `CASE kind ${ROW_KINDS.map((kind) => `WHEN ${sqlText(kind)} THEN ${sqlText(ROW_SEVERITY[kind])}`).join(' ')} END`

/** Parenthesised SELECT of the rows of partials with a kind. */
export const rowsWithKind = (bundle: string): string =>
  `(SELECT *, ${ROW_SEVERITY_SQL} AS severity FROM (SELECT *, ${ROW_KIND_SQL} AS kind FROM ${relation(bundle, 'rows')}) WHERE kind IS NOT NULL)`

const levelRelation = (bundle: string, { level }: EventFilter): string =>
  level === 'rows' ? rowsWithKind(bundle) : relation(bundle, 'events')

const isAt = (column: 'rank' | 'layer' | 'request', place: number | null): string[] =>
  place === null ? [] : [`coalesce(${column}, -1) = ${place}`]

const placeConditions = ({ kinds, rank, layer, request }: EventFilter): string[] => [
  ...(kinds.length === 0 ? [] : [`kind IN (${kinds.map(sqlText).join(', ')})`]),
  ...isAt('rank', rank),
  ...isAt('layer', layer),
  ...isAt('request', request),
]

const conditions = (filter: EventFilter): string =>
  [
    'true',
    ...placeConditions(filter),
    ...(filter.fromStep === null ? [] : [`step >= ${filter.fromStep}`]),
    ...(filter.toStep === null ? [] : [`step <= ${filter.toStep}`]),
  ].join(' AND ')

const isSeverity = (text: string): text is Severity => SEVERITIES.some((severity) => severity === text)

const severityOf = (row: PlainRow): Severity => {
  const text = textOf(row, 'severity')
  return isSeverity(text) ? text : 'info'
}

const GROUP_KEYS: Readonly<Record<EventGrouping, string>> = {
  kind: 'kind',
  rank: 'coalesce(rank, -1)',
  layer: 'layer',
  request: 'coalesce(request, -1)',
  step: 'step',
}

export const eventGroups = async (
  connection: DuckDBConnection,
  bundle: string,
  { filter, by }: Omit<StoreParams<'eventGroups'>, 'run'>,
): Promise<StoreResult<'eventGroups'>> => {
  const order = by === 'kind' ? 'code DESC, n DESC, key' : 'key'
  const rows = await plainRows(
    connection,
    `WITH groups AS (
       SELECT ${GROUP_KEYS[by]} AS key, max(enum_code(severity::severity)) AS code, count(*) AS n,
         count(DISTINCT step) AS steps, min(step) AS first, max(step) AS last
       FROM ${levelRelation(bundle, filter)} WHERE ${conditions(filter)} GROUP BY key
     )
     SELECT *, (SELECT count(*) FROM groups) AS all_groups, (SELECT sum(n)::DOUBLE FROM groups) AS total
     FROM groups ORDER BY ${order} LIMIT ${MAX_EVENT_GROUPS}`,
  )
  return {
    total: numberOf(rows[0], 'total'),
    groups: numberOf(rows[0], 'all_groups'),
    list: rows.map((row) => ({
      key: by === 'kind' ? textOf(row, 'key') : numberOf(row, 'key'),
      severity: SEVERITIES[numberOf(row, 'code')] ?? 'info',
      count: numberOf(row, 'n'),
      steps: numberOf(row, 'steps'),
      firstStep: numberOf(row, 'first'),
      lastStep: numberOf(row, 'last'),
    })),
  }
}

type EventRow = StoreResult<'eventRows'>[number]

const placeOf = (row: PlainRow): Pick<EventRow, 'step' | 'layer' | 'rank' | 'request'> => ({
  step: numberOf(row, 'step'),
  layer: numberOf(row, 'layer'),
  rank: nullable(row, 'rank'),
  request: nullable(row, 'request'),
})

const nullable = (row: PlainRow, name: string): number | null => {
  const value = row[name]
  return typeof value === 'number' ? value : null
}

/** Query row of the batch that the detail of an event names; null for none. */
export const batchRowOf = (detail: string): number | null => {
  const parsed: unknown = JSON.parse(detail)
  if (typeof parsed !== 'object' || parsed === null || !('row' in parsed)) return null
  return typeof parsed.row === 'number' ? parsed.row : null
}

const ofEvent = (row: PlainRow, qLen: number): EventRow => {
  const detail = textOf(row, 'detail')
  const batchRow = batchRowOf(detail)
  return {
    ...placeOf(row),
    qIndex: batchRow === null ? null : batchRow % qLen,
    timeNs: numberOf(row, 'time_ns'),
    kind: textOf(row, 'kind'),
    severity: severityOf(row),
    message: textOf(row, 'message'),
    detail,
  }
}

const isRowKind = (kind: string): kind is RowKind => ROW_KINDS.some((known) => known === kind)

/** JSON has no NaN and no infinities: they are text there. */
const jsonNumber = (x: number): number | string => (Number.isFinite(x) ? x : String(x))

const ofRow = (row: PlainRow): EventRow => {
  const kind = textOf(row, 'kind')
  const numbers = {
    visibleKeys: numberOf(row, 'visible_keys'),
    outNan: numberOf(row, 'out_nan'),
    outInf: numberOf(row, 'out_inf'),
    outAbsmax: numberOf(row, 'out_absmax'),
    lseNan: numberOf(row, 'lse_nan'),
    lseMin: numberOf(row, 'lse_min'),
    lseMax: numberOf(row, 'lse_max'),
  }
  const lengths = { globalLen: numberOf(row, 'global_len'), localLen: numberOf(row, 'local_len') }
  return {
    ...placeOf(row),
    qIndex: numberOf(row, 'q_index'),
    timeNs: null,
    kind,
    severity: severityOf(row),
    message: isRowKind(kind) ? rowText({ kind, ...numbers }) : '',
    detail: JSON.stringify(
      Object.fromEntries(
        Object.entries({ ...lengths, ...numbers }).map(([name, value]) => [name, jsonNumber(value)]),
      ),
    ),
  }
}

export const eventRows = async (
  connection: DuckDBConnection,
  bundle: string,
  { filter, from, max }: Omit<StoreParams<'eventRows'>, 'run'>,
  qLen: number,
): Promise<StoreResult<'eventRows'>> => {
  const order =
    filter.level === 'rows'
      ? 'step, layer, rank, request, q_index'
      : 'step, time_ns, layer, rank, request, kind'
  const rows = await plainRows(
    connection,
    `SELECT * FROM ${levelRelation(bundle, filter)} WHERE ${conditions(filter)}
     ORDER BY ${order} LIMIT ${max} OFFSET ${from}`,
  )
  return rows.map((row) => (filter.level === 'rows' ? ofRow(row) : ofEvent(row, qLen)))
}

/** Parts of the run's steps: all steps that any of the tables have, in at most `buckets` parts of equal size. */
export const stepParts = async (
  connection: DuckDBConnection,
  bundle: string,
  buckets: number,
): Promise<{ steps: number; perBucket: number; parts: number }> => {
  const newest = ['steps', 'events'] as const
  const [row] = await plainRows(
    connection,
    `SELECT max(step) AS last FROM (${newest.map((table) => `SELECT max(step) AS step FROM ${relation(bundle, table)}`).join(' UNION ALL ')})`,
  )
  const steps = numberOf(row, 'last', -1) + 1
  const perBucket = Math.max(1, Math.ceil(steps / buckets))
  return { steps, perBucket, parts: Math.ceil(steps / perBucket) }
}

export const eventDensity = async (
  connection: DuckDBConnection,
  bundle: string,
  { filter, buckets }: Omit<StoreParams<'eventDensity'>, 'run'>,
): Promise<StoreResult<'eventDensity'>> => {
  const { steps, perBucket, parts } = await stepParts(connection, bundle, buckets)
  const found = await readColumns(
    connection,
    `SELECT (step // ${perBucket})::INTEGER AS bucket, enum_code(severity::severity)::UTINYINT AS code, count(*)::INTEGER AS n
     FROM ${levelRelation(bundle, filter)}
     WHERE ${['true', ...placeConditions(filter)].join(' AND ')} AND step < ${parts * perBucket} GROUP BY ALL`,
  )
  const [bucket, code, n] = [found.i32('bucket'), found.u8('code'), found.i32('n')]
  const counts = (severity: Severity): Int32Array<ArrayBuffer> => {
    const all = new Int32Array(parts)
    bucket.forEach((place, i) => {
      if (SEVERITIES[code[i] ?? -1] === severity) all[place] = n[i] ?? 0
    })
    return all
  }
  return { steps, perBucket, info: counts('info'), warning: counts('warning'), error: counts('error') }
}
