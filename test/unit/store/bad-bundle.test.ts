import { execFileSync, spawn } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Manifest } from '../../../app/trace/manifest.ts'
import { FORMAT_VERSION } from '../../../app/trace/manifest.ts'
import { runIdOf } from '../../../main/process/run-id.ts'
import { readManifest, writerMayLive } from '../../../main/store/manifest-file.ts'
import type { Store } from '../../../main/store/store.ts'
import { type Upgrader, upgraded } from '../../../main/store/upgrade.ts'
import { freshStore } from './fresh-store.ts'
import { evenSpans, fakeEngine, type Scratch, sampleManifest, spanChunk } from './sample.ts'

let scratch: Scratch
let store: Store
freshStore((opened, folder) => {
  store = opened
  scratch = folder
})

const folder = (): string => join(scratch.path, 'run.dcp')

const bundleWith = (manifest: unknown): string => {
  mkdirSync(folder())
  writeFileSync(
    join(folder(), 'run.json'),
    typeof manifest === 'string' ? manifest : JSON.stringify(manifest),
  )
  return folder()
}

const openedOrRefused = async (path: string): Promise<string> => {
  const answer = await store.handle({ type: 'open', seq: 7, folder: path })
  return answer?.type === 'refused' ? answer.message : (answer?.type ?? 'nothing')
}

const complete = (): Manifest => ({ ...sampleManifest(), status: 'complete' })

describe('opening a bundle', () => {
  it('refuses a folder that is not there', async () => {
    expect(await openedOrRefused(folder())).toBe(`no such bundle: ${folder()}`)
  })

  it('refuses a file', async () => {
    writeFileSync(folder(), 'x')
    expect(await openedOrRefused(folder())).toBe(`not a bundle, but a file: ${folder()}`)
  })

  it('refuses a folder without run.json', async () => {
    mkdirSync(folder())
    expect(await openedOrRefused(folder())).toBe(`not a dcpscope bundle: it has no run.json: ${folder()}`)
  })

  it('refuses a run.json of something else', async () => {
    expect(await openedOrRefused(bundleWith({ name: 'package' }))).toBe(
      `not a dcpscope bundle: its run.json is of something else: ${folder()}`,
    )
  })

  it('refuses a truncated run.json', async () => {
    expect(await openedOrRefused(bundleWith(JSON.stringify(complete()).slice(0, 200)))).toBe(
      `the bundle is damaged: its run.json is truncated or not JSON: ${folder()}`,
    )
  })

  it('refuses a manifest that breaks the schema by its field', async () => {
    expect(await openedOrRefused(bundleWith({ ...complete(), status: 'fine' }))).toMatch(
      /^the bundle is damaged: run\.json, status: .*run\.dcp$/,
    )
  })

  it('refuses a future format and names both versions', async () => {
    expect(await openedOrRefused(bundleWith({ ...complete(), formatVersion: 99, news: true }))).toBe(
      `the bundle has format version 99, this dcpscope reads up to version ${FORMAT_VERSION}; use a newer one: ${folder()}`,
    )
  })

  it.skipIf(process.platform === 'win32')(
    'refuses a pipe or a folder in the place of a file, and does not wait for it',
    async () => {
      mkdirSync(folder())
      execFileSync('mkfifo', [join(folder(), 'run.json')])
      expect(await openedOrRefused(folder())).toBe(
        `not a dcpscope bundle: its run.json is not a file: ${folder()}`,
      )
      rmSync(folder(), { recursive: true })
      bundleWith(complete())
      const part = join(folder(), 'steps', 'part-000001.parquet')
      mkdirSync(join(folder(), 'steps'))
      execFileSync('mkfifo', [part])
      expect(await openedOrRefused(folder())).toContain(`a part of the bundle is not a file; move it away`)
      rmSync(part)
      mkdirSync(part)
      expect(await openedOrRefused(folder())).toContain(`a part of the bundle is not a file; move it away`)
      rmSync(part, { recursive: true })
      const tensors = join(folder(), 'tensors', 'step=0', 'layer=0')
      mkdirSync(tensors, { recursive: true })
      execFileSync('mkfifo', [join(tensors, 'rank=0.safetensors')])
      await openedOrRefused(folder())
      const run = runIdOf(folder())
      await expect(store.request('capture', { run, step: 0, layer: 0 })).rejects.toThrow(/is not a file/)
    },
  )

  it.each([
    ['footer', (size: number) => [size - 300, size - 8]],
    ['pages', (size: number) => [4, size / 2]],
  ])('names a part whose %s are garbage, whoever reads it', async (_, range) => {
    const engine = fakeEngine()
    store.attachEngine(engine.storeEnd)
    engine.begin(folder())
    engine.chunk(spanChunk(0, evenSpans(500)))
    engine.chunk(spanChunk(1, evenSpans(500)))
    engine.end()
    await engine.reply('closed')
    const part = join(folder(), 'spans', 'rank=1', 'part-000001.parquet')
    const bytes = readFileSync(part)
    const [from = 0, to = 0] = range(bytes.length)
    writeFileSync(
      part,
      bytes.map((b, i) => (i >= from && i < to ? (b * 7 + 13) & 255 : b)),
    )
    const sentence = `a part of the bundle is damaged; move it away to open the rest: ${part}`
    const tile = { run: 'run-1', ranks: [1], startNs: 0, endNs: 1, buckets: 1 }
    await expect(store.request('spanTile', tile)).rejects.toThrow(sentence)
    const query = { run: 'run-1', sql: 'SELECT * FROM spans', limit: 10_000 }
    await expect(store.request('query', query)).rejects.toThrow(sentence)
  })

  it('refuses a part that is truncated and names it', async () => {
    const engine = fakeEngine()
    store.attachEngine(engine.storeEnd)
    engine.begin(folder())
    engine.chunk(spanChunk(1, evenSpans(500)))
    engine.end()
    await engine.reply('closed')
    const part = join(folder(), 'spans', 'rank=1', 'part-000001.parquet')
    truncateSync(part, readFileSync(part).length - 30)
    const sentence = `a part of the bundle is truncated; move it away to open the rest: ${part}`
    expect(await openedOrRefused(folder())).toBe(sentence)
    const tile = { run: 'run-1', ranks: [1], startNs: 0, endNs: 1, buckets: 1 }
    await expect(store.request('spanTile', tile)).rejects.toThrow(sentence)
  })

  it('counts no span twice after a part could not be read', async () => {
    const engine = fakeEngine()
    store.attachEngine(engine.storeEnd)
    engine.begin(folder())
    const part = (number: number): string => join(folder(), 'spans', 'rank=0', `part-00000${number}.parquet`)
    engine.chunk(spanChunk(0, evenSpans(30_000)))
    await expect.poll(() => existsSync(part(1)), { timeout: 20_000 }).toBe(true)
    engine.chunk(
      spanChunk(
        0,
        evenSpans(500).map((span) => ({ ...span, start: 300_000 + span.start })),
      ),
    )
    engine.end()
    await engine.reply('closed')
    const whole = readFileSync(part(2))
    const spoiled = Buffer.from(whole)
    spoiled.fill(0xff, 4, whole.length - 8 - whole.readUInt32LE(whole.length - 8))
    // The clock moves on with each write: DuckDB keeps what it read of a file of the same time and size.
    const write = (content: Buffer, seconds: number): void => {
      writeFileSync(part(2), content)
      utimesSync(part(2), seconds, seconds)
    }
    const now = Math.ceil(Date.now() / 1000)
    write(spoiled, now + 10)
    const tile = { run: 'run-1', ranks: [0], startNs: 0, endNs: 1e9, buckets: 1 }
    for (const _ of [1, 2]) await expect(store.request('spanTile', tile)).rejects.toThrow()
    write(whole, now + 20)
    expect((await store.request('spanTile', tile)).count).toEqual(Int32Array.of(30_500))
  })

  it('skips what a killed writer left under temporary names', async () => {
    const engine = fakeEngine()
    store.attachEngine(engine.storeEnd)
    engine.begin(folder())
    engine.chunk(spanChunk(0, evenSpans(500)))
    engine.end()
    await engine.reply('closed')
    appendFileSync(join(folder(), 'spans', 'rank=0', '.part-000002.parquet.tmp'), 'half')
    expect(await openedOrRefused(folder())).toBe('opened')
    expect(await store.request('runInfo', { run: 'run-1' })).toMatchObject({ spanCount: 500 })
  })

  it('gives the same id for the same folder', async () => {
    bundleWith(complete())
    const first = await store.handle({ type: 'open', seq: 1, folder: folder() })
    const second = await store.handle({ type: 'open', seq: 2, folder: `${scratch.path}/./run.dcp/` })
    expect(second).toEqual({ ...first, seq: 2 })
  })

  it('answers an empty bundle with empty tables', async () => {
    bundleWith(complete())
    const answer = await store.handle({ type: 'open', seq: 1, folder: folder() })
    const run = answer?.type === 'opened' ? answer.run : ''
    expect(await store.request('runInfo', { run })).toMatchObject({
      steps: 0,
      spanCount: 0,
      startNs: 0,
      endNs: 0,
    })
    expect((await store.request('steps', { run, from: 0, max: 10 })).step).toHaveLength(0)
    expect(await store.request('query', { run, sql: 'SELECT rank, dur_ns FROM spans', limit: 5 })).toEqual({
      columns: ['rank', 'dur_ns'],
      rows: [],
      truncated: false,
    })
    await expect(store.request('capture', { run, step: 0, layer: 0 })).rejects.toThrow(
      'step 0, layer 0 was not captured',
    )
  })
})

describe('a bundle that says running', () => {
  const running = (writer: Manifest['writer'], createdAt = new Date().toISOString()): Manifest => ({
    ...sampleManifest(),
    createdAt,
    ...(writer === undefined ? {} : { writer }),
  })
  /** Above the largest process number of Linux. */
  const GONE = 2 ** 22 + 1

  it.each([
    ['its writer is gone', { pid: GONE, host: hostname() }, undefined],
    [
      'its writer is this process, which writes something else',
      { pid: process.pid, host: hostname() },
      undefined,
    ],
    ['it is older than the start of the system', { pid: 1, host: hostname() }, '2001-01-01T00:00:00.000Z'],
    ['it names no writer', undefined, undefined],
    ['its writer has no number of a process', { pid: -1, host: hostname() }, undefined],
    ['its writer has the number of every process', { pid: 0, host: hostname() }, undefined],
    ['it does not say when it was begun', { pid: 1, host: hostname() }, 'some day'],
  ])('is interrupted when %s', async (_, writer, createdAt) => {
    bundleWith(running(writer, createdAt))
    expect(await openedOrRefused(folder())).toBe('opened')
    expect(readManifest(folder())).toMatchObject({
      status: 'interrupted',
      error: expect.stringContaining('gone'),
    })
  })

  it.skipIf(process.platform !== 'linux')(
    'is interrupted when the number of its writer has been given to a later process',
    async () => {
      const anHourAgo = new Date(Date.now() - 3_600_000).toISOString()
      const child = spawn('sleep', ['60'])
      try {
        bundleWith(running({ pid: child.pid ?? 0, host: hostname() }, anHourAgo))
        expect(await openedOrRefused(folder())).toBe('opened')
        expect(readManifest(folder()).status).toBe('interrupted')
        const now = sampleManifest()
        expect(writerMayLive({ ...now, writer: { pid: child.pid ?? 0, host: hostname() } })).toBe(true)
      } finally {
        child.kill()
      }
    },
  )

  it.each([
    ['lives on this host', { pid: 1, host: hostname() }],
    ['is on a host that cannot be looked at', { pid: GONE, host: 'elsewhere' }],
    ['has the number of this process on another host', { pid: process.pid, host: 'elsewhere' }],
  ])('stays running when its writer %s', async (_, writer) => {
    bundleWith(running(writer))
    expect(await openedOrRefused(folder())).toBe('opened')
    expect(readManifest(folder()).status).toBe('running')
  })

  it('is interrupted by command with the reason, once', async () => {
    bundleWith(running({ pid: 1, host: hostname() }))
    await store.handle({ type: 'interrupt', bundle: folder(), reason: 'the engine crashed' })
    await store.handle({ type: 'interrupt', bundle: folder(), reason: 'again' })
    expect(readManifest(folder())).toMatchObject({ status: 'interrupted', error: 'the engine crashed' })
  })
})

describe('the list of runs', () => {
  it('holds the bundles of the folder, newest first, and says what is wrong with a broken one', async () => {
    const put = (name: string, text: string): void => {
      mkdirSync(join(scratch.path, name))
      writeFileSync(join(scratch.path, name, 'run.json'), text)
    }
    put('old.dcp', JSON.stringify({ ...complete(), name: 'old', createdAt: '2025-01-01T00:00:00.000Z' }))
    put('new.dcp', JSON.stringify({ ...complete(), name: 'new', createdAt: '2026-01-01T00:00:00.000Z' }))
    put('broken.dcp', '{')
    put('other', '{}')
    await store.handle({ type: 'runsFolder', folder: scratch.path })
    const runs = await store.request('listRuns', {})
    expect(runs.map((r) => r.name).sort()).toEqual(['broken', 'new', 'old'])
    const [fresh, old] = runs.filter((r) => r.status === 'complete')
    expect([fresh?.name, old?.name]).toEqual(['new', 'old'])
    expect(fresh?.title).toBe('16 heads x 576, DCP 2, ag_rs, 4 requests of 3 to 4096 tokens')
    expect(runs.find((r) => r.name === 'broken')).toMatchObject({
      status: 'failed',
      title: expect.stringContaining('run.json is truncated'),
    })
    const again = await store.request('listRuns', {})
    expect(again.map((r) => r.id)).toEqual(runs.map((r) => r.id))
  })

  it('holds bundles that were opened from elsewhere, now or earlier, while they exist', async () => {
    const put = (name: string): string => {
      const path = join(scratch.path, name)
      mkdirSync(path, { recursive: true })
      writeFileSync(join(path, 'run.json'), JSON.stringify({ ...complete(), name }))
      return path
    }
    const [, known, opened] = [put('runs/own.dcp'), put('known.dcp'), put('opened.dcp')]
    const names = async (): Promise<string[]> =>
      (await store.request('listRuns', {})).map(({ name }) => name).sort()
    await store.handle({
      type: 'runsFolder',
      folder: join(scratch.path, 'runs'),
      elsewhere: [known, join(scratch.path, 'gone.dcp')],
    })
    expect(await names()).toEqual(['known.dcp', 'runs/own.dcp'])
    await store.handle({ type: 'open', seq: 1, folder: opened })
    expect(await names()).toEqual(['known.dcp', 'opened.dcp', 'runs/own.dcp'])
    rmSync(known, { recursive: true })
    expect(await names()).toEqual(['opened.dcp', 'runs/own.dcp'])
  })

  it('is empty for a folder that is not there yet', async () => {
    await store.handle({ type: 'runsFolder', folder: join(scratch.path, 'none') })
    expect(await store.request('listRuns', {})).toEqual([])
  })
})

describe('upgraders', () => {
  it('run one after the other up to the wanted version', () => {
    const upgraders = new Map<number, Upgrader>([
      [1, (m) => ({ ...m, two: true })],
      [2, (m) => ({ ...m, three: m.two })],
    ])
    expect(upgraded({ formatVersion: 1 }, 1, 3, upgraders)).toEqual({
      formatVersion: 3,
      two: true,
      three: true,
    })
    expect(() => upgraded({}, 1, 4, upgraders)).toThrow('no upgrader from format version 3')
  })
})
