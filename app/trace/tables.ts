/**
 * The tables of a run bundle. One list of columns serves the native trace, the Parquet writer, queries
 * and documentation. `rank` of a partitioned table stands in the path only
 * (`spans/rank=3/part-000001.parquet`).
 */
export const TABLE_NAMES = ['spans', 'kernels', 'rows', 'pages', 'steps', 'events', 'points'] as const
export type TableName = (typeof TABLE_NAMES)[number]

/** `stage`, `provenance`, `kind`, `severity` travel as codes (uint8, see stages.ts) and are stored as text. */
export type ColumnType =
  | 'i32'
  | 'i64'
  | 'f64'
  | 'f32'
  | 'bool'
  | 'text'
  | 'stage'
  | 'provenance'
  | 'kind'
  | 'severity'

export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly unit?: string
  /** A value that stands for "none" while the column travels as a typed array; stored as NULL. */
  readonly none?: number
  /** Format version that brought the column, where it was not the first: NULL in older bundles. */
  readonly since?: number
  readonly doc: string
}

export interface Table {
  readonly name: TableName
  readonly perRank: boolean
  readonly columns: readonly Column[]
}

const column = (
  name: string,
  type: ColumnType,
  doc: string,
  more: { unit?: string; none?: number; since?: number } = {},
): Column => ({
  name,
  type,
  doc,
  ...more,
})

const step = column('step', 'i32', 'Traced step, from 0.')
const layer = column('layer', 'i32', 'Layer, from 0; -1 where a stage belongs to the whole step.')
const request = column('request', 'i32', 'Request of the batch, from 0.')

export const TABLES: Readonly<Record<TableName, Table>> = {
  spans: {
    name: 'spans',
    perRank: true,
    columns: [
      step,
      layer,
      column('stage', 'stage', 'Stage, see stages.ts.'),
      column('stream', 'i32', 'Stream or lane within the rank.'),
      column('start_ns', 'i64', 'Start on the clock of the run.', { unit: 'ns' }),
      column('dur_ns', 'i64', 'Duration.', { unit: 'ns' }),
      column('bytes', 'i64', 'Bytes read, or received by a collective.', { unit: 'bytes' }),
      column('flops', 'i64', 'Floating-point operations.'),
      column('collective_seq', 'i32', 'Number of the collective in the run, the same on all ranks.', {
        none: -1,
      }),
      column('enter_ns', 'i64', 'When this rank entered the collective.', { unit: 'ns', none: -1 }),
      column('last_enter_ns', 'i64', 'When the last rank entered it: waiting = last_enter_ns - enter_ns.', {
        unit: 'ns',
        none: -1,
      }),
      column('provenance', 'provenance', 'Where the duration comes from.'),
    ],
  },
  kernels: {
    name: 'kernels',
    perRank: true,
    columns: [
      step,
      layer,
      column('stage', 'stage', 'Stage that launched it.'),
      column(
        'name',
        'text',
        'Name of the kernel with its parameters; memcpy or memset for copies and fills.',
      ),
      column('start_ns', 'i64', 'Start in the lane of the rank, on the clock of the run.', { unit: 'ns' }),
      column('dur_ns', 'i64', 'Duration on the device, with CUPTI on.', { unit: 'ns' }),
      column('bytes', 'i64', 'Bytes of a copy or fill.', { unit: 'bytes', none: -1 }),
      column('grid_x', 'i32', 'Blocks of the grid.', { none: 0 }),
      column('grid_y', 'i32', 'Likewise.', { none: 0 }),
      column('grid_z', 'i32', 'Likewise.', { none: 0 }),
      column('block_x', 'i32', 'Threads of a block.', { none: 0 }),
      column('block_y', 'i32', 'Likewise.', { none: 0 }),
      column('block_z', 'i32', 'Likewise.', { none: 0 }),
      column('registers', 'i32', 'Registers of a thread.', { none: -1 }),
      column('shared_bytes', 'i32', 'Shared memory of a block, static and dynamic.', {
        unit: 'bytes',
        none: -1,
      }),
      column('stream', 'i32', 'Number that CUPTI gives the stream.'),
      column('graph', 'bool', 'Launched by the replay of a graph.'),
      column('provenance', 'provenance', 'Where the duration comes from.'),
    ],
  },
  rows: {
    name: 'rows',
    perRank: true,
    columns: [
      step,
      layer,
      request,
      column('q_index', 'i32', 'Query row within the request, from 0.'),
      column('global_len', 'i32', 'Global length including the newest token.', { unit: 'tokens' }),
      column('local_len', 'i32', 'Keys of the request that this rank holds.', { unit: 'tokens' }),
      column('visible_keys', 'i32', 'Keys that this row may see on this rank.', { unit: 'tokens' }),
      column('empty', 'bool', 'No visible key: the partial must be neutral.'),
      column('out_nan', 'i32', 'NaN values in the partial, over all heads, as the kernel returned it.'),
      column('out_inf', 'i32', 'Infinite values in the partial, likewise.'),
      column('out_absmax', 'f32', 'Largest finite magnitude in the partial.'),
      column('lse_nan', 'i32', 'Heads whose lse is NaN.'),
      column('lse_min', 'f32', 'Least lse over the heads (NaN left out).'),
      column('lse_max', 'f32', 'Largest lse over the heads (NaN left out).'),
    ],
  },
  pages: {
    name: 'pages',
    perRank: true,
    columns: [
      step,
      request,
      column('column', 'i32', 'Column of the block table: the virtual page.'),
      column('page', 'i32', 'Physical page.'),
      column('valid', 'i32', 'Tokens of this page that the rank holds at this step.', { unit: 'tokens' }),
    ],
  },
  steps: {
    name: 'steps',
    perRank: false,
    columns: [
      step,
      column('start_ns', 'i64', 'Start on the clock of the run.', { unit: 'ns' }),
      column('wall_ns', 'i64', 'From the start to the end of the last rank.', { unit: 'ns' }),
      column('device_ns', 'i64', 'Time of the device for all ranks.', { unit: 'ns' }),
      column('untraced_ns', 'i64', 'Time of the device for the same step with tracing off.', {
        unit: 'ns',
        none: -1,
        since: 2,
      }),
      column('tokens', 'i32', 'Accepted tokens over the batch.', { unit: 'tokens' }),
      column('tokens_per_s', 'f64', 'Accepted tokens by time, for the whole model.', { unit: 'tokens/s' }),
      column(
        'max_abs_err',
        'f64',
        'Largest absolute error against the reference; NULL when nothing was checked.',
        { none: Number.NaN },
      ),
      column('max_rel_err', 'f64', 'Largest relative error of one (row, head).', { none: Number.NaN }),
      column('checked_rows', 'i32', '(row, head) pairs compared with the reference.'),
      column('graph_replayed', 'bool', 'The step was a graph replay.'),
      column(
        'kernel_trace',
        'bool',
        'CUPTI was on, which makes a step slower. NULL in bundles before version 3.',
        {
          since: 3,
        },
      ),
      column(
        'draft_proposed',
        'i32',
        'Tokens that the draft proposed. NULL where there is none, or nothing was checked.',
        {
          unit: 'tokens',
          none: -1,
          since: 5,
        },
      ),
      column(
        'draft_accepted',
        'i32',
        'Those of them that count as accepted, by a proxy: the output of the draft is within 1e-2 of its reference.',
        {
          unit: 'tokens',
          none: -1,
          since: 5,
        },
      ),
      column('provenance', 'provenance', 'Where wall_ns and tokens_per_s come from.'),
    ],
  },
  events: {
    name: 'events',
    perRank: false,
    columns: [
      step,
      layer,
      column('rank', 'i32', 'Rank, NULL for all.', { none: -1 }),
      column('request', 'i32', 'Request, NULL for all.', { none: -1 }),
      column('time_ns', 'i64', 'Time on the clock of the run.', { unit: 'ns' }),
      column('kind', 'kind', 'What happened, see stages.ts.'),
      column('severity', 'severity', 'info, warning or error.'),
      column('message', 'text', 'One sentence.'),
      column('detail', 'text', 'JSON object with the numbers behind the sentence.'),
    ],
  },
  points: {
    name: 'points',
    perRank: false,
    columns: [
      column(
        'key',
        'text',
        'Combination of the sweep: measured and predicted rows of one point have the same.',
      ),
      column('source', 'text', 'ours, or a file, or an address.'),
      column('provenance', 'provenance', 'Where the point comes from.'),
      column(
        'transport',
        'text',
        'How ranks met: local (as on the measuring machine, by copies where ranks share a GPU), or by timings of a table or a model.',
      ),
      column('repeat', 'i32', 'Repetition, from 0.', { none: -1 }),
      column('gpu', 'text', 'Device.'),
      column('model', 'text', 'Model.'),
      column('mode', 'text', 'dcp or tp.'),
      column('world', 'i32', 'Ranks of the TP group.'),
      column('dcp', 'i32', 'dcp size.'),
      column('interleave', 'i32', 'Interleave.', { unit: 'tokens' }),
      column('comm', 'text', 'Exchange of partials; none in tp mode.'),
      column('wire_dtype', 'text', 'Type on the wire.'),
      column('kv_dtype', 'text', 'Type of the cache.'),
      column('graph', 'bool', 'Graph replay.'),
      column('q_len', 'i32', 'Query tokens a request.', { unit: 'tokens' }),
      column('context', 'i32', 'Context.', { unit: 'tokens' }),
      column('concurrency', 'i32', 'Requests that are asked for.'),
      column('batch', 'i32', 'Requests that run at once: the concurrency, or what the KV pool holds of it.'),
      column('layers_measured', 'i32', 'Layers that were computed.', { none: -1 }),
      column('tokens_per_s', 'f64', 'Accepted tokens by time, for the whole model.', { unit: 'tokens/s' }),
      column('step_ms_p50', 'f64', 'Median step of the whole model.', { unit: 'ms' }),
      column('step_ms_p95', 'f64', '95th percentile of the steps.', { unit: 'ms', none: Number.NaN }),
      column('attn_ms', 'f64', 'Attention of a rank, a step.', { unit: 'ms' }),
      column('comm_ms', 'f64', 'Transfer of a rank, a step.', { unit: 'ms' }),
      column('wait_ms', 'f64', 'Waiting of a rank in collectives, a step.', { unit: 'ms' }),
      column(
        'limit',
        'text',
        'Largest part of the step by the cost model: hbm, matrix, transport, launch; empty where it says nothing.',
      ),
      column('kv_capacity_tokens', 'i64', 'Tokens that the KV pools of a DCP group hold.', {
        unit: 'tokens',
      }),
      column('capacity_limited', 'bool', 'The pool holds fewer requests than are asked for.'),
    ],
  },
}

/** Typed array that carries a column between native engine, engine host and store. */
export type ColumnData =
  | Int32Array
  | BigInt64Array
  | Float64Array
  | Float32Array
  | Uint8Array
  | readonly string[]

/** Rows of one table as struct of arrays; `rank` is -1 for tables that are not per rank. */
export interface TraceChunk {
  readonly table: TableName
  readonly rank: number
  readonly rows: number
  readonly columns: Readonly<Record<string, ColumnData>>
}
