import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type Progress,
  progressSchema,
  type StoreReply,
  storeReplySchema,
} from '../../../app/protocol/store.ts'
import type { TraceChunk } from '../../../app/trace/tables.ts'
import { type Port, portPair } from '../../../main/process/port.ts'
import { readManifest } from '../../../main/store/manifest-file.ts'
import type { Store } from '../../../main/store/store.ts'
import { freshStore } from './fresh-store.ts'
import { evenSpans, fakeEngine, type Scratch, spanChunk, stepChunk } from './sample.ts'

let scratch: Scratch
let store: Store
freshStore((opened, folder) => {
  store = opened
  scratch = folder
})

const bundle = (): string => join(scratch.path, 'run.dcp')

const attached = (runId?: string): ReturnType<typeof fakeEngine> => {
  const engine = fakeEngine(runId)
  store.attachEngine(engine.storeEnd)
  return engine
}

describe('a line of the engine', () => {
  it('gets back the bytes of each message, in order', async () => {
    const engine = attached()
    engine.begin(bundle())
    for (const bytes of [10, 20, 30])
      engine.send({ type: 'chunk', runId: 'run-1', bytes, chunk: stepChunk(0, 1, () => 0) })
    await engine.acks(3)
    expect(engine.replies).toEqual([10, 20, 30].map((bytes) => ({ type: 'ack', runId: 'run-1', bytes })))
  })

  it('is refused a folder that is not empty, and nothing in it changes', async () => {
    mkdirSync(bundle())
    writeFileSync(join(bundle(), 'notes.txt'), 'mine')
    const engine = attached()
    engine.begin(bundle())
    expect(await engine.reply('failed')).toEqual({
      type: 'failed',
      runId: 'run-1',
      error: `the folder of a new run must be new or empty: ${bundle()}`,
    })
    expect(readdirSync(bundle())).toEqual(['notes.txt'])
  })

  it('is refused the folder of a killed run without a loss to it', async () => {
    mkdirSync(bundle())
    writeFileSync(join(bundle(), '.reserve.tmp'), 'set aside')
    const engine = attached()
    engine.begin(bundle())
    await engine.reply('failed')
    expect(readdirSync(bundle())).toEqual(['.reserve.tmp'])
  })

  it('is refused a folder that another line begins at the same time', async () => {
    const [first, second] = [attached('run-1'), attached('run-2')]
    first.begin(bundle())
    second.begin(bundle())
    const ends = [first, second].map((engine) => {
      engine.end()
      return Promise.race([engine.reply('closed'), engine.reply('failed')])
    })
    expect((await Promise.all(ends)).map(({ type }) => type).sort()).toEqual(['closed', 'failed'])
    expect(readManifest(bundle()).status).toBe('complete')
  })

  it('is refused a place where no folder can be made, which is not called removed', async () => {
    symlinkSync(join(scratch.path, 'nowhere'), bundle())
    const engine = attached()
    engine.begin(bundle())
    expect((await engine.reply('failed')).error).toBe(`the folder of the run cannot be made: ${bundle()}`)
  })

  it('has its run listed as running from the first moment on', async () => {
    await store.handle({ type: 'runsFolder', folder: scratch.path })
    const engine = attached()
    engine.begin(bundle())
    engine.chunk(stepChunk(0, 1, () => 0))
    const seen = new Set<string>()
    while (engine.replies.length === 0) {
      for (const { status } of await store.request('listRuns', {})) seen.add(status)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect([...seen]).toEqual(['running'])
    expect(readManifest(bundle()).status).toBe('running')
  })

  it('that breaks is waited for when the store closes', async () => {
    const engine = attached()
    engine.begin(bundle())
    engine.chunk(spanChunk(0, evenSpans(300)))
    await engine.acks(1)
    engine.port.close()
    // The store has seen the end of the line, but not yet closed the bundle.
    await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
    await store.close()
    expect(readManifest(bundle())).toMatchObject({ status: 'interrupted' })
  })

  it('may use a folder that is empty', async () => {
    mkdirSync(bundle())
    const engine = attached()
    engine.begin(bundle())
    engine.end({ status: 'stopped' })
    expect(await engine.reply('closed')).toMatchObject({ status: 'stopped' })
    expect(readManifest(bundle()).status).toBe('stopped')
  })

  it('can send one run after the other', async () => {
    const engine = attached()
    engine.begin(bundle())
    engine.end()
    await engine.reply('closed')
    engine.send({
      type: 'begin',
      runId: 'run-2',
      bundle: join(scratch.path, 'second.dcp'),
      manifest: readManifest(bundle()),
    })
    engine.send({ type: 'end', runId: 'run-2', status: 'complete', dropped: 0, captureNotes: [] })
    await expect.poll(() => engine.replies.filter((r) => r.type === 'closed')).toHaveLength(2)
  })

  it('leaves an interrupted bundle with everything it had sent when it breaks', async () => {
    const engine = attached()
    engine.begin(bundle())
    engine.chunk(spanChunk(0, evenSpans(300)))
    engine.chunk(stepChunk(0, 3, () => 0.001))
    await engine.acks(2)
    engine.port.close()
    await expect.poll(() => readManifest(bundle()).status).toBe('interrupted')
    expect(readManifest(bundle())).toMatchObject({
      error: expect.stringContaining('the engine stopped'),
      summary: { steps: 3 },
    })
    expect(await store.request('runInfo', { run: 'run-1' })).toMatchObject({ spanCount: 300, steps: 3 })
  })

  it('makes pages readable while the run goes on', async () => {
    const engine = attached()
    engine.begin(bundle())
    engine.chunk(spanChunk(0, evenSpans(300)))
    const tile = { run: 'run-1', ranks: [0], startNs: 0, endNs: 1e6, buckets: 4096 }
    const count = async (): Promise<number> => (await store.request('spanTile', tile)).count.length
    await expect.poll(count, { timeout: 10_000, interval: 50 }).toBe(300)
    engine.chunk(spanChunk(0, [{ start: 5000, dur: 10 }]))
    await expect.poll(count, { timeout: 10_000, interval: 50 }).toBe(301)
    expect(await store.request('runInfo', { run: 'run-1' })).toMatchObject({
      manifest: { status: 'running' },
    })
  })

  const broken: [string, (good: TraceChunk) => unknown][] = [
    ['a message that was lost', () => null],
    ['a message of an unknown type', () => ({ type: 'hello' })],
    ['a rank that the run does not have', (c) => ({ ...c, rank: 2 })],
    ['a missing column', (c) => ({ ...c, columns: { ...c.columns, dur_ns: undefined } })],
    ['a column too much', (c) => ({ ...c, columns: { ...c.columns, extra: new Int32Array(c.rows) } })],
    ['columns of different length', (c) => ({ ...c, columns: { ...c.columns, layer: new Int32Array(3) } })],
    [
      'a column of another type',
      (c) => ({ ...c, columns: { ...c.columns, layer: new Float32Array(c.rows) } }),
    ],
    [
      'a stage that does not exist',
      (c) => ({ ...c, columns: { ...c.columns, stage: new Uint8Array(c.rows).fill(99) } }),
    ],
  ]
  it.each(broken)('ends with one clear failure and a readable bundle after %s', async (_, spoil) => {
    const engine = attached()
    engine.begin(bundle())
    engine.chunk(stepChunk(0, 5, () => 0))
    await engine.acks(1)
    const spoiled = spoil(spanChunk(0, evenSpans(10)))
    const isMessage = spoiled === null || (typeof spoiled === 'object' && 'type' in spoiled)
    engine.send(isMessage ? spoiled : { type: 'chunk', runId: 'run-1', bytes: 1, chunk: spoiled })
    engine.chunk(stepChunk(5, 5, () => 0))
    const { error } = await engine.reply('failed')
    expect(error.length).toBeGreaterThan(20)
    expect(error).not.toContain('\n')
    expect(readManifest(bundle())).toMatchObject({ status: 'failed', error })
    await expect(store.handle({ type: 'open', seq: 0, folder: bundle() })).resolves.toMatchObject({
      type: 'opened',
    })
    expect(engine.replies.filter((r) => r.type === 'failed').length).toBeLessThanOrEqual(2)
  })

  it('ends with a failure when the folder of the run is removed', async () => {
    const engine = attached()
    engine.begin(bundle())
    engine.chunk(stepChunk(0, 5, () => 0))
    await engine.acks(1)
    rmSync(bundle(), { recursive: true })
    expect(await engine.reply('failed')).toMatchObject({
      error: `the run could not be written: the folder of the run was removed: ${bundle()}`,
    })
  })
})

describe('a line of a client', () => {
  const client = (): { port: Port; replies: StoreReply[]; progress: () => Progress[] } => {
    const [port, storeEnd] = portPair()
    store.attachClient(storeEnd)
    const replies: StoreReply[] = []
    port.onMessage((message) => replies.push(storeReplySchema.parse(message)))
    return {
      port,
      replies,
      progress: () =>
        replies.flatMap((r) => (r.type === 'progress' ? [progressSchema.parse(r.progress)] : [])),
    }
  }

  it('answers each request once, bad ones with an error', async () => {
    const engine = attached()
    engine.begin(bundle())
    engine.chunk(stepChunk(0, 1, () => 0))
    await engine.acks(1)
    const { port, replies } = client()
    port.post({ id: 1, method: 'listRuns', params: {} })
    port.post(null)
    port.post({ id: 2, method: 'dropTables', params: {} })
    port.post({ id: 3, method: 'steps', params: { run: 'run-1', from: -1, max: 1 } })
    port.post({ id: 4, method: 'runInfo', params: { run: 'nothing' } })
    const answers = () => replies.filter((r) => r.type !== 'progress')
    await expect.poll(answers).toHaveLength(5)
    const byId = new Map(replies.map((r) => ['id' in r ? r.id : Number.NaN, r]))
    expect(byId.get(1)).toEqual({ type: 'result', id: 1, result: [] })
    expect(byId.get(-1)).toEqual({ type: 'error', id: -1, message: 'the request is not valid' })
    expect(byId.get(2)).toEqual({ type: 'error', id: 2, message: 'the request is not valid' })
    expect(byId.get(3)).toMatchObject({ type: 'error', message: expect.stringMatching(/^steps: from: /) })
    expect(byId.get(4)).toEqual({ type: 'error', id: 4, message: 'no such run' })
  })

  it('is told the progress of a run, and its end', async () => {
    const { progress } = client()
    const engine = attached()
    engine.begin(bundle())
    engine.chunk(stepChunk(0, 10, (n) => n / 1000))
    engine.end({ dropped: 3 })
    await engine.reply('closed')
    await expect.poll(() => progress().at(-1)?.status).toBe('complete')
    expect(progress().at(-1)).toEqual({
      id: 'run-1',
      status: 'complete',
      steps: 10,
      totalSteps: 32,
      tokensPerSecond: expect.closeTo(4000),
      lastStepMs: 1,
      provenance: 'measured',
      maxRelErr: 0.009,
      checkedRows: 30,
      endNs: 10_000_000,
      events: 0,
      dropped: 3,
    })
  })

  it('that comes late is told how far the run is', async () => {
    const engine = attached()
    engine.begin(bundle())
    engine.chunk(stepChunk(0, 2, () => 0))
    await engine.acks(1)
    const { progress } = client()
    await expect.poll(() => progress()[0]).toMatchObject({ status: 'running', steps: 2 })
  })
})

describe('commands', () => {
  it('that are not valid are refused', async () => {
    await expect(store.handle(null)).rejects.toThrow('not valid')
    await expect(store.handle({ type: 'format' })).rejects.toThrow('not valid')
  })

  it('get a pong for a ping', async () => {
    expect(await store.handle({ type: 'ping', seq: 5 })).toEqual({ type: 'pong', seq: 5 })
  })
})
