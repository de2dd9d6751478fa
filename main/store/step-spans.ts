import type { DuckDBConnection } from '@duckdb/node-api'
import type { StoreParams, StoreResult } from '../../app/protocol/store.ts'
import { criticalPath, PATH_KINDS } from '../../app/trace/critical-path.ts'
import { OUTER_STAGES, PROVENANCES } from '../../app/trace/stages.ts'
import { rankBalances, type StepKernel, slowestRank } from '../../app/trace/step-balance.ts'
import type { StepSpan } from '../../app/trace/step-spans.ts'
import type { Part } from './bundle-files.ts'
import { numberOf, plainRows, readColumns, sqlText } from './duck.ts'
import { StoreProblem } from './problem.ts'
import { relation, relationOf } from './sources.ts'

/** Spans and kernels of one step that are looked at: more than 64 ranks of any model have. */
const MOST = 400_000

interface LoadedSpans {
  readonly spans: readonly StepSpan[]
  /** Bit n: some come from PROVENANCES[n]. */
  readonly sources: number
}

/** Spans of a step, or of one collective in it, by rank and start; none of those that contain others. `parts` have them. */
const loadSpans = async (
  connection: DuckDBConnection,
  parts: readonly Part[],
  step: number,
  collective: number | null,
): Promise<LoadedSpans> => {
  const found = await readColumns(
    connection,
    `SELECT rank::INTEGER AS rank, enum_code(stage::stage)::UTINYINT AS stage, layer::INTEGER AS layer,
       start_ns::DOUBLE AS start, (start_ns + dur_ns)::DOUBLE AS stop,
       coalesce(collective_seq, -1)::INTEGER AS collective,
       coalesce(enter_ns, start_ns)::DOUBLE AS enter, coalesce(last_enter_ns, start_ns)::DOUBLE AS last_enter,
       (1 << enum_code(provenance::provenance))::UTINYINT AS source
     FROM ${relationOf('spans', parts)}
     WHERE step = ${step} AND stage NOT IN (${OUTER_STAGES.map(sqlText).join(', ')})
       ${collective === null ? '' : `AND collective_seq = ${collective}`}
     ORDER BY rank, start, stop LIMIT ${MOST + 1}`,
  )
  if (found.rows > MOST) throw new StoreProblem(`step ${step} has more spans than are looked at, ${MOST}`)
  const [rank, stage, layer] = [found.i32('rank'), found.u8('stage'), found.i32('layer')]
  const [start, stop] = [found.f64('start'), found.f64('stop')]
  const [number, enter, lastEnter] = [found.i32('collective'), found.f64('enter'), found.f64('last_enter')]
  const spans = Array.from(
    rank,
    (of, i): StepSpan => ({
      rank: of,
      stage: stage[i] ?? 0,
      layer: layer[i] ?? -1,
      startNs: start[i] ?? 0,
      endNs: stop[i] ?? 0,
      collective: number[i] ?? -1,
      enterNs: enter[i] ?? 0,
      lastEnterNs: lastEnter[i] ?? 0,
    }),
  )
  return { spans, sources: found.u8('source').reduce((bits, bit) => bits | bit, 0) }
}

const loadKernels = async (
  connection: DuckDBConnection,
  parts: readonly Part[],
  step: number,
): Promise<readonly StepKernel[]> => {
  const found = await readColumns(
    connection,
    `SELECT rank::INTEGER AS rank, enum_code(stage::stage)::UTINYINT AS stage,
       start_ns::DOUBLE AS start, (start_ns + dur_ns)::DOUBLE AS stop
     FROM ${relationOf('kernels', parts)} WHERE step = ${step} LIMIT ${MOST}`,
  )
  const [stage, start, stop] = [found.u8('stage'), found.f64('start'), found.f64('stop')]
  return Array.from(found.i32('rank'), (rank, i) => ({
    rank,
    stage: stage[i] ?? 0,
    startNs: start[i] ?? 0,
    endNs: stop[i] ?? 0,
  }))
}

/** See `stepPath` in app/protocol/store.ts. */
export const stepPath = async (
  connection: DuckDBConnection,
  parts: { readonly spans: readonly Part[]; readonly kernels: readonly Part[] },
  { step }: Omit<StoreParams<'stepPath'>, 'run'>,
): Promise<StoreResult<'stepPath'>> => {
  const { spans, sources } = await loadSpans(connection, parts.spans, step, null)
  const kernels = await loadKernels(connection, parts.kernels, step)
  const path = criticalPath(spans)
  const ranks = rankBalances(spans, path, kernels)
  return {
    path: {
      rank: Int32Array.from(path, ({ rank }) => rank),
      stage: Int32Array.from(path, ({ stage }) => stage),
      layer: Int32Array.from(path, ({ layer }) => layer),
      kind: Uint8Array.from(path, ({ kind }) => PATH_KINDS.indexOf(kind)),
      start: Float64Array.from(path, ({ startNs }) => startNs),
      end: Float64Array.from(path, ({ endNs }) => endNs),
    },
    ranks: [...ranks],
    slowest: slowestRank(spans, ranks),
    sources: PROVENANCES.filter((_, n) => (sources & (1 << n)) !== 0),
  }
}

/** See `collective` in app/protocol/store.ts. */
export const collective = async (
  connection: DuckDBConnection,
  parts: readonly Part[],
  { step, number }: Omit<StoreParams<'collective'>, 'run'>,
): Promise<StoreResult<'collective'>> => {
  const { spans } = await loadSpans(connection, parts, step, number)
  return spans.map(({ collective: _, ...span }) => span)
}

/** See `longestStep` in app/protocol/store.ts. */
export const longestStep = async (
  connection: DuckDBConnection,
  bundle: string,
): Promise<StoreResult<'longestStep'>> => {
  const rows = await plainRows(
    connection,
    `SELECT step FROM ${relation(bundle, 'steps')} ORDER BY kernel_trace IS TRUE, wall_ns DESC, step LIMIT 1`,
  )
  return rows.length === 0 ? null : numberOf(rows[0], 'step')
}
