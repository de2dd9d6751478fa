import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, it } from 'vitest'
import { type Progress, storeMethods, storeReplySchema } from '../../../app/protocol/store.ts'
import { STAGES } from '../../../app/trace/stages.ts'
import { portPair } from '../../../main/process/port.ts'
import { readManifest } from '../../../main/store/manifest-file.ts'
import type { Store } from '../../../main/store/store.ts'
import { freshStore } from './fresh-store.ts'
import { fakeEngine, kernelChunk, type SampleKernel, type Scratch, spanChunk, stepChunk } from './sample.ts'

let scratch: Scratch
let store: Store
freshStore((opened, folder) => {
  store = opened
  scratch = folder
})

const bundle = (): string => join(scratch.path, 'run.dcp')
const run = 'run-1'
const ATTENTION = STAGES.indexOf('decode_attn')
const ATTEND = "void engine::attend<'a', 64>(engine::Work)"

/** Kernels of one layer of a step: attention, then a copy between devices. */
const kernelsOf = (step: number, layer: number): SampleKernel[] => {
  const start = step * 1_000_000 + layer * 100_000
  return [
    { start, dur: 60_000, name: ATTEND, stage: 'decode_attn', step, layer },
    {
      start: start + 70_000,
      dur: 5_000,
      name: 'memcpy device to device',
      stage: 'out_reduce_scatter',
      step,
      layer,
      bytes: 4096,
      provenance: 'emulated',
    },
  ]
}

/** Steps of 1 ms of which those of `recorded` had CUPTI on: attention then takes twice as long. */
const ended = async (steps: number, recorded: readonly number[]): Promise<void> => {
  const engine = fakeEngine()
  store.attachEngine(engine.storeEnd)
  engine.begin(bundle())
  for (let step = 0; step < steps; step++) {
    const kernelTrace = recorded.includes(step)
    const dur = kernelTrace ? 600_000 : 300_000
    engine.chunk(spanChunk(0, [{ start: step * 1_000_000, dur, stage: ATTENTION, step }]))
    engine.chunk(
      stepChunk(step, 1, () => step / 1000, { kernelTrace, deviceNs: kernelTrace ? 4_000_000n : 1_000_000n }),
    )
    for (const rank of kernelTrace ? [0, 1] : [])
      engine.chunk(
        kernelChunk(
          rank,
          [0, 1, 2].flatMap((layer) => kernelsOf(step, layer)),
        ),
      )
  }
  engine.end()
  await engine.reply('closed')
}

const tile = async (startNs: number, endNs: number, buckets = 64) =>
  storeMethods.spanTile.result.parse(
    await store.request('spanTile', { run, ranks: [0, 1], startNs, endNs, buckets }),
  )

describe('recorded kernels', () => {
  it('are rows of a table of their own, with NULL for what copies do not have', async () => {
    await ended(4, [3])
    const answer = await store.request('query', {
      run,
      sql: `SELECT rank, step, layer, stage, name, start_ns, dur_ns, bytes, grid_x, block_x, registers, shared_bytes, graph, provenance
        FROM kernels WHERE rank = 1 AND layer = 2 ORDER BY start_ns`,
      limit: 10,
    })
    expect(answer.rows).toEqual([
      [1, 3, 2, 'decode_attn', ATTEND, 3_200_000, 60_000, null, 132, 384, 168, 229_376, true, 'measured'],
      [
        1,
        3,
        2,
        'out_reduce_scatter',
        'memcpy device to device',
        3_270_000,
        5_000,
        4096,
        null,
        null,
        null,
        null,
        true,
        'emulated',
      ],
    ])
  })

  it('come with the tiles of the spans, single ones with their names', async () => {
    await ended(4, [3])
    const { kernels, kernelNames } = await tile(3_100_000, 3_200_000)
    expect([...kernels.rank]).toEqual([0, 0, 1, 1])
    expect([...kernels.start]).toEqual([3_100_000, 3_170_000, 3_100_000, 3_170_000])
    expect([...kernels.name].map((place) => kernelNames[place])).toEqual([
      ATTEND,
      'memcpy device to device',
      ATTEND,
      'memcpy device to device',
    ])
    expect([...kernels.layer]).toEqual([1, 1, 1, 1])
    expect([...kernels.stage].map((code) => STAGES[code])[1]).toBe('out_reduce_scatter')
  })

  it('are merged where there are many, and none where none were recorded', async () => {
    await ended(4, [3])
    const merged = await tile(3_000_000, 4_000_000, 1)
    expect([...merged.kernels.count]).toEqual([6, 6])
    expect([...merged.kernels.name]).toEqual([-1, -1])
    expect(merged.kernelNames).toEqual([])
    expect((await tile(0, 3_000_000)).kernels.rank.length).toBe(0)
  })

  it('are found by time, with every column', async () => {
    await ended(4, [3])
    const at = (atNs: number) => store.request('kernelAt', { run, rank: 1, atNs })
    expect(storeMethods.kernelAt.result.parse(await at(3_100_001))).toEqual({
      step: 3,
      layer: 1,
      stage: ATTENTION,
      name: ATTEND,
      startNs: 3_100_000,
      durNs: 60_000,
      bytes: null,
      grid: [132, 1, 1],
      block: [384, 1, 1],
      registers: 168,
      sharedBytes: 229_376,
      stream: 7,
      graph: true,
      provenance: 'measured',
    })
    expect(await at(3_174_999)).toMatchObject({ bytes: 4096, grid: null, block: null, registers: null })
    expect(await at(3_165_000)).toBeNull()
  })
})

describe('steps whose kernels were recorded', () => {
  it('are marked and left out of the numbers of the run, but not of its check', async () => {
    await ended(4, [3])
    const steps = storeMethods.steps.result.parse(await store.request('steps', { run, from: 0, max: 9 }))
    expect([...steps.kernelTrace]).toEqual([0, 0, 0, 1])
    const { summary } = readManifest(bundle())
    expect(summary).toMatchObject({
      steps: 4,
      kernelTrace: { steps: 1, kernels: 12, recordedUs: 4000, plainUs: 1000, counted: false },
      check: { maxRelErr: 0.003 },
      stages: { decode_attn: { p50Us: 300, p95Us: 300 } },
    })
    expect(summary?.deviceStepMs).toBeUndefined()
    const [attention] = await store.request('stages', { run })
    expect(attention).toMatchObject({ stage: 'decode_attn', p95Us: 300 })
  })

  it('count where there are no others, and the summary says so', async () => {
    await ended(2, [0, 1])
    const { summary } = readManifest(bundle())
    expect(summary?.kernelTrace).toEqual({ steps: 2, kernels: 24, recordedUs: 4000, counted: true })
    expect(summary?.stages.decode_attn).toEqual({ p50Us: 600, p95Us: 600 })
    expect(summary?.tokensPerSecond).toBeCloseTo(4000)
    expect((await store.request('stages', { run }))[0]?.p50Us).toBe(600)
  })

  it('do not stand for the run while it goes on', async () => {
    const seen: Progress[] = []
    const [port, storeEnd] = portPair()
    port.onMessage((message) => {
      const reply = storeReplySchema.parse(message)
      if (reply.type === 'progress') seen.push(reply.progress)
    })
    store.attachClient(storeEnd)
    const engine = fakeEngine()
    store.attachEngine(engine.storeEnd)
    engine.begin(bundle())
    const slow = stepChunk(0, 1, () => 0, { kernelTrace: true })
    const slower = {
      ...slow.columns,
      wall_ns: BigInt64Array.of(9_000_000n),
      tokens_per_s: Float64Array.of(444),
    }
    engine.chunk({ ...slow, columns: slower })
    engine.chunk(stepChunk(1, 1, () => 0))
    engine.chunk({ ...slow, columns: { ...slower, step: Int32Array.of(2) } })
    engine.end()
    await engine.reply('closed')
    expect(seen.at(-1)).toMatchObject({ steps: 3, tokensPerSecond: 4000, lastStepMs: 1 })
  })

  it('are none in a bundle of an earlier format', async () => {
    await ended(3, [])
    const part = join(bundle(), 'steps', 'part-000001.parquet')
    const duck = await DuckDBInstance.create(':memory:')
    const connection = await duck.connect()
    await connection.run(
      `COPY (SELECT * EXCLUDE (kernel_trace) FROM read_parquet('${part}')) TO '${part}.older' (FORMAT parquet)`,
    )
    duck.closeSync()
    renameSync(`${part}.older`, part)
    rmSync(join(bundle(), 'kernels'), { recursive: true, force: true })
    const steps = await store.request('steps', { run, from: 0, max: 9 })
    expect([...steps.kernelTrace]).toEqual([0, 0, 0])
    expect((await store.request('stages', { run }))[0]).toMatchObject({ p50Us: 300 })
    expect((await tile(0, 3_000_000)).kernels.rank.length).toBe(0)
  })
})
