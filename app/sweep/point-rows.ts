import { measuredLayers } from '../run/shape.ts'
import { PROVENANCES, type Provenance } from '../trace/stages.ts'
import type { ColumnData, TraceChunk } from '../trace/tables.ts'
import { LIMITS, type Limit, type Prediction, TRANSPORTS, type Transport } from './cost.ts'
import type { SweepPoint } from './expand.ts'
import type { RunMeter } from './meter.ts'

/** A row of the table `points`, see tables.ts for units. */
export interface PointRow {
  readonly key: string
  readonly source: string
  readonly provenance: Provenance
  readonly transport: Transport
  /** -1: a row of no repetition. */
  readonly repeat: number
  readonly gpu: string
  readonly model: string
  readonly mode: string
  readonly world: number
  readonly dcp: number
  readonly interleave: number
  readonly comm: string
  readonly wireDtype: string
  readonly kvDtype: string
  readonly graph: boolean
  readonly qLen: number
  readonly context: number
  readonly concurrency: number
  readonly batch: number
  /** -1: none were. */
  readonly layersMeasured: number
  readonly tokensPerSecond: number
  readonly stepMsP50: number
  /** NaN: not known. */
  readonly stepMsP95: number
  readonly attnMs: number
  readonly commMs: number
  readonly waitMs: number
  readonly limit: Limit | ''
  readonly capacityTokens: number
  readonly capacityLimited: boolean
}

type Numbers = Pick<
  PointRow,
  | 'provenance'
  | 'transport'
  | 'repeat'
  | 'layersMeasured'
  | 'tokensPerSecond'
  | 'stepMsP50'
  | 'stepMsP95'
  | 'attnMs'
  | 'commMs'
  | 'waitMs'
  | 'limit'
>

/** What names the points of a sweep beside their lists. */
export interface SweepLabels {
  readonly gpu: string
  readonly model: string
}

const rowOf = (point: SweepPoint, labels: SweepLabels, numbers: Numbers): PointRow => ({
  key: point.key,
  source: 'ours',
  ...labels,
  mode: point.mode,
  world: point.run.parallel.tpSize,
  dcp: point.dcp,
  interleave: point.run.parallel.interleave,
  comm: point.comm,
  wireDtype: point.run.parallel.wireDtype,
  kvDtype: point.kvDtype,
  graph: point.run.engine.graph,
  qLen: point.qLen,
  context: point.context,
  concurrency: point.concurrency,
  batch: point.batch,
  capacityTokens: point.capacityTokens,
  capacityLimited: point.capacityLimited,
  ...numbers,
})

/** A repetition as it was measured; `prediction` says what limits it. Times are of the whole model. */
export const measuredRow = (
  point: SweepPoint,
  labels: SweepLabels,
  repeat: number,
  meter: RunMeter,
  prediction: Prediction | undefined,
): PointRow => {
  const layers = point.run.model.layers / measuredLayers(point.run)
  return rowOf(point, labels, {
    provenance: meter.provenance,
    transport: 'local',
    repeat,
    layersMeasured: measuredLayers(point.run),
    tokensPerSecond: meter.tokensPerSecond,
    stepMsP50: meter.stepMs.p50,
    stepMsP95: meter.stepMs.p95,
    attnMs: meter.attnMs * layers,
    commMs: meter.commMs * layers,
    waitMs: meter.waitMs * layers,
    limit: prediction?.limit ?? '',
  })
}

export const predictedRow = (point: SweepPoint, labels: SweepLabels, prediction: Prediction): PointRow =>
  rowOf(point, labels, {
    provenance: 'predicted',
    transport: prediction.transport,
    repeat: -1,
    layersMeasured: -1,
    tokensPerSecond: prediction.tokensPerSecond,
    stepMsP50: prediction.stepMs,
    stepMsP95: Number.NaN,
    attnMs: prediction.attnMs,
    commMs: prediction.commMs,
    waitMs: 0,
    limit: prediction.limit,
  })

/** Rows as a chunk of `points`. */
export const pointsChunk = (rows: readonly PointRow[]): TraceChunk => {
  const text = (of: (row: PointRow) => string): string[] => rows.map(of)
  const i32 = (of: (row: PointRow) => number): Int32Array => Int32Array.from(rows, of)
  const f64 = (of: (row: PointRow) => number): Float64Array => Float64Array.from(rows, of)
  const bool = (of: (row: PointRow) => boolean): Uint8Array => Uint8Array.from(rows, (row) => Number(of(row)))
  const columns: Record<string, ColumnData> = {
    key: text((row) => row.key),
    source: text((row) => row.source),
    provenance: Uint8Array.from(rows, (row) => PROVENANCES.indexOf(row.provenance)),
    transport: text((row) => row.transport),
    repeat: i32((row) => row.repeat),
    gpu: text((row) => row.gpu),
    model: text((row) => row.model),
    mode: text((row) => row.mode),
    world: i32((row) => row.world),
    dcp: i32((row) => row.dcp),
    interleave: i32((row) => row.interleave),
    comm: text((row) => row.comm),
    wire_dtype: text((row) => row.wireDtype),
    kv_dtype: text((row) => row.kvDtype),
    graph: bool((row) => row.graph),
    q_len: i32((row) => row.qLen),
    context: i32((row) => row.context),
    concurrency: i32((row) => row.concurrency),
    batch: i32((row) => row.batch),
    layers_measured: i32((row) => row.layersMeasured),
    tokens_per_s: f64((row) => row.tokensPerSecond),
    step_ms_p50: f64((row) => row.stepMsP50),
    step_ms_p95: f64((row) => row.stepMsP95),
    attn_ms: f64((row) => row.attnMs),
    comm_ms: f64((row) => row.commMs),
    wait_ms: f64((row) => row.waitMs),
    limit: text((row) => row.limit),
    kv_capacity_tokens: BigInt64Array.from(rows, (row) => BigInt(row.capacityTokens)),
    capacity_limited: bool((row) => row.capacityLimited),
  }
  return { table: 'points', rank: -1, rows: rows.length, columns }
}

export type PlainRow = Readonly<Record<string, number | string | boolean | null>>

/** A row of the table as a reader of the bundle finds it; what is NULL there is what stands for none here. */
export const pointRowOf = (row: PlainRow): PointRow => {
  const number = (name: string, none = 0): number => {
    const value = row[name]
    return typeof value === 'number' ? value : none
  }
  const text = (name: string): string => String(row[name] ?? '')
  return {
    key: text('key'),
    source: text('source'),
    provenance: PROVENANCES.find((known) => known === row.provenance) ?? 'imported',
    transport: TRANSPORTS.find((known) => known === row.transport) ?? 'local',
    repeat: number('repeat', -1),
    gpu: text('gpu'),
    model: text('model'),
    mode: text('mode'),
    world: number('world'),
    dcp: number('dcp'),
    interleave: number('interleave'),
    comm: text('comm'),
    wireDtype: text('wire_dtype'),
    kvDtype: text('kv_dtype'),
    graph: row.graph === true,
    qLen: number('q_len'),
    context: number('context'),
    concurrency: number('concurrency'),
    batch: number('batch'),
    layersMeasured: number('layers_measured', -1),
    tokensPerSecond: number('tokens_per_s'),
    stepMsP50: number('step_ms_p50'),
    stepMsP95: number('step_ms_p95', Number.NaN),
    attnMs: number('attn_ms'),
    commMs: number('comm_ms'),
    waitMs: number('wait_ms'),
    limit: LIMITS.find((known) => known === row.limit) ?? '',
    capacityTokens: number('kv_capacity_tokens'),
    capacityLimited: row.capacity_limited === true,
  }
}
