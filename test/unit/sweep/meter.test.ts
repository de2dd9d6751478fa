import { describe, expect, it } from 'vitest'
import { Meter } from '../../../app/sweep/meter.ts'
import {
  measuredRow,
  type PointRow,
  pointRowOf,
  pointsChunk,
  predictedRow,
} from '../../../app/sweep/point-rows.ts'
import { PROVENANCES, STAGES, type Stage } from '../../../app/trace/stages.ts'
import { TABLES, type TraceChunk } from '../../../app/trace/tables.ts'
import { checkChunk } from '../../../main/store/chunk-check.ts'
import { onePoint, row, single } from './sample.ts'

type Span = readonly [step: number, stage: Stage, durUs: number, waitUs?: number]

const spans = (rank: number, all: readonly Span[]): TraceChunk => ({
  table: 'spans',
  rank,
  rows: all.length,
  columns: {
    step: Int32Array.from(all, ([step]) => step),
    layer: Int32Array.from(all, ([, stage]) => (stage === 'metadata' ? -1 : 0)),
    stage: Uint8Array.from(all, ([, stage]) => STAGES.indexOf(stage)),
    dur_ns: BigInt64Array.from(all, ([, , us]) => BigInt(us * 1000)),
    enter_ns: BigInt64Array.from(all, ([, , , wait]) => (wait === undefined ? -1n : 5000n)),
    last_enter_ns: BigInt64Array.from(all, ([, , , wait = 0]) => BigInt(5000 + wait * 1000)),
    bytes: BigInt64Array.from(all, () => 64n),
    flops: BigInt64Array.from(all, () => 128n),
  },
})

const steps = (wallUs: readonly number[], rates: readonly number[]): TraceChunk => ({
  table: 'steps',
  rank: -1,
  rows: wallUs.length,
  columns: {
    wall_ns: BigInt64Array.from(wallUs, (us) => BigInt(us * 1000)),
    tokens: Int32Array.from(wallUs, () => 4),
    tokens_per_s: Float64Array.from(rates),
    provenance: new Uint8Array(wallUs.length).fill(PROVENANCES.indexOf('scaled')),
  },
})

describe('a meter', () => {
  it('tells attention, transfer and waiting apart, a step of one rank', () => {
    const meter = new Meter(2)
    for (const rank of [0, 1])
      meter.add(
        spans(rank, [
          [0, 'graph_replay', 900],
          [0, 'decode_attn', 100],
          [0, 'split_combine', 20],
          [0, 'lse_all_gather', 50, rank === 0 ? 40 : 0],
          [0, 'lse_correct', 5],
          [1, 'decode_attn', 140],
          [1, 'lse_all_gather', 30, 0],
        ]),
      )
    meter.add(steps([200, 180], [1000, 3000]))
    const result = meter.result()
    expect(result).toMatchObject({ steps: 2, provenance: 'scaled' })
    // Of the whole model: 4 and 4/3 ms.
    expect(result?.stepMs.p50).toBeCloseTo(8 / 3, 9)
    // 120 and 140 us; (10 + 50) / 2 and 30; 40 / 2 and 0.
    expect(result?.attnMs).toBeCloseTo(0.13, 9)
    expect(result?.commMs).toBeCloseTo(0.03, 9)
    expect(result?.waitMs).toBeCloseTo(0.01, 9)
    // 8 tokens in 4/1000 + 4/3000 s.
    expect(result?.tokensPerSecond).toBeCloseTo(1500, 6)
    expect(result?.stages.lse_all_gather).toEqual({ us: 30, bytes: 64, flops: 128 })
    expect(result?.stages.graph_replay).toBeUndefined()
  })

  it('takes a merge that waits for its peers for transfer, and one of what has come not', () => {
    const meter = new Meter(1)
    meter.add(
      spans(0, [
        [0, 'decode_attn', 100],
        [0, 'merge', 50, 20],
        [0, 'merge', 7],
      ]),
    )
    meter.add(steps([200], [1000]))
    expect(meter.result()).toMatchObject({ commMs: 0.03, waitMs: 0.02 })
  })

  it('tells the metadata of a layer, which sparse attention has, from those of the step', () => {
    const meter = new Meter(1)
    const { columns, ...rest } = spans(0, [
      [0, 'metadata', 4],
      [0, 'metadata', 30],
      [0, 'metadata', 50],
    ])
    meter.add({ ...rest, columns: { ...columns, layer: Int32Array.of(-1, 0, 1) } })
    meter.add(steps([200], [1000]))
    expect(meter.result()?.stages).toMatchObject({ metadata: { us: 4 }, layer_metadata: { us: 40 } })
  })

  it('has no result without a whole step', () => {
    const meter = new Meter(1)
    meter.add(spans(0, [[0, 'decode_attn', 100]]))
    expect(meter.result()).toBeUndefined()
  })
})

const numbers = {
  steps: 8,
  tokensPerSecond: 123,
  provenance: 'scaled' as const,
  stepMs: { p50: 2, p95: 3 },
  attnMs: 1,
  commMs: 0.5,
  waitMs: 0.25,
  stages: {},
}

/** What a reader of Parquet finds for a row of a chunk. */
const stored = (chunk: TraceChunk, i: number): PointRow =>
  pointRowOf(
    Object.fromEntries(
      TABLES.points.columns.map(({ name, type, none }) => {
        const value = chunk.columns[name]?.[i]
        if (type === 'provenance') return [name, PROVENANCES[Number(value)] ?? null]
        if (type === 'bool') return [name, value === 1]
        if (typeof value === 'string') return [name, value]
        const number = Number(value)
        return [name, Object.is(number, none) || number === none ? null : number]
      }),
    ),
  )

describe('rows of points', () => {
  const point = onePoint(single({ concurrency: [100_000 % 4096], memory: { bytes: 100e9, weightBytes: 0 } }))
  const labels = { gpu: 'NVIDIA H200', model: 'deepseek-v3' }

  it('stand for the whole model and say how many layers were computed', () => {
    const measured = measuredRow(point, labels, 1, numbers, undefined)
    expect(measured).toMatchObject({
      key: point.key,
      provenance: 'scaled',
      transport: 'local',
      repeat: 1,
      world: 8,
      dcp: 8,
      tokensPerSecond: 123,
      stepMsP50: 2,
      stepMsP95: 3,
      attnMs: 61,
      layersMeasured: 1,
      limit: '',
      batch: point.batch,
      capacityLimited: true,
    })
    expect(measured.batch).toBeLessThan(measured.concurrency)
  })

  it('make a chunk that the store takes and that gives them back', () => {
    const prediction = {
      tokensPerSecond: 5,
      stepMs: 6,
      attnMs: 3,
      commMs: 2,
      partsMs: { hbm: 1, matrix: 2, transport: 2, launch: 1 },
      limit: 'matrix' as const,
      transport: 'model' as const,
    }
    const rows = [
      measuredRow(point, labels, 0, numbers, prediction),
      predictedRow(point, labels, prediction),
      row({ comm: 'ag_rs', capacityTokens: 2 ** 40 }),
    ]
    const chunk = pointsChunk(rows)
    checkChunk(chunk, 0)
    expect(rows.map((_, i) => stored(chunk, i))).toEqual(rows)
    expect(rows[1]).toMatchObject({
      provenance: 'predicted',
      repeat: -1,
      layersMeasured: -1,
      limit: 'matrix',
    })
  })
})
