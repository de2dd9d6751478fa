import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { SweepEnd, SweepEvent, SweepProgress } from '../../../app/protocol/sweep.ts'
import type { SweepConfigInput } from '../../../app/sweep/config.ts'
import { type EngineProcess, startEngine } from '../../../main/cli/engine-process.ts'
import { readManifest, writeManifest } from '../../../main/store/manifest-file.ts'
import { readPoints } from '../../../main/store/sweep-bundle.ts'
import { createSweepHost, ENGINE_STOP_MS, type SweepHost } from '../../../main/sweep/sweep-host.ts'
import { sweepOf } from '../sweep/sample.ts'

const DIST = join(__dirname, '..', '..', '..', 'dist')

const SMALL: SweepConfigInput = {
  base: { model: { heads: 8, kvLoraRank: 64, ropeDim: 16, layers: 2 }, parallel: { tpSize: 2 } },
  dcp: [2],
  comm: ['a2a'],
  context: [64, 128],
  concurrency: [1],
  repeats: 2,
  steps: 2,
}

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const newBundle = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-sweeping-'))
  folders.push(folder)
  return join(folder, 'small.dcp')
}

interface Act {
  readonly host: SweepHost
  readonly engine: () => EngineProcess | undefined
}

/** A host beside real engines, as main would give them to it; `on` is called with each sign of progress. */
const measured = async (
  command: object,
  on: (progress: SweepProgress, act: Act) => void = () => {},
): Promise<{ end: SweepEnd; progress: SweepProgress[]; complaints: string[] }> => {
  const progress: SweepProgress[] = []
  const complaints: string[] = []
  let engine: EngineProcess | undefined
  let ended: (end: SweepEnd) => void = () => {}
  const end = new Promise<SweepEnd>((resolve) => {
    ended = resolve
  })
  const take = (event: SweepEvent): void => {
    if (event.type === 'forkEngine') {
      const number = event.engine
      const forked = startEngine(DIST)
      engine = forked
      forked.onEvent((said) => host.command({ type: 'engineEvent', engine: number, event: said }))
      forked.exited.then((how) => host.command({ type: 'engineGone', engine: number, how }))
      // The command line's line has a close of its own.
      setImmediate(() => host.connectEngine(forked.data))
    }
    if (event.type === 'engineCommand') engine?.send(event.command)
    if (event.type === 'endEngine') void engine?.close()
    if (event.type === 'ended') ended(event.end)
    if (event.type === 'progress') {
      progress.push(event.progress)
      on(event.progress, { host, engine: () => engine })
    }
  }
  const host = createSweepHost(take, (sentence) => complaints.push(sentence))
  host.command(command)
  const result = await end
  await engine?.close()
  return { end: result, progress, complaints }
}

const begin = (folder: string, config: SweepConfigInput = SMALL): object => ({
  type: 'begin',
  folder,
  name: 'small',
  config: sweepOf(config),
})

const repeatsOf = async (bundle: string): Promise<string[]> =>
  (await readPoints(bundle)).filter(({ repeat }) => repeat >= 0).map(({ key, repeat }) => `${key} ${repeat}`)

describe('the process that measures a sweep', () => {
  it('tells the rates of the device first, then measures point by point, and closes the bundle', async () => {
    const bundle = newBundle()
    const { end, progress } = await measured(begin(bundle))
    expect(end).toEqual({ status: 'complete', kept: true, points: 4, measured: 4, failed: 0 })
    const phases = progress.map(({ phase }) => phase)
    expect(phases.lastIndexOf('calibrating')).toBeLessThan(phases.indexOf('measuring'))
    expect(progress.at(-1)).toMatchObject({ done: 3, total: 4, repeat: 1, repeats: 2, failed: 0 })
    expect(readManifest(bundle)).toMatchObject({ name: 'small', status: 'complete' })
    expect(await repeatsOf(bundle)).toHaveLength(8)
  })

  it('stops when it is asked to, keeps what it measured, and another goes on with the rest', async () => {
    const bundle = newBundle()
    const { end } = await measured(begin(bundle), (progress, { host }) => {
      if (progress.phase === 'measuring' && progress.done === 1) host.command({ type: 'stop' })
    })
    expect(end).toMatchObject({ status: 'stopped', kept: true, points: 4, measured: 1 })
    expect(readManifest(bundle).status).toBe('stopped')
    const before = await repeatsOf(bundle)
    const rest = await measured({ type: 'goOn', folder: bundle })
    expect(rest.end).toMatchObject({ status: 'complete', measured: 4 })
    expect(rest.progress.map(({ phase }) => phase)).not.toContain('calibrating')
    const after = await repeatsOf(bundle)
    expect(after.slice(0, before.length)).toEqual(before)
    expect(new Set(after).size).toBe(8)
    expect(after).toHaveLength(8)
  })

  it('writes nothing when it is stopped before the first point', async () => {
    const bundle = newBundle()
    const { end } = await measured(begin(bundle), (_, { host }) => host.command({ type: 'stop' }))
    expect(end).toEqual({ status: 'stopped', kept: false, points: 0, measured: 0, failed: 0 })
  })

  it('loses one point with an engine that dies, goes on with another, and measures it the next time', async () => {
    const bundle = newBundle()
    let killed = false
    const { end } = await measured(begin(bundle), (progress, { engine }) => {
      if (killed || progress.phase !== 'measuring' || progress.done !== 1) return
      killed = true
      engine()?.kill()
    })
    expect(end).toMatchObject({ status: 'complete', points: 4, measured: 3, failed: 1 })
    expect(end.error).toContain('SIGKILL')
    expect((await measured({ type: 'goOn', folder: bundle })).end).toEqual({
      status: 'complete',
      kept: true,
      points: 4,
      measured: 4,
      failed: 0,
    })
  })

  it('refuses a folder without a sweep, and a sweep of ranks that are processes, saying what to do', async () => {
    const bundle = newBundle()
    expect((await measured({ type: 'goOn', folder: bundle })).end).toMatchObject({
      status: 'failed',
      kept: false,
      error: `no such bundle: ${bundle}`,
    })
    await measured(begin(bundle))
    const manifest = readManifest(bundle)
    const { sweep } = manifest
    if (sweep === undefined) throw new Error('no sweep')
    const { base } = sweep.config
    const config = {
      ...sweep.config,
      base: { ...base, engine: { ...base.engine, ranks: 'processes' as const } },
    }
    writeManifest(bundle, { ...manifest, sweep: { ...sweep, config } })
    const { end } = await measured({ type: 'goOn', folder: bundle })
    expect(end.error).toContain(`dcpscope sweep --out ${bundle}`)
    expect(readManifest(bundle).status).toBe('complete')
    const { sweep: _, ...single } = manifest
    writeManifest(bundle, single)
    expect((await measured({ type: 'goOn', folder: bundle })).end.error).toContain('holds no sweep')
  })

  it('refuses a second sweep and what is no command', async () => {
    const bundle = newBundle()
    const { complaints } = await measured(begin(bundle), (progress, { host }) => {
      if (progress.phase !== 'calibrating' || progress.done > 0) return
      host.command({ type: 'goOn', folder: bundle })
      host.command(null)
    })
    expect(complaints[0]).toBe('refused a second sweep')
    expect(complaints[1]).toMatch(/^refused a command/)
  })

  it('has an engine ended that does not stop, which is no failure of the point', async () => {
    vi.useFakeTimers()
    try {
      const events: SweepEvent[] = []
      const host = createSweepHost(
        (event) => events.push(event),
        () => {},
      )
      const last = (): SweepEvent | undefined => events.at(-1)
      host.command(begin('/nowhere/new.dcp'))
      await vi.waitFor(() => expect(last()).toEqual({ type: 'forkEngine', engine: 1 }))
      const ready = { type: 'ready', version: '0', cores: 2, simd: 'avx2', memoryAvailableBytes: 8e9 }
      host.command({ type: 'engineEvent', engine: 1, event: ready })
      await vi.waitFor(() =>
        expect(last()).toMatchObject({ type: 'engineCommand', command: { type: 'start' } }),
      )
      host.command({ type: 'stop' })
      expect(last()).toEqual({ type: 'engineCommand', engine: 1, command: { type: 'stop' } })
      await vi.advanceTimersByTimeAsync(ENGINE_STOP_MS)
      expect(last()).toEqual({ type: 'endEngine', engine: 1 })
      host.command({ type: 'engineGone', engine: 1, how: 'The engine process was ended.' })
      await vi.waitFor(() =>
        expect(last()).toMatchObject({ type: 'ended', end: { status: 'stopped', kept: false } }),
      )
    } finally {
      vi.useRealTimers()
    }
  })
})
