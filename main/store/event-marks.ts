import type { DuckDBConnection } from '@duckdb/node-api'
import { MAX_EVENT_MARKS, type StoreParams, type StoreResult } from '../../app/protocol/store.ts'
import { readColumns } from './duck.ts'
import { relation } from './sources.ts'

/** See `eventMarks` in app/protocol/store.ts. */
export const eventMarks = async (
  connection: DuckDBConnection,
  bundle: string,
  { startNs, endNs, buckets }: Omit<StoreParams<'eventMarks'>, 'run'>,
): Promise<StoreResult<'eventMarks'>> => {
  const [from, to] = [Math.floor(startNs), Math.ceil(endNs)]
  const width = Math.max(1, Math.ceil((to - from) / buckets))
  const found = await readColumns(
    connection,
    `SELECT coalesce(rank, -1)::INTEGER AS rank, enum_code(kind::kind)::UTINYINT AS kind,
       max(enum_code(severity::severity))::UTINYINT AS severity, min(time_ns)::DOUBLE AS time,
       arg_min(step, time_ns)::INTEGER AS step, arg_min(layer, time_ns)::INTEGER AS layer, count(*)::INTEGER AS n
     FROM ${relation(bundle, 'events')} WHERE time_ns >= ${from} AND time_ns < ${to}
     GROUP BY (time_ns - ${from}) // ${width}, coalesce(rank, -1), kind
     ORDER BY severity DESC, time LIMIT ${MAX_EVENT_MARKS}`,
  )
  return {
    rank: found.i32('rank'),
    kind: found.u8('kind'),
    severity: found.u8('severity'),
    time: found.f64('time'),
    step: found.i32('step'),
    layer: found.i32('layer'),
    count: found.i32('n'),
  }
}
