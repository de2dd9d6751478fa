import type { DuckDBConnection } from '@duckdb/node-api'
import type { StoreResult } from '../../app/protocol/store.ts'
import type { Part } from './bundle-files.ts'
import { readColumns } from './duck.ts'
import { relationOf } from './sources.ts'
import type { StepRange } from './step-blocks.ts'

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
