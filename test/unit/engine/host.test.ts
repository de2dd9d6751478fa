import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type EngineEvent, traceMessageSchema } from '../../../app/protocol/engine.ts'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { createEngineHost, type EngineHost } from '../../../main/engine/engine-host.ts'
import { addonPath, loadAddon } from '../../../main/engine/load-addon.ts'
import { type Port, portPair } from '../../../main/process/port.ts'
import { type FakeEngine, fakeEngine, GPU, NO_GPU } from './fake-run.ts'

const tiny = (() => {
  const parsed = parseRunConfig({}, 'tiny')
  if (!parsed.ok) throw new Error('tiny is valid')
  return parsed.config
})()

const startOf = (runId: string, config: unknown = tiny) => ({
  type: 'start',
  runId,
  bundle: '/nowhere/x.dcp',
  name: 'x',
  config,
})

interface Stage {
  readonly host: EngineHost
  readonly events: EngineEvent[]
  readonly complaints: string[]
  readonly ended: (runId: string) => Promise<Extract<EngineEvent, { type: 'ended' }>>
}

const stage = (steps: number, engine: FakeEngine = fakeEngine({ steps })): Stage => {
  const events: EngineEvent[] = []
  const complaints: string[] = []
  const host = createEngineHost(
    engine.addon,
    (event) => events.push(event),
    (sentence) => complaints.push(sentence),
  )
  const ended: Stage['ended'] = async (runId) => {
    for (;;) {
      for (const event of events) if (event.type === 'ended' && event.runId === runId) return event
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { host, events, complaints, ended }
}

/** The store's end, which takes everything. */
const takingStore = (host: EngineHost): Port => {
  const [theirs, own] = portPair()
  own.onMessage((message) => {
    const sent = traceMessageSchema.parse(message)
    if ('bytes' in sent) own.post({ type: 'ack', runId: sent.runId, bytes: sent.bytes })
    if (sent.type === 'end') own.post({ type: 'closed', runId: sent.runId, status: sent.status })
  })
  host.connectStore(theirs)
  return own
}

describe('the engine host', () => {
  it('runs a configuration', async () => {
    const { host, ended } = stage(3)
    takingStore(host)
    host.command(startOf('first'))
    expect(await ended('first')).toMatchObject({ status: 'complete' })
  })

  it('answers a ping while a run goes on', async () => {
    const { host, events } = stage(1_000_000)
    takingStore(host)
    host.command(startOf('long'))
    host.command({ type: 'ping', seq: 7 })
    expect(events.at(-1)).toEqual({ type: 'pong', seq: 7 })
    await host.shutDown()
    expect(events.at(-1)).toMatchObject({ type: 'ended', status: 'stopped' })
  })

  it('refuses a second run and keeps the first', async () => {
    const { host, ended } = stage(1_000_000)
    takingStore(host)
    host.command(startOf('a'))
    host.command(startOf('b'))
    expect(await ended('b')).toMatchObject({ status: 'failed', code: 'ERR_STATE' })
    host.command({ type: 'stop' })
    expect(await ended('a')).toMatchObject({ status: 'stopped' })
  })

  it('refuses a run without a store', async () => {
    const { host, ended } = stage(1)
    host.command(startOf('a'))
    expect(await ended('a')).toMatchObject({ status: 'failed', error: 'no store is connected' })
  })

  it('refuses a configuration that breaks a rule between fields, or that the engine cannot do', async () => {
    const { host, ended } = stage(1)
    takingStore(host)
    host.command(startOf('a', { ...tiny, parallel: { ...tiny.parallel, dcpSize: 3 } }))
    expect(await ended('a')).toMatchObject({
      code: 'ERR_CONFIG',
      error: expect.stringContaining('must divide tpSize'),
    })
    host.command(startOf('c', { ...tiny, engine: { ...tiny.engine, ranks: 'processes' } }))
    expect(await ended('c')).toMatchObject({
      code: 'ERR_CONFIG',
      error: 'engine.ranks: processes can be run from the command line only',
    })
    host.command(startOf('b', { ...tiny, serving: { ...tiny.serving, kernel: 'x' } }))
    expect(await ended('b')).toMatchObject({
      code: 'ERR_CONFIG',
      error: expect.stringContaining('serving.kernel'),
    })
  })

  it('predicts the memory of a configuration, and refuses one that it cannot run', () => {
    const { host, events } = stage(1)
    host.command({ type: 'predict', seq: 3, config: tiny })
    expect(events.at(-1)).toEqual({
      type: 'predicted',
      seq: 3,
      result: {
        ok: true,
        prediction: {
          device: 'cpu',
          components: [
            { name: 'kv pages', bytes: 3e8 },
            { name: 'queries', bytes: 1e6 },
          ],
          availableBytes: 1e9,
        },
      },
    })
    host.command({ type: 'predict', seq: 4, config: { ...tiny, parallel: { ...tiny.parallel, dcpSize: 3 } } })
    expect(events.at(-1)).toMatchObject({
      seq: 4,
      result: { ok: false, message: expect.stringContaining('must divide tpSize') },
    })
  })

  const onDevice = (device: 'auto' | 'cpu' | 'cuda', more: object = {}) => ({
    ...tiny,
    engine: { ...tiny.engine, device, ...more },
  })
  const withGpu = { available: true, devices: [GPU] }

  it.each([
    ['auto', withGpu, 'cuda'],
    ['auto', NO_GPU, 'cpu'],
    ['cuda', withGpu, 'cuda'],
    ['cpu', withGpu, 'cpu'],
  ] as const)('runs %s on a machine with %j on the %s', async (asked, cuda, device) => {
    const engine = fakeEngine({ steps: 1, cuda })
    const { host, ended } = stage(1, engine)
    takingStore(host)
    host.command(startOf('a', onDevice(asked)))
    expect(await ended('a')).toMatchObject({ status: 'complete' })
    expect(engine.devices).toEqual([device])
  })

  it('says why a GPU that is asked for cannot be used, as a failure of the machine', async () => {
    const engine = fakeEngine({ steps: 1, cuda: NO_GPU })
    const { host, ended } = stage(1, engine)
    takingStore(host)
    host.command(startOf('a', onDevice('cuda')))
    expect(await ended('a')).toMatchObject({
      status: 'failed',
      code: 'ERR_ENGINE',
      error: 'there is no NVIDIA driver on this machine',
    })
    expect(engine.devices).toEqual([])
  })

  it('refuses graphs where auto finds no GPU', async () => {
    const { host, ended } = stage(1, fakeEngine({ steps: 1, cuda: NO_GPU }))
    takingStore(host)
    host.command(startOf('a', onDevice('auto', { graph: true })))
    expect(await ended('a')).toMatchObject({
      code: 'ERR_CONFIG',
      error: expect.stringContaining('engine.graph'),
    })
  })

  it('predicts the memory of the GPU where the run would use it', () => {
    const { host, events } = stage(1, fakeEngine({ steps: 1, cuda: withGpu }))
    host.command({ type: 'predict', seq: 5, config: onDevice('auto') })
    expect(events.at(-1)).toMatchObject({
      result: {
        prediction: {
          device: 'cuda',
          components: [{ name: 'kv pages' }, { name: 'queries' }],
          availableBytes: GPU.freeBytes,
        },
      },
    })
  })

  it.each([null, 5, 'start', {}, { type: 'start' }, { type: 'pause', more: 1 }])(
    'complains about %j and changes nothing',
    (message) => {
      const { host, events, complaints } = stage(1)
      takingStore(host)
      host.command(message)
      expect(events.filter((e) => e.type === 'ended')).toEqual([])
      expect(complaints).toHaveLength(1)
    },
  )

  it('ends the run when its store goes, and takes a new store', async () => {
    const { host, ended } = stage(20)
    const silent = portPair()
    host.connectStore(silent[0])
    host.command(startOf('a'))
    silent[1].close()
    expect(await ended('a')).toMatchObject({ status: 'interrupted', code: 'ERR_STORE' })
    takingStore(host)
    host.command(startOf('b'))
    expect(await ended('b')).toMatchObject({ status: 'complete' })
  })
})

describe('loading the native engine', () => {
  const dist = mkdtempSync(join(tmpdir(), 'dcpscope-addon-'))
  afterAll(() => rmSync(dist, { recursive: true }))

  it('says what to do when it is missing', () => {
    expect(() => loadAddon(dist)).toThrow(/the native engine is missing; build it with "npm run build"/)
  })

  it('says what to do when it does not load', () => {
    mkdirSync(join(dist, 'native'))
    writeFileSync(addonPath(dist), 'not a library')
    expect(() => loadAddon(dist)).toThrow(/the native engine does not load here; build it anew .*\(.+\)/s)
  })

  it('looks beside the archive of a package', () => {
    expect(addonPath('/opt/d/resources/app.asar/dist')).toBe(
      '/opt/d/resources/app.asar.unpacked/dist/native/dcpscope.node',
    )
  })
})
