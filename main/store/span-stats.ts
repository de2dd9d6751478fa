import type { DuckDBConnection } from '@duckdb/node-api'
import type { StoreParams, StoreResult } from '../../app/protocol/store.ts'
import { MAX_STAT_ROWS, type StatGrouping } from '../../app/trace/span-stats.ts'
import { OUTER_STAGES } from '../../app/trace/stages.ts'
import { numberOf, plainRows, sqlText, textOf } from './duck.ts'
import { relation } from './sources.ts'
import { sourcesOf } from './table-queries.ts'

const KEYS: Readonly<Record<StatGrouping, string>> = { stage: 'stage', rank: 'rank', kernel: 'name' }

/** See `spanStats` in app/protocol/store.ts. */
export const spanStats = async (
  connection: DuckDBConnection,
  bundle: string,
  { startNs, endNs, ranks, by }: Omit<StoreParams<'spanStats'>, 'run'>,
): Promise<StoreResult<'spanStats'>> => {
  if (ranks.length === 0 || endNs <= startNs) return { rows: [], groups: 0 }
  const [from, to] = [Math.floor(startNs), Math.ceil(endNs)]
  // NULL outside of collectives, which `least` and `greatest` would pass over.
  const waited = `CASE WHEN enter_ns + last_enter_ns IS NOT NULL
         THEN greatest(0, least(last_enter_ns, ${to}) - greatest(enter_ns, ${from})) END`
  const wait = by === 'kernel' ? '0' : waited
  const touched = `start_ns < ${to} AND start_ns + dur_ns > ${from} AND rank IN (${ranks.join(', ')})`
  const outer = by === 'rank' ? ` AND stage NOT IN (${OUTER_STAGES.map(sqlText).join(', ')})` : ''
  const rows = await plainRows(
    connection,
    `SELECT ${KEYS[by]} AS key, count(*) AS n,
       sum(least(start_ns + dur_ns, ${to}) - greatest(start_ns, ${from}))::DOUBLE AS total,
       coalesce(sum(${wait}), 0)::DOUBLE AS wait,
       min(dur_ns)::DOUBLE AS least, quantile_cont(dur_ns, 0.5)::DOUBLE AS p50,
       quantile_cont(dur_ns, 0.95)::DOUBLE AS p95, max(dur_ns)::DOUBLE AS most,
       arg_max(rank, dur_ns) AS most_rank, arg_max(start_ns, dur_ns)::DOUBLE AS most_start,
       string_agg(DISTINCT provenance::VARCHAR, ' ') AS sources, count(*) OVER () AS all_groups
     FROM ${relation(bundle, by === 'kernel' ? 'kernels' : 'spans')}
     WHERE ${touched}${outer}
     GROUP BY key ORDER BY total DESC, key LIMIT ${MAX_STAT_ROWS}`,
  )
  const caused = by === 'rank' ? await causedWaits(connection, bundle, touched, waited) : null
  return {
    groups: numberOf(rows[0], 'all_groups'),
    rows: rows.map((row) => ({
      key: by === 'rank' ? numberOf(row, 'key') : textOf(row, 'key'),
      count: numberOf(row, 'n'),
      sumNs: numberOf(row, 'total'),
      waitNs: numberOf(row, 'wait'),
      causedNs: caused === null ? null : (caused.get(numberOf(row, 'key')) ?? 0),
      minNs: numberOf(row, 'least'),
      p50Ns: numberOf(row, 'p50'),
      p95Ns: numberOf(row, 'p95'),
      maxNs: numberOf(row, 'most'),
      longest: { rank: numberOf(row, 'most_rank'), startNs: numberOf(row, 'most_start') },
      sources: sourcesOf(textOf(row, 'sources')),
    })),
  }
}

/** For each rank the waiting of all in collectives that it entered last, the lowest of several; those whose last is not among them count for nobody. */
const causedWaits = async (
  connection: DuckDBConnection,
  bundle: string,
  touched: string,
  waited: string,
): Promise<ReadonlyMap<number, number>> => {
  const rows = await plainRows(
    connection,
    `SELECT last, sum(wait)::DOUBLE AS wait FROM (
       SELECT min(rank) FILTER (WHERE enter_ns = last_enter_ns) AS last, sum(${waited}) AS wait
       FROM ${relation(bundle, 'spans')}
       WHERE ${touched} AND collective_seq IS NOT NULL GROUP BY step, collective_seq)
     WHERE last IS NOT NULL GROUP BY last`,
  )
  return new Map(rows.map((row) => [numberOf(row, 'last'), numberOf(row, 'wait')]))
}
