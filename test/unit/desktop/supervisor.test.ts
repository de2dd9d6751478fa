import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type DesktopState, desktopStateSchema } from '../../../app/protocol/desktop.ts'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { DEFAULT_SETTINGS } from '../../../app/settings/settings.ts'
import { openedDumps } from '../../../main/desktop/dumps.ts'
import { HEARTBEAT_MS, MISSED_PINGS, START_MS } from '../../../main/desktop/supervised.ts'
import { createSupervisor, DEATH_NOTICE_MS, type EngineStart } from '../../../main/desktop/supervisor.ts'
import { type FakeChild, fakeForge, types } from './fake-forge.ts'

const READY = { type: 'ready', version: '0.1.0', cores: 2, simd: 'avx2', memoryAvailableBytes: 1e9 }

const startOf = (runId: string): EngineStart => {
  const parsed = parseRunConfig({}, 'tiny')
  if (!parsed.ok) throw new Error('the tiny preset does not parse')
  return { type: 'start', runId, bundle: `/runs/${runId}.dcp`, name: runId, config: parsed.config }
}

const desk = () => {
  const forge = fakeForge()
  const states: DesktopState[] = []
  const complaints: string[] = []
  const marked: [string, string][] = []
  const supervisor = createSupervisor<string>({
    forge,
    runsFolder: '/runs',
    bundles: { elsewhere: () => ['/elsewhere/a.dcp'] },
    dumps: openedDumps('/nowhere-to-write\0/dumps.json', () => {}),
    runtime: { app: '0', electron: '25', chrome: '114', node: '18', engine: '', device: '' },
    settings: { get: () => DEFAULT_SETTINGS, problem: undefined },
    onState: (state) => states.push(state),
    complain: (sentence) => complaints.push(sentence),
    markInterrupted: (bundle, reason) => marked.push([bundle, reason]),
  })
  const ready = (): void => {
    forge.latest('engine').say(READY)
    forge.latest('store').say({ type: 'ready' })
  }
  return { forge, states, complaints, marked, supervisor, ready }
}

const running = () => {
  const all = desk()
  all.supervisor.start()
  all.ready()
  all.supervisor.startRun(startOf('r1'))
  all.forge.latest('engine').say({ type: 'phase', runId: 'r1', phase: 'running', fraction: 0.5 })
  return all
}

const KILLED = { how: 'killed', code: 9 } as const

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('starting', () => {
  it('forks both processes and joins them by one channel before either is ready', () => {
    const { forge, supervisor } = desk()
    supervisor.start()
    const store = forge.latest('store')
    const engine = forge.latest('engine')
    expect(types(store)).toEqual(['runsFolder', 'engine-port'])
    expect(store.received[0]?.message).toEqual({
      type: 'runsFolder',
      folder: '/runs',
      elsewhere: ['/elsewhere/a.dcp'],
    })
    expect(types(engine)).toEqual(['store-port'])
    expect(store.received[1]?.ports).toEqual(['1b'])
    expect(engine.received[0]?.ports).toEqual(['1a'])
    expect(supervisor.state().engine).toEqual({ status: 'starting' })
  })

  it('is ready with the pid once the process says so, and every state fits the schema', () => {
    const { supervisor, states, ready } = desk()
    supervisor.start()
    ready()
    expect(supervisor.state()).toMatchObject({
      engine: { status: 'ready', pid: 101 },
      store: { status: 'ready', pid: 100 },
      runtime: { engine: '0.1.0', device: 'CPU, 2 cores, avx2' },
      machine: { cpu: { cores: 2, simd: 'avx2', memoryAvailableBytes: 1e9 } },
    })
    for (const state of states) expect(desktopStateSchema.safeParse(state).error).toBeUndefined()
  })

  it('gives up on a process that never shows a sign of life', () => {
    const { forge, supervisor } = desk()
    supervisor.start()
    forge.latest('store').say({ type: 'ready' })
    vi.advanceTimersByTime(START_MS)
    expect(supervisor.state().engine).toMatchObject({ status: 'crashed' })
    expect(forge.latest('engine').killed).toBe(true)
  })

  it('gives a window a line to the store', () => {
    const { forge, supervisor } = desk()
    supervisor.start()
    expect(supervisor.clientPort()).toBe('2a')
    expect(forge.latest('store').received.at(-1)).toEqual({ message: { type: 'client-port' }, ports: ['2b'] })
  })
})

describe('a run', () => {
  it('goes from starting through phases to its end', () => {
    const { forge, supervisor } = running()
    expect(supervisor.state().activeRun).toEqual({ id: 'r1', phase: 'running', fraction: 0.5 })
    forge.latest('engine').say({ type: 'ended', runId: 'r1', status: 'complete' })
    expect(supervisor.state()).toMatchObject({ activeRun: null, lastRun: { id: 'r1', status: 'complete' } })
  })

  it('is refused while another is in progress', () => {
    const { supervisor, forge } = running()
    expect(supervisor.startRun(startOf('r2'))).toMatchObject({ ok: false })
    expect(types(forge.latest('engine')).filter((type) => type === 'start')).toHaveLength(1)
  })

  it('takes pause, resume and stop, which are refused when nothing runs', () => {
    const { supervisor, forge } = running()
    for (const command of ['pause', 'resume', 'stop'] as const)
      expect(supervisor.control(command)).toEqual({ ok: true, run: 'r1' })
    expect(types(forge.latest('engine')).slice(-3)).toEqual(['pause', 'resume', 'stop'])
    forge.latest('engine').say({ type: 'ended', runId: 'r1', status: 'stopped' })
    expect(supervisor.control('pause')).toMatchObject({ ok: false })
  })

  it('is not touched by late events of an earlier one', () => {
    const { supervisor, forge } = running()
    forge.latest('engine').say({ type: 'ended', runId: 'r0', status: 'failed', error: 'late' })
    expect(supervisor.state().activeRun?.id).toBe('r1')
  })
})

describe('death of the engine', () => {
  it('ends the run as interrupted, tells the store why, and says what was kept', () => {
    const { forge, supervisor } = running()
    forge.latest('engine').die(KILLED)
    const { engine, store, activeRun, lastRun } = supervisor.state()
    expect(store.status).toBe('ready')
    expect(activeRun).toBeNull()
    expect(lastRun).toMatchObject({ id: 'r1', status: 'interrupted' })
    expect(engine.status === 'crashed' && engine.message).toMatch(
      /killed .* r1 .* interrupted.* Restart the engine/,
    )
    expect(forge.latest('store').received.at(-1)?.message).toMatchObject({
      type: 'interrupt',
      bundle: '/runs/r1.dcp',
    })
  })

  it('says that nothing is lost when no run was in progress', () => {
    const { forge, supervisor, ready } = desk()
    supervisor.start()
    ready()
    forge.latest('engine').die({ how: 'exit', code: 0 })
    const { engine, lastRun } = supervisor.state()
    expect(engine.status === 'crashed' && engine.message).toContain('nothing is lost')
    expect(lastRun).toBeNull()
    expect(types(forge.latest('store'))).not.toContain('interrupt')
  })

  it('ends its message with what the process said last', () => {
    const { forge, supervisor } = desk()
    supervisor.start()
    forge.latest('engine').words = 'the native engine is missing'
    forge.latest('engine').die({ how: 'exit', code: 3 })
    const { engine } = supervisor.state()
    expect(engine.status === 'crashed' && engine.message).toMatch(
      /exit code 3.*Its last message: the native engine is missing$/,
    )
  })

  it('is undone by a restart with a new channel, after which a run completes', () => {
    const { forge, supervisor } = running()
    forge.latest('engine').die(KILLED)
    expect(supervisor.startRun(startOf('r2'))).toMatchObject({ ok: false })
    expect(supervisor.restart('engine')).toEqual({ ok: true })
    forge.latest('engine').say(READY)
    expect(forge.latest('engine').received[0]?.ports).toEqual(['2a'])
    expect(forge.latest('store').received.at(-1)).toEqual({ message: { type: 'engine-port' }, ports: ['2b'] })
    expect(supervisor.startRun(startOf('r2'))).toEqual({ ok: true, run: 'r2' })
    forge.latest('engine').say({ type: 'ended', runId: 'r2', status: 'complete' })
    expect(supervisor.state()).toMatchObject({ engine: { status: 'ready' }, lastRun: { status: 'complete' } })
  })

  it('is not undone by late words of the dead process', () => {
    const { forge, supervisor } = running()
    const dead = forge.latest('engine')
    dead.die(KILLED)
    dead.say(READY)
    expect(supervisor.state().engine.status).toBe('crashed')
    supervisor.restart('engine')
    dead.die({ how: 'exit', code: 9 })
    expect(supervisor.state().engine.status).toBe('starting')
  })
})

describe('death of the store', () => {
  it('ends the run and marks its bundle at once, as no store is there to do it', () => {
    const { forge, supervisor, marked } = running()
    forge.latest('store').die({ how: 'crashed', code: 11 })
    const { engine, store, lastRun } = supervisor.state()
    expect(engine.status).toBe('ready')
    expect(store.status === 'crashed' && store.message).toMatch(/crashed .*r1.*Restart the store/)
    expect(lastRun).toMatchObject({ id: 'r1', status: 'interrupted' })
    expect(marked).toEqual([['/runs/r1.dcp', 'The store process crashed (code 11).']])
  })

  const LINE_BROKE = { type: 'ended', runId: 'r1', status: 'interrupted', error: 'the store is gone' }

  it('is told even when the engine has seen its line break first', () => {
    const { forge, supervisor, marked } = running()
    forge.latest('engine').say(LINE_BROKE)
    expect(supervisor.state().activeRun?.id).toBe('r1')
    forge.latest('store').die(KILLED)
    const { store, lastRun } = supervisor.state()
    expect(store.status === 'crashed' && store.message).toContain('r1 is over and marked interrupted')
    expect(lastRun).toMatchObject({
      status: 'interrupted',
      error: 'The store process was killed (signal 9).',
    })
    expect(marked).toHaveLength(1)
    vi.advanceTimersByTime(DEATH_NOTICE_MS)
    expect(marked).toHaveLength(1)
  })

  it('is not needed for a broken line to end the run', () => {
    const { forge, supervisor } = running()
    forge.latest('engine').say(LINE_BROKE)
    vi.advanceTimersByTime(DEATH_NOTICE_MS)
    expect(supervisor.state()).toMatchObject({
      activeRun: null,
      lastRun: { id: 'r1', status: 'interrupted', error: 'the store is gone' },
    })
    expect(types(forge.latest('store'))).toContain('interrupt')
    // Both have a new line, so that the next run finds its store.
    expect(types(forge.latest('store')).filter((type) => type === 'engine-port')).toHaveLength(2)
    expect(types(forge.latest('engine')).filter((type) => type === 'store-port')).toHaveLength(2)
  })

  it('answers openings that wait for it', async () => {
    const { forge, supervisor, ready } = desk()
    supervisor.start()
    ready()
    const opening = supervisor.open('/else/a.dcp')
    forge.latest('store').die(KILLED)
    expect(await opening).toMatchObject({ ok: false })
    expect(await supervisor.open('/else/a.dcp')).toMatchObject({ ok: false })
    expect(supervisor.clientPort()).toBeUndefined()
  })

  it('is undone by a restart that knows the runs folder and the engine again', () => {
    const { forge, supervisor } = running()
    forge.latest('store').die(KILLED)
    expect(supervisor.restart('store')).toEqual({ ok: true })
    expect(types(forge.latest('store'))).toEqual(['runsFolder', 'engine-port'])
    expect(types(forge.latest('engine')).at(-1)).toBe('store-port')
  })

  it('does not join a new store with a dead engine, but the engine joins when it comes', () => {
    const { forge, supervisor } = running()
    forge.latest('engine').die(KILLED)
    forge.latest('store').die(KILLED)
    supervisor.restart('store')
    expect(types(forge.latest('store'))).toEqual(['runsFolder'])
    supervisor.restart('engine')
    expect(types(forge.latest('store'))).toEqual(['runsFolder', 'engine-port'])
    expect(types(forge.latest('engine'))).toEqual(['store-port'])
  })
})

describe('the heartbeat', () => {
  const beats = (n: number): void => {
    vi.advanceTimersByTime(n * HEARTBEAT_MS)
  }
  const answerPings = (child: FakeChild): void => {
    const post = child.post
    child.post = (message, ports) => {
      post(message, ports)
      if (typeof message === 'object' && message !== null && 'seq' in message)
        child.say({ type: 'pong', seq: message.seq })
    }
  }

  it('leaves a process alone that answers', () => {
    const { forge, supervisor } = running()
    for (const child of forge.children) answerPings(child)
    beats(20 * MISSED_PINGS)
    expect(supervisor.state()).toMatchObject({ engine: { status: 'ready' }, store: { status: 'ready' } })
  })

  it('ends a process that hangs and says so', () => {
    const { forge, supervisor } = running()
    answerPings(forge.latest('store'))
    beats(MISSED_PINGS)
    expect(supervisor.state().engine.status).toBe('ready')
    beats(1)
    const { engine, lastRun } = supervisor.state()
    expect(engine.status === 'crashed' && engine.message).toContain('did not answer')
    expect(forge.latest('engine').killed).toBe(true)
    expect(lastRun?.status).toBe('interrupted')
  })

  it('stops with its process', () => {
    const { forge } = running()
    for (const child of forge.children) child.die(KILLED)
    const before = forge.children.map((child) => child.received.length)
    beats(10)
    expect(forge.children.map((child) => child.received.length)).toEqual(before)
  })
})

describe('restart', () => {
  it('is refused for a process that lives', () => {
    const { forge, supervisor, ready } = desk()
    supervisor.start()
    expect(supervisor.restart('engine')).toMatchObject({ ok: false })
    ready()
    expect(supervisor.restart('store')).toMatchObject({ ok: false })
    expect(forge.children).toHaveLength(2)
  })
})

describe('messages', () => {
  it.each([
    [null],
    ['ready'],
    [{ type: 'unknown' }],
    [{ type: 'ready' }],
    [{ type: 'ended', runId: 'r1', status: 'odd' }],
  ])('of the engine that fit no schema are refused and change nothing: %j', (message) => {
    const { forge, supervisor, complaints } = running()
    const before = supervisor.state()
    forge.latest('engine').say(message)
    expect(supervisor.state()).toEqual(before)
    expect(complaints).toEqual(['refused a message of the engine process'])
  })
})

describe('opening a bundle', () => {
  it('answers with the id that the store gave, in whatever order answers come', async () => {
    const { forge, supervisor, ready } = desk()
    supervisor.start()
    ready()
    const first = supervisor.open('/a.dcp')
    const second = supervisor.open('/b.dcp')
    forge.latest('store').say({ type: 'refused', seq: 1, message: '/b.dcp is not a run bundle' })
    forge.latest('store').say({ type: 'opened', seq: 0, run: 'a' })
    expect(await first).toEqual({ ok: true, run: 'a' })
    expect(await second).toEqual({ ok: false, message: '/b.dcp is not a run bundle', issues: [] })
  })

  it('is announced to windows that did not ask', () => {
    const { supervisor } = desk()
    supervisor.announce({ ok: true, run: 'a' })
    supervisor.announce({ ok: true, run: 'b' })
    expect(supervisor.state().opened).toEqual({ seq: 2, result: { ok: true, run: 'b' } })
  })
})

it('a link is handed to windows as it came, each time anew', () => {
  const { supervisor } = desk()
  expect(supervisor.state().link).toBeUndefined()
  supervisor.follow('dcpscope://open?view=merge')
  supervisor.follow('dcpscope://open?view=merge')
  expect(supervisor.state().link).toEqual({ seq: 2, text: 'dcpscope://open?view=merge' })
})

describe('predicting memory', () => {
  const prediction = { device: 'cpu', components: [{ name: 'kv pages', bytes: 5 }], availableBytes: 9 }

  it('answers with what the engine says, in whatever order answers come', async () => {
    const { supervisor, forge } = running()
    const { config } = startOf('r2')
    const [first, second] = [supervisor.predict(config), supervisor.predict(config)]
    const asked = forge.latest('engine').received.slice(-2)
    const [a, b] = asked.map(({ message }) => (message as { seq: number }).seq)
    const engine = forge.latest('engine')
    engine.say({ type: 'predicted', seq: b, result: { ok: true, prediction } })
    engine.say({ type: 'predicted', seq: a, result: { ok: false, message: 'too large' } })
    expect(await second).toEqual({ ok: true, prediction })
    expect(await first).toMatchObject({ ok: false, message: 'too large' })
  })

  it('is refused by an engine that dies or is dead', async () => {
    const { supervisor, forge } = running()
    const { config } = startOf('r2')
    const asked = supervisor.predict(config)
    forge.latest('engine').die(KILLED)
    expect(await asked).toMatchObject({ ok: false, message: expect.stringContaining('killed') })
    expect(await supervisor.predict(config)).toMatchObject({ ok: false })
  })
})

describe('shutting down', () => {
  it('stops a run in progress, waits for its end and then ends both processes', async () => {
    const { forge, supervisor } = running()
    const down = supervisor.shutDown(5000)
    expect(types(forge.latest('engine')).at(-1)).toBe('stop')
    expect(forge.latest('engine').killed).toBe(false)
    forge.latest('engine').say({ type: 'ended', runId: 'r1', status: 'stopped' })
    await down
    expect(forge.children.every((child) => child.killed)).toBe(true)
    expect(supervisor.state().lastRun?.status).toBe('stopped')
  })

  it('does not wait for ever', async () => {
    const { forge, supervisor } = running()
    const down = supervisor.shutDown(5000)
    await vi.advanceTimersByTimeAsync(5000)
    await down
    expect(forge.children.every((child) => child.killed)).toBe(true)
  })
})

describe('a run and a sweep', () => {
  const sweep = { type: 'goOn', folder: '/runs/s.dcp' } as const

  it('are never in progress at once', () => {
    const { forge, supervisor } = running()
    expect(supervisor.startSweep(sweep)).toMatchObject({
      ok: false,
      message: expect.stringContaining('Stop it before you start the sweep.'),
    })
    forge.latest('engine').say({ type: 'ended', runId: 'r1', status: 'complete' })
    expect(supervisor.startSweep(sweep).ok).toBe(true)
    expect(supervisor.startRun(startOf('r2'))).toMatchObject({
      ok: false,
      message: expect.stringContaining('Pause it before you start a run.'),
    })
    expect(supervisor.startSweep(sweep)).toMatchObject({
      ok: false,
      message: expect.stringContaining('Pause it before you start another.'),
    })
    expect(supervisor.state().activeRun).toBeNull()
    expect(desktopStateSchema.parse(supervisor.state()).activeSweep?.name).toBe('s')
  })

  it('have engines of their own: the death of one leaves the other', () => {
    const { forge, supervisor, ready } = desk()
    supervisor.start()
    ready()
    const engine = forge.latest('engine')
    supervisor.startSweep(sweep)
    forge.latest('sweep').say({ type: 'forkEngine', engine: 1 })
    expect(forge.latest('engine')).not.toBe(engine)
    forge.latest('engine').die(KILLED)
    expect(supervisor.state().engine.status).toBe('ready')
    engine.die(KILLED)
    expect(supervisor.state().engine.status).toBe('crashed')
    expect(supervisor.state().activeSweep).not.toBeNull()
  })

  it('end before the app does', async () => {
    const { forge, supervisor, ready } = desk()
    supervisor.start()
    ready()
    supervisor.startSweep(sweep)
    const down = supervisor.shutDown(5000)
    expect(types(forge.latest('sweep'))).toEqual(['goOn', 'stop'])
    expect(forge.latest('store').killed).toBe(false)
    const end = { status: 'stopped', kept: true, points: 2, measured: 1, failed: 0 }
    forge.latest('sweep').say({ type: 'ended', end })
    await down
    expect(forge.children.every((child) => child.killed)).toBe(true)
  })
})
