import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statfsSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { storeMethods } from '../../../app/protocol/store.ts'
import { parseSweepConfig } from '../../../app/sweep/parse.ts'
import { FORMAT_VERSION, type Manifest } from '../../../app/trace/manifest.ts'
import { readManifest, writeManifest } from '../../../main/store/manifest-file.ts'
import { bundleTitle } from '../../../main/store/run-title.ts'
import { Store } from '../../../main/store/store.ts'
import { readPoints, SweepBundle } from '../../../main/store/sweep-bundle.ts'
import { RATES, row } from '../sweep/sample.ts'
import { type Scratch, scratchFolder } from './sample.ts'

const manifest = (): Manifest => {
  const parsed = parseSweepConfig({}, 'tiny')
  if (!parsed.ok) throw new Error('the preset is refused')
  return {
    format: 'dcpscope-run',
    formatVersion: FORMAT_VERSION,
    name: 'sweep',
    status: 'running',
    config: parsed.config.base,
    devices: [{ name: 'CPU', kind: 'cpu', detail: '' }],
    versions: {},
    clock: { base: '2026-01-01T00:00:00.000Z', alignment: 'none', uncertaintyNs: 0 },
    createdAt: '2026-01-01T00:00:00.000Z',
    sweep: { config: parsed.config, device: 'cpu', memoryBytes: 1e9, rates: RATES, missing: [] },
  }
}

describe('the bundle of a sweep', () => {
  let scratch: Scratch
  let folder: string
  beforeEach(() => {
    scratch = scratchFolder()
    folder = join(scratch.path, 'sweep.dcp')
  })
  afterEach(() => scratch.remove())

  const parts = (): string[] => readdirSync(join(folder, 'points')).sort()

  it('holds its points, and is gone on with behind the parts that are there', async () => {
    const [first, second] = [row({ repeat: 0 }), row({ repeat: 1, limit: '' })]
    const begun = await SweepBundle.begin(folder, manifest())
    begun.add([first])
    await begun.end('stopped')
    expect(readManifest(folder)).toMatchObject({ status: 'stopped', sweep: { missing: [] } })
    const again = await SweepBundle.resume(folder)
    expect(readManifest(folder)).toMatchObject({ status: 'running', writer: { pid: process.pid } })
    again.add([second])
    await again.end('complete')
    expect(parts()).toEqual(['part-000001.parquet', 'part-000002.parquet'])
    expect(await readPoints(folder)).toEqual([first, second])
    expect(readManifest(folder)).toMatchObject({ status: 'complete' })
    expect(readManifest(folder).writer).toBeUndefined()
    expect(readdirSync(folder).sort()).toEqual(['points', 'run.json'])
  })

  it('gives its points to a window in order, a page at a time and what came since', async () => {
    const rows = Array.from({ length: 5 }, (_, repeat) => row({ repeat, tokensPerSecond: 10 + repeat }))
    const predicted = row({ provenance: 'predicted', repeat: -1, layersMeasured: -1, stepMsP95: Number.NaN })
    const begun = await SweepBundle.begin(folder, manifest())
    begun.add(rows.slice(0, 3))
    await begun.end('stopped')
    const store = new Store()
    try {
      const opened = await store.handle({ type: 'open', seq: 1, folder })
      if (opened?.type !== 'opened') throw new Error('the bundle was refused')
      const { run } = opened
      const page = (from: number, max: number) => store.request('points', { run, from, max })
      expect(await page(0, 2)).toEqual(rows.slice(0, 2))
      expect(await page(2, 2)).toEqual(rows.slice(2, 3))
      expect(await page(3, 2)).toEqual([])
      const again = await SweepBundle.resume(folder)
      again.add([...rows.slice(3), predicted])
      await again.end('complete')
      const more = await page(3, 10)
      expect(more).toEqual([...rows.slice(3), predicted])
      // What a window checks answers by.
      expect(storeMethods.points.result.parse(more)).toEqual(more)
      await expect(page(-1, 2)).rejects.toThrow(/^points: from: /)
      await expect(page(0, 10_001)).rejects.toThrow(/^points: max: /)
    } finally {
      await store.close()
    }
  })

  it('is on disk a second later, without an end', async () => {
    const bundle = await SweepBundle.begin(folder, manifest())
    bundle.add([row()])
    while (!existsSync(join(folder, 'points', 'part-000001.parquet')))
      await new Promise((next) => setTimeout(next, 20))
    expect(await readPoints(folder)).toHaveLength(1)
    await bundle.end('stopped')
  })

  it('keeps what is noted of it, and forgets the error of the part before', async () => {
    const bundle = await SweepBundle.begin(folder, manifest())
    const { sweep } = bundle.manifest
    if (sweep === undefined) throw new Error('no sweep')
    const missing = [{ key: 'tp', why: 'failed' as const, reason: 'the device failed' }]
    bundle.note({ ...sweep, missing })
    expect(readManifest(folder).sweep?.missing).toEqual(missing)
    await bundle.end('failed', 'the engine is broken')
    expect(readManifest(folder)).toMatchObject({ status: 'failed', error: 'the engine is broken' })
    const again = await SweepBundle.resume(folder)
    await again.end('complete')
    expect(readManifest(folder).error).toBeUndefined()
  })

  it('that another process writes is refused, and one whose writer is gone is not', async () => {
    await (await SweepBundle.begin(folder, manifest())).end('stopped')
    const { writer } = readManifest(folder)
    expect(writer).toBeUndefined()
    const own = await SweepBundle.resume(folder)
    const running = readManifest(folder)
    await own.end('stopped')
    // By somebody who lives: the process that started this one.
    const pid = process.ppid
    writeManifest(folder, {
      ...running,
      writer: { ...running.writer, pid, host: running.writer?.host ?? '' },
    })
    await expect(SweepBundle.resume(folder)).rejects.toThrow(`is being measured by process ${pid} of`)
    const gone = { pid: 2 ** 22 + 1, host: running.writer?.host ?? '', since: new Date().toISOString() }
    writeManifest(folder, { ...running, writer: gone })
    await (await SweepBundle.resume(folder)).end('stopped')
    expect(readManifest(folder).status).toBe('stopped')
  })

  it('gets one writer, however many go on with it at once, and whoever held it before', async () => {
    await (await SweepBundle.begin(folder, manifest())).end('stopped')
    const stopped = readManifest(folder)
    const gone = { pid: 2 ** 22 + 1, host: hostname(), since: new Date().toISOString() }
    for (const before of [stopped, { ...stopped, status: 'running' as const, writer: gone }]) {
      writeManifest(folder, before)
      const all = await Promise.allSettled([1, 2, 3].map(() => SweepBundle.resume(folder)))
      const writers = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      expect(writers).toHaveLength(1)
      for (const one of all)
        if (one.status === 'rejected') expect(one.reason.message).toContain('the sweep is being measured by')
      await writers[0]?.end('stopped')
    }
  })

  it('is left to a process that claims it, unless that was killed meanwhile', async () => {
    await (await SweepBundle.begin(folder, manifest())).end('stopped')
    const claim = join(folder, '.claim.tmp')
    writeFileSync(claim, '')
    await expect(SweepBundle.resume(folder)).rejects.toThrow('another process begins to measure the sweep')
    expect(readManifest(folder).status).toBe('stopped')
    const longAgo = Date.now() / 1000 - 3600
    utimesSync(claim, longAgo, longAgo)
    await (await SweepBundle.resume(folder)).end('stopped')
    expect(readdirSync(folder)).toEqual(['run.json'])
  })

  it('is begun in a new or empty folder only', async () => {
    await (await SweepBundle.begin(folder, manifest())).end('complete')
    const before = readFileSync(join(folder, 'run.json'), 'utf8')
    await expect(SweepBundle.begin(folder, manifest())).rejects.toThrow('must be new or empty')
    expect(readFileSync(join(folder, 'run.json'), 'utf8')).toBe(before)
  })

  it('with a part that is not whole says which, and how to go on', async () => {
    const bundle = await SweepBundle.begin(folder, manifest())
    bundle.add([row()])
    await bundle.end('stopped')
    writeFileSync(join(folder, 'points', 'part-000002.parquet'), 'PAR1')
    await expect(readPoints(folder)).rejects.toThrow(/is truncated; move it away[^\n]*part-000002\.parquet$/)
  })

  it.each([
    ['footer', (size: number) => [size - 300, size - 8]],
    ['pages', (size: number) => [4, size / 4]],
  ])('with a part whose %s are garbage says which, and how to go on', async (_, range) => {
    const bundle = await SweepBundle.begin(folder, manifest())
    bundle.add([row()])
    await bundle.end('stopped')
    const part = join(folder, 'points', 'part-000001.parquet')
    const bytes = readFileSync(part)
    const [from = 0, to = 0] = range(bytes.length)
    writeFileSync(
      part,
      bytes.map((b, i) => (i >= from && i < to ? (b * 7 + 13) & 255 : b)),
    )
    await expect(readPoints(folder)).rejects.toThrow(
      `a part of the bundle is damaged; move it away to open the rest: ${part}`,
    )
  })

  it('whose folder was removed ends as failed with one sentence', async () => {
    const bundle = await SweepBundle.begin(folder, manifest())
    bundle.add([row()])
    scratch.remove()
    await expect(bundle.end('complete')).rejects.toThrow(/^the run could not be written: [^\n]+$/)
    expect(() => bundle.add([row()])).toThrow('the run could not be written')
  })

  it('on a disk that fills up ends as failed with one sentence, and keeps what was written', async (test) => {
    const disk = join(scratch.path, 'disk')
    mkdirSync(disk)
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'ignore' })
    } catch {
      test.skip(true, 'a small file system cannot be mounted here (needs root on Linux)')
    }
    try {
      const bundle = await SweepBundle.begin(join(disk, 'sweep.dcp'), manifest())
      bundle.add([row()])
      while (!existsSync(join(bundle.folder, 'points', 'part-000001.parquet')))
        await new Promise((next) => setTimeout(next, 20))
      const { bavail, bsize } = statfsSync(disk)
      writeFileSync(join(disk, 'ballast'), Buffer.alloc(Math.max(0, bavail * bsize - 4096)))
      bundle.add(Array.from({ length: 2000 }, (_, repeat) => row({ repeat, tokensPerSecond: Math.random() })))
      const problem = `the run could not be written: the disk is full: ${bundle.folder}`
      await expect(bundle.end('complete')).rejects.toThrow(problem)
      expect(readManifest(bundle.folder)).toMatchObject({ status: 'failed', error: problem })
      expect(await readPoints(bundle.folder)).toEqual([row()])
    } finally {
      execFileSync('umount', [disk])
    }
  })

  it('has a title that says what was varied', () => {
    expect(bundleTitle(manifest())).toBe('sweep of tiny, DCP 2 4, contexts 256 to 4096, concurrency 1 to 4')
  })
})
