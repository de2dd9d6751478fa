import { describe, expect, it } from 'vitest'
import { engineConfig } from '../../app/run/engine-config.ts'
import { attentionWork, stageBytes } from '../../app/sweep/cost.ts'
import { expand, type SweepPoint } from '../../app/sweep/expand.ts'
import { METERED_STAGES, Meter, type MeteredStage } from '../../app/sweep/meter.ts'
import { parseSweepConfig } from '../../app/sweep/parse.ts'
import { completeChunk } from '../../main/engine/chunks.ts'
import { finish } from './engine.ts'

const LISTS = {
  base: {
    model: { heads: 8, kvLoraRank: 64, ropeDim: 16, layers: 2, measuredLayers: 2 },
    parallel: { tpSize: 4 },
    cache: { pageSize: 8 },
  },
  mode: ['tp', 'dcp'],
  dcp: [2, 4],
  comm: ['ag_rs', 'a2a'],
  kvDtype: ['fp32', 'bf16', 'fp8'],
  qLen: [1, 2],
  context: [320],
  concurrency: [3],
  steps: 3,
  memory: { bytes: 1e12 },
}

/** Keys of sparse attention, which are chosen anew in every layer. */
const SPARSE = {
  ...LISTS,
  base: { ...LISTS.base, workload: { topk: 64 } },
  dcp: [4],
  comm: ['a2a'],
  kvDtype: ['bf16'],
}

const points = (lists: object): readonly SweepPoint[] => {
  const parsed = parseSweepConfig(lists)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return expand(parsed.config, { device: 'cpu', memoryBytes: 1e12 }).points
}

/** Stages whose bytes depend on what is drawn or on which rank a token falls to, and are small. */
const UNEVEN: readonly MeteredStage[] = ['metadata', 'kv_append', 'neutralize']

describe('the bytes and operations that the cost model counts', () => {
  it.each(
    [LISTS, SPARSE].flatMap((lists) =>
      points(lists).map((point) => [point.key, point.run.workload.topk ?? 'all', point] as const),
    ),
  )('are those of the engine in %s with %s keys', async (_, keys, point) => {
    const { run } = point
    const { chunks } = await finish(engineConfig(run, 'cpu'))
    const meter = new Meter(run.parallel.dcpSize)
    for (const chunk of chunks)
      meter.add(completeChunk(chunk, { measuredLayers: 2, layers: 2, sharing: 'none' }))
    const stages = meter.result()?.stages ?? {}
    const work = attentionWork(run)
    expect(stages.layer_metadata === undefined).toBe(keys === 'all')
    expect((stages.decode_attn?.bytes ?? 0) / work.bytes).toBeCloseTo(1, 1)
    expect((stages.decode_attn?.flops ?? 0) / work.flops).toBeCloseTo(1, 1)
    for (const stage of METERED_STAGES) {
      const measured = stages[stage]
      if (measured === undefined || measured.bytes === 0 || UNEVEN.includes(stage)) continue
      if (stage === 'decode_attn' || stage === 'split_combine') continue
      expect(stageBytes(stage, run) / measured.bytes, stage).toBeCloseTo(1, 6)
    }
  })
})
