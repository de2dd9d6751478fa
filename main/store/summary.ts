import type { DuckDBConnection } from '@duckdb/node-api'
import { MAX_DCP_SIZE } from '../../app/run/config.ts'
import { checkTolerance, DRAFT_TOLERANCE } from '../../app/run/engine-config.ts'
import type { Manifest, RunSummary } from '../../app/trace/manifest.ts'
import { PROVENANCES, STAGES } from '../../app/trace/stages.ts'
import { numberOf, type PlainRow, plainRows } from './duck.ts'
import { jsonNumber } from './live-progress.ts'
import { countedSpans, relation } from './sources.ts'

/** The numbers of a run, computed from its bundle. */
export const summarise = async (
  connection: DuckDBConnection,
  bundle: string,
  manifest: Manifest,
  dropped: number,
): Promise<RunSummary> => {
  const one = async (sql: string): Promise<PlainRow | undefined> => (await plainRows(connection, sql))[0]
  const kernels = await kernelTrace(connection, bundle)
  const counted = kernels === undefined || kernels.counted ? '' : 'WHERE kernel_trace IS NOT TRUE'
  const allSteps = await one(
    `SELECT count(*) AS steps, sum(checked_rows) AS checked, max(max_abs_err) AS abs_err, max(max_rel_err) AS rel_err,
       sum(draft_proposed) AS proposed, sum(draft_accepted) AS accepted
     FROM ${relation(bundle, 'steps')}`,
  )
  const steps = await one(
    `SELECT quantile_cont(wall_ns, 0.5) / 1e6 AS p50, quantile_cont(wall_ns, 0.95) / 1e6 AS p95,
       quantile_cont(device_ns, 0.5) / 1e6 AS device_p50, quantile_cont(device_ns, 0.95) / 1e6 AS device_p95,
       bool_or(device_ns <> wall_ns) AS in_turn,
       quantile_cont(device_ns, 0.5) FILTER (WHERE untraced_ns IS NOT NULL) / 1e3 AS traced,
       quantile_cont(untraced_ns, 0.5) / 1e3 AS untraced,
       sum(tokens) / sum(tokens / tokens_per_s) AS rate, mode(provenance) AS provenance
     FROM ${relation(bundle, 'steps')} ${counted}`,
  )
  const rows = await one(
    `SELECT count_if(out_nan > 0 OR lse_nan > 0) AS nan_rows, count_if("empty") AS empty_rows
     FROM ${relation(bundle, 'rows')}`,
  )
  const nanMerged = await one(
    `SELECT count(*) AS n FROM ${relation(bundle, 'events')} WHERE kind = 'nan_in_merged'`,
  )
  const tolerance = checkTolerance(manifest.config)
  const maxRelErr = errorOf(allSteps, 'rel_err')
  return {
    device: manifest.devices[0]?.kind ?? 'cpu',
    backend: manifest.config.serving.backend ?? 'native',
    ranks: Math.min(manifest.config.parallel.dcpSize, MAX_DCP_SIZE),
    steps: numberOf(allSteps, 'steps'),
    tokensPerSecond: numberOf(steps, 'rate'),
    provenance: PROVENANCES.find((p) => p === steps?.provenance) ?? 'measured',
    stepMs: { p50: numberOf(steps, 'p50'), p95: numberOf(steps, 'p95') },
    ...(steps?.in_turn === true
      ? { deviceStepMs: { p50: numberOf(steps, 'device_p50'), p95: numberOf(steps, 'device_p95') } }
      : {}),
    ...observerCost(steps),
    ...(kernels === undefined ? {} : { kernelTrace: kernels }),
    ...draftTokens(allSteps),
    stages: await stageTimes(connection, bundle),
    check: {
      checkedRows: numberOf(allSteps, 'checked'),
      maxAbsErr: errorOf(allSteps, 'abs_err'),
      maxRelErr,
      nanRows: numberOf(rows, 'nan_rows'),
      emptyRows: numberOf(rows, 'empty_rows'),
      tolerance,
      ok: numberOf(nanMerged, 'n') === 0 && (maxRelErr === null || maxRelErr <= tolerance),
    },
    dropped,
  }
}

/** What recording kernels did to the steps in which CUPTI was on; undefined where there are none. */
const kernelTrace = async (
  connection: DuckDBConnection,
  bundle: string,
): Promise<RunSummary['kernelTrace']> => {
  const [steps] = await plainRows(
    connection,
    `SELECT count_if(kernel_trace) AS recorded, count(*) AS n,
       quantile_cont(device_ns, 0.5) FILTER (WHERE kernel_trace) / 1e3 AS recorded_us,
       quantile_cont(device_ns, 0.5) FILTER (WHERE kernel_trace IS NOT TRUE) / 1e3 AS plain_us
     FROM ${relation(bundle, 'steps')}`,
  )
  const recorded = numberOf(steps, 'recorded')
  if (recorded === 0) return undefined
  const [kernels] = await plainRows(connection, `SELECT count(*) AS n FROM ${relation(bundle, 'kernels')}`)
  const counted = recorded === numberOf(steps, 'n')
  return {
    steps: recorded,
    kernels: numberOf(kernels, 'n'),
    recordedUs: numberOf(steps, 'recorded_us'),
    ...(counted ? {} : { plainUs: numberOf(steps, 'plain_us') }),
    counted,
  }
}

/** null when nothing was checked. */
const errorOf = (row: PlainRow | undefined, name: string): number | null => {
  const value = row?.[name]
  return typeof value === 'number' ? jsonNumber(value) : null
}

/** What became of the draft's tokens; nothing where none was judged. */
const draftTokens = (row: PlainRow | undefined): Pick<RunSummary, 'draft'> => {
  const [proposed, accepted] = [numberOf(row, 'proposed'), numberOf(row, 'accepted')]
  return proposed > 0 ? { draft: { proposed, accepted, tolerance: DRAFT_TOLERANCE } } : {}
}

/** What tracing costs, from the steps that ran in both ways; nothing where none did. */
const observerCost = (row: PlainRow | undefined): Pick<RunSummary, 'observerCost'> => {
  const [tracedUs, untracedUs] = [numberOf(row, 'traced'), numberOf(row, 'untraced')]
  return untracedUs > 0 ? { observerCost: { tracedUs, untracedUs, ratio: tracedUs / untracedUs } } : {}
}

const stageTimes = async (connection: DuckDBConnection, bundle: string): Promise<RunSummary['stages']> => {
  const rows = await plainRows(
    connection,
    `SELECT stage, quantile_cont(dur_ns, 0.5) / 1e3 AS p50, quantile_cont(dur_ns, 0.95) / 1e3 AS p95,
       mode(provenance) FILTER (WHERE provenance <> 'measured') AS source
     FROM ${relation(bundle, 'spans')} WHERE ${countedSpans(bundle)} GROUP BY stage`,
  )
  return Object.fromEntries(
    STAGES.flatMap((stage) => {
      const row = rows.find((r) => r.stage === stage)
      if (row === undefined) return []
      const source = PROVENANCES.find((p) => p === row.source)
      const times = { p50Us: numberOf(row, 'p50'), p95Us: numberOf(row, 'p95') }
      return [[stage, source === undefined ? times : { ...times, provenance: source }]]
    }),
  )
}
