import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, it } from 'vitest'
import { type Progress, storeMethods, storeReplySchema } from '../../../app/protocol/store.ts'
import { PROVENANCES, STAGES } from '../../../app/trace/stages.ts'
import { portPair } from '../../../main/process/port.ts'
import { readManifest } from '../../../main/store/manifest-file.ts'
import type { Store } from '../../../main/store/store.ts'
import { freshStore } from './fresh-store.ts'
import { fakeEngine, type Scratch, spanChunk, stepChunk } from './sample.ts'

let scratch: Scratch
let store: Store
freshStore((opened, folder) => {
  store = opened
  scratch = folder
})

const bundle = (): string => join(scratch.path, 'run.dcp')

const ATTENTION = 3
const MERGE = 10
const STEP = { provenance: 'emulated', deviceNs: 1_900_000n, untracedNs: 1_890_000n, graph: true } as const

/** Two ranks that share a device: attention measured, merges emulated, a step as long as the longest rank's. */
const inTurn = async (): Promise<ReturnType<typeof fakeEngine>> => {
  const engine = fakeEngine()
  store.attachEngine(engine.storeEnd)
  engine.begin(bundle())
  for (const rank of [0, 1])
    engine.chunk(
      spanChunk(rank, [
        { start: 0, dur: 600_000, stage: ATTENTION },
        { start: 600_000, dur: 400_000, stage: MERGE, provenance: 'emulated' },
      ]),
    )
  engine.chunk(stepChunk(0, 3, () => 0, STEP))
  await engine.acks(3)
  return engine
}

const ended = async (): Promise<void> => {
  const engine = await inTurn()
  engine.end()
  await engine.reply('closed')
}

const run = 'run-1'

describe('what was not measured as it is shown', () => {
  it('is said of steps, with the time of the device beside that of the step', async () => {
    await ended()
    const steps = storeMethods.steps.result.parse(await store.request('steps', { run, from: 1, max: 1 }))
    expect(steps.wallNs[0]).toBe(1_000_000)
    expect(steps.deviceNs[0]).toBe(1_900_000)
    expect(PROVENANCES[steps.provenance[0] ?? -1]).toBe('emulated')
    expect(steps.untracedNs[0]).toBe(1_890_000)
    expect(steps.graphReplayed[0]).toBe(1)
  })

  it('is said of stages, single spans and merged ones', async () => {
    await ended()
    const stages = storeMethods.stages.result.parse(await store.request('stages', { run }))
    expect(Object.fromEntries(stages.map(({ stage, sources }) => [stage, sources]))).toEqual({
      decode_attn: ['measured'],
      merge: ['emulated'],
    })
    const tile = (buckets: number) =>
      store.request('spanTile', { run, ranks: [0], startNs: 0, endNs: 1_000_000, buckets })
    const [measured, emulated] = ['measured' as const, 'emulated' as const].map(
      (p) => 1 << PROVENANCES.indexOf(p),
    )
    expect([...(await tile(2)).sources]).toEqual([measured, emulated])
    expect([...(await tile(1)).sources]).toEqual([(measured ?? 0) | (emulated ?? 0)])
  })

  it('is not hidden by a graph replay, which contains the other spans and has a track of its own', async () => {
    const engine = await inTurn()
    const replay = { start: 0, dur: 1_000_000, stage: STAGES.indexOf('graph_replay'), layer: -1 }
    engine.chunk(spanChunk(0, [{ ...replay, provenance: 'emulated' }]))
    engine.end()
    await engine.reply('closed')
    const tile = storeMethods.spanTile.result.parse(
      await store.request('spanTile', { run, ranks: [0], startNs: 0, endNs: 1_000_000, buckets: 1 }),
    )
    expect({ stage: [...tile.stage], count: [...tile.count] }).toEqual({ stage: [ATTENTION], count: [2] })
    expect({ start: [...tile.outer.start], dur: [...tile.outer.dur] }).toEqual({
      start: [0],
      dur: [1_000_000],
    })
    expect((await store.request('spanAt', { run, rank: 0, atNs: 0 }))?.stage).toBe(ATTENTION)
    const stages = await store.request('stages', { run })
    expect(stages.reduce((sum, s) => sum + s.share, 0)).toBeCloseTo(1)
    expect(stages.find((s) => s.stage === 'graph_replay')).toMatchObject({ share: 0, p50Us: 1000 })
  })

  it('is said in the summary, stage by stage', async () => {
    await ended()
    const { summary } = readManifest(bundle())
    expect(summary).toMatchObject({
      provenance: 'emulated',
      stepMs: { p50: 1, p95: 1 },
      deviceStepMs: { p50: 1.9, p95: 1.9 },
      observerCost: { tracedUs: 1900, untracedUs: 1890, ratio: 1900 / 1890 },
    })
    expect(summary?.stages.merge).toEqual({ p50Us: 400, p95Us: 400, provenance: 'emulated' })
    expect(summary?.stages.decode_attn).toEqual({ p50Us: 600, p95Us: 600 })
  })

  it('is said while the run goes on', async () => {
    const seen: Progress[] = []
    const [port, storeEnd] = portPair()
    port.onMessage((message) => {
      const reply = storeReplySchema.parse(message)
      if (reply.type === 'progress') seen.push(reply.progress)
    })
    store.attachClient(storeEnd)
    const engine = await inTurn()
    engine.end()
    await engine.reply('closed')
    expect(seen.at(-1)?.provenance).toBe('emulated')
  })

  it('is nothing where ranks run at once and everything was measured', async () => {
    const engine = fakeEngine()
    store.attachEngine(engine.storeEnd)
    engine.begin(bundle())
    engine.chunk(spanChunk(0, [{ start: 0, dur: 10, stage: ATTENTION }]))
    engine.chunk(stepChunk(0, 3, () => 0))
    engine.end()
    await engine.reply('closed')
    const { summary } = readManifest(bundle())
    expect(summary?.provenance).toBe('measured')
    expect(summary?.deviceStepMs).toBeUndefined()
    expect(summary?.observerCost).toBeUndefined()
    expect((await store.request('steps', { run, from: 0, max: 1 })).untracedNs[0]).toBeNaN()
    expect(summary?.stages.decode_attn).toEqual({ p50Us: 0.01, p95Us: 0.01 })
  })
})

describe('a bundle of the first format', () => {
  it('is read with the columns that came later as none', async () => {
    await ended()
    const part = join(bundle(), 'steps', 'part-000001.parquet')
    const duck = await DuckDBInstance.create(':memory:')
    const connection = await duck.connect()
    const older = `${part}.older`
    await connection.run(
      `COPY (SELECT * EXCLUDE (untraced_ns) FROM read_parquet('${part}')) TO '${older}' (FORMAT parquet)`,
    )
    duck.closeSync()
    renameSync(older, part)
    const steps = storeMethods.steps.result.parse(await store.request('steps', { run, from: 0, max: 9 }))
    expect([...steps.deviceNs]).toEqual([1_900_000, 1_900_000, 1_900_000])
    expect(steps.untracedNs[0]).toBeNaN()
    const answer = await store.request('query', {
      run,
      sql: 'SELECT count(untraced_ns) FROM steps',
      limit: 1,
    })
    expect(answer.rows).toEqual([[0]])
  })
})
