import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { CHANNEL, type CommandResult, type DesktopState } from '../../../app/protocol/desktop.ts'
import { DEFAULT_SETTINGS } from '../../../app/settings/settings.ts'
import {
  type CommandServices,
  desktopHandlers,
  openBundles,
  openPaths,
} from '../../../main/desktop/commands.ts'
import { isOurs, openGateway } from '../../../main/desktop/gateway.ts'
import { dispatch } from '../../../main/desktop/page-services.ts'
import type { EngineStart } from '../../../main/desktop/supervisor.ts'

const OK: CommandResult = { ok: true }

const STATE: DesktopState = {
  engine: { status: 'ready', pid: 1 },
  store: { status: 'ready', pid: 2 },
  activeRun: null,
  lastRun: null,
  activeSweep: null,
  lastSweep: null,
  dumps: [],
  diagnosis: null,
  settings: DEFAULT_SETTINGS,
  runtime: { app: '', electron: '', chrome: '', node: '', engine: '', device: '' },
  machine: {
    cpu: { cores: 2, simd: 'avx2', memoryAvailableBytes: 1e9 },
    cuda: { available: false, reason: 'there is no driver', devices: [] },
  },
}

const services = (runsFolder = '/nowhere-to-write\0/runs') => {
  const calls: unknown[] = []
  const started: EngineStart[] = []
  const all: CommandServices = {
    supervisor: {
      state: () => STATE,
      startRun: (run) => {
        started.push(run)
        return { ok: true, run: run.runId }
      },
      predict: async (config) => {
        calls.push(['predict', config.workload.steps])
        return OK
      },
      control: (command) => {
        calls.push(command)
        return OK
      },
      startSweep: (sweep) => {
        calls.push(sweep)
        return OK
      },
      pauseSweep: () => {
        calls.push('pauseSweep')
        return OK
      },
      restart: (process) => {
        calls.push(['restart', process])
        return OK
      },
      open: async (folder) =>
        folder.includes('broken')
          ? { ok: false, message: `${folder} is broken.`, issues: [] }
          : { ok: true, run: folder },
      openDump: (paths) => ({ ok: true, dump: paths.join(' ') }),
      diagnose: async (dump, paths, allRows) => {
        calls.push(['diagnose', dump, paths, allRows])
        return OK
      },
      cancelDiagnosis: () => calls.push('cancel'),
      forgetDump: (dump) => calls.push(['forget', dump]),
    },
    runsFolder,
    chooseBundles: async () => ['/runs/a.dcp', '/runs/b.dcp'],
    chooseDump: async (pick) => (pick === 'files' ? ['/dumps/a.safetensors', '/dumps/b'] : []),
    bundles: {
      elsewhere: () => [],
      remember: (folder) => calls.push(['remember', folder]),
      find: async () => undefined,
    },
    saveFile: async (name, content) => {
      if (content === 'full') throw new Error('the disk is full')
      calls.push(['save', name, content])
      return name === 'cancelled.csv' ? undefined : name
    },
    showInFolder: (path) => calls.push(['show', path]),
    changeSettings: (change) => {
      if (change.frames === 7) throw new Error('the disk is full')
      calls.push(['settings', change])
    },
  }
  return { all, calls, started, send: (payload: unknown) => dispatch(desktopHandlers(all), payload) }
}

describe('a payload', () => {
  it.each([
    [null],
    ['startRun'],
    [{ command: 'eval', params: {} }],
    [{ command: 'constructor', params: {} }],
    [{ command: '__proto__', params: {} }],
    [{ command: 'pauseRun', params: {}, more: 1 }],
  ])('that is no command is refused: %j', async (payload) => {
    const { send, calls } = services()
    expect(await send(payload)).toMatchObject({ ok: false, message: 'This command is not known.' })
    expect(calls).toEqual([])
  })

  it.each([
    [{ command: 'restart', params: { process: 'main' } }, 'process'],
    [{ command: 'revealRun', params: { run: 7 } }, 'run'],
    [{ command: 'changeSettings', params: { change: { theme: 'blue' } } }, 'change.theme'],
    [{ command: 'changeSettings', params: { change: { colour: 'blue' } } }, 'change'],
    [{ command: 'pauseRun', params: { x: 1 } }, ''],
  ])('with wrong parameters is refused by path: %j', async (payload, path) => {
    const { send, calls } = services()
    const result = await send(payload)
    expect(result.ok === false && result.issues[0]?.path).toBe(path)
    expect(calls).toEqual([])
  })

  it('that fits reaches its handler', async () => {
    const { send, calls } = services()
    for (const payload of [
      { command: 'pauseRun', params: {} },
      { command: 'restart', params: { process: 'store' } },
      { command: 'changeSettings', params: { change: { theme: 'dark' } } },
    ])
      expect(await send(payload)).toEqual(OK)
    expect(calls).toEqual(['pause', ['restart', 'store'], ['settings', { theme: 'dark' }]])
  })
})

describe('saveFile', () => {
  const save = (name: string, content: unknown = 'a,b') =>
    services().send({ command: 'saveFile', params: { name, content } })

  it('says what was saved, that nothing was, or why it could not be', async () => {
    expect(await save('events.csv')).toEqual({ ok: true, saved: 'events.csv' })
    expect(await save('cancelled.csv')).toEqual(OK)
    expect(await save('map.png', new Uint8Array([137, 80]))).toEqual({ ok: true, saved: 'map.png' })
    expect(await save('events.csv', 'full')).toMatchObject({
      ok: false,
      message: 'Nothing was saved: the disk is full',
    })
  })

  it.each(['', '../events.csv', '/etc/passwd', '.hidden', 'a\nb'])('refuses %j as a name', async (name) => {
    const result = await save(name)
    expect(result.ok === false && result.issues[0]?.path).toBe('name')
  })

  it('refuses what is neither text nor bytes', async () => {
    const result = await save('map.png', { length: 3 })
    expect(result.ok === false && result.issues[0]?.path).toBe('content')
  })
})

describe('openDump', () => {
  it('opens what a person chose as one dump, and nothing when nothing was chosen', async () => {
    const { send } = services()
    expect(await send({ command: 'openDump', params: { pick: 'files' } })).toEqual({
      ok: true,
      dump: '/dumps/a.safetensors /dumps/b',
    })
    expect(await send({ command: 'openDump', params: { pick: 'folder' } })).toEqual(OK)
  })

  it('opens bundles as runs, and all else together as one dump', async () => {
    const { all, calls } = services()
    expect(await openPaths(all, ['/runs/a.dcp'])).toEqual({ ok: true, run: '/runs/a.dcp' })
    expect(calls).toEqual([['remember', '/runs/a.dcp']])
    expect(await openPaths(all, ['/runs/a.dcp', '/d/x', '/runs/b.dcp', '/runs/c.dcp', '/d/y'])).toEqual({
      ok: true,
      run: '/runs/a.dcp',
      others: ['/runs/b.dcp', '/runs/c.dcp'],
      dump: '/d/x /d/y',
    })
    expect(await openPaths(all, [])).toEqual(OK)
  })
})

describe('openBundle', () => {
  it('opens every bundle that a person chose', async () => {
    const result = await services().send({ command: 'openBundle', params: {} })
    expect(result).toEqual({ ok: true, run: '/runs/a.dcp', others: ['/runs/b.dcp'] })
  })

  it('says which could not be opened, and opens the others', async () => {
    const { all, calls } = services()
    expect(await openBundles(all, ['/broken.dcp', '/a.dcp'])).toEqual({
      ok: true,
      run: '/a.dcp',
      refused: ['/broken.dcp is broken.'],
    })
    expect(calls).toEqual([['remember', '/a.dcp']])
    expect(await openBundles(all, ['/broken1.dcp', '/broken2.dcp'])).toMatchObject({
      ok: false,
      message: '/broken1.dcp is broken. /broken2.dcp is broken.',
    })
    expect(await openBundles(all, [])).toEqual(OK)
  })
})

describe('startRun', () => {
  it.each([
    [{ parallel: { tpSize: 6, dcpSize: 4 }, model: { heads: 12 } }, 'parallel.dcpSize'],
    [{ model: { heads: 0 } }, 'model.heads'],
    [{ workload: { requests: [{ contextLen: -1 }] } }, 'workload.requests[0].contextLen'],
    [{ workload: { requests: [{ contextLen: 1e12 }] } }, 'workload.requests[0].contextLen'],
    [{ modell: {} }, 'modell'],
    [{ engine: { device: 'cuda' } }, 'engine.device'],
    [{ model: { headDim: 64 } }, 'model.headDim'],
    [{ engine: { ranks: 'processes' } }, 'engine.ranks'],
    ['{}', ''],
    [undefined, ''],
  ])('refuses %j with the path of the field and starts nothing', async (config, path) => {
    const { send, started } = services()
    const result = await send({ command: 'startRun', params: { config } })
    expect(result.ok === false && result.issues.map((issue) => issue.path)).toContain(path)
    expect(started).toEqual([])
  })

  it('names the first reason in its sentence, and counts the others', async () => {
    const { send } = services()
    const refused = async (config: unknown): Promise<string> => {
      const result = await send({ command: 'startRun', params: { config } })
      return result.ok ? '' : result.message
    }
    expect(await refused({ serving: { kernel: 'x' } })).toBe(
      "This configuration cannot run: serving.kernel: a back-end kernel is not supported by this version's engine.",
    )
    expect(await refused({ serving: { kernel: 'x', draft: 'x' } })).toMatch(/, and 1 more\.$/)
  })

  it('says so when the folder of runs cannot be made', async () => {
    const { send, started } = services()
    const result = await send({ command: 'startRun', params: { config: {} } })
    expect(result.ok === false && result.message).toContain('folder of runs')
    expect(started).toEqual([])
  })
})

describe('startSweep', () => {
  const runs = mkdtempSync(join(tmpdir(), 'dcpscope-gateway-'))
  afterAll(() => rmSync(runs, { recursive: true, force: true }))

  it.each([
    [{ context: [] }, 'context'],
    [{ dcp: [2, 2] }, 'dcp'],
    [{ base: { workload: { steps: 3 } } }, 'base.workload.steps'],
    [{ base: { engine: { device: 'cuda' } } }, 'base.engine.device'],
    [{ base: { engine: { ranks: 'processes' } } }, 'base.engine.ranks'],
    [undefined, ''],
  ])('refuses %j with the path of the field and measures nothing', async (config, path) => {
    const { send, calls } = services(runs)
    const result = await send({ command: 'startSweep', params: { config } })
    expect(result.ok === false && result.issues.map((issue) => issue.path)).toContain(path)
    expect(calls).toEqual([])
  })

  it('measures into a new bundle of the runs folder, with every default', async () => {
    const { send, calls } = services(runs)
    await send({ command: 'startSweep', params: { config: { dcp: [2] }, name: 'mine' } })
    expect(calls).toMatchObject([
      {
        type: 'begin',
        name: 'mine',
        folder: expect.stringMatching(/-sweep-.*\.dcp$/),
        config: { dcp: [2], repeats: 3 },
      },
    ])
  })

  it('goes on with a bundle that is known only', async () => {
    const { send, calls } = services(runs)
    expect(await send({ command: 'resumeSweep', params: { run: 'r' } })).toMatchObject({
      ok: false,
      message: expect.stringContaining('not known'),
    })
    expect(calls).toEqual([])
    await send({ command: 'pauseSweep', params: {} })
    expect(calls).toEqual(['pauseSweep'])
  })
})

describe('predictMemory', () => {
  it('asks the engine about the configuration with its defaults', async () => {
    const { send, calls } = services()
    expect(await send({ command: 'predictMemory', params: { config: {} } })).toEqual(OK)
    expect(calls).toEqual([['predict', 32]])
  })

  it('refuses what cannot run with the path of the field, and asks nothing', async () => {
    const { send, calls } = services()
    const result = await send({ command: 'predictMemory', params: { config: { model: { heads: 0 } } } })
    expect(result.ok === false && result.issues.map((issue) => issue.path)).toEqual(['model.heads'])
    expect(calls).toEqual([])
  })
})

describe('revealRun', () => {
  it('of a run that nobody knows is refused and shows nothing', async () => {
    const { send, calls } = services()
    expect(await send({ command: 'revealRun', params: { run: '../../etc' } })).toMatchObject({ ok: false })
    expect(calls).toEqual([])
  })
})

describe('a sender', () => {
  const origins = ['app://bundle']
  const main = { url: 'app://bundle/', parent: null }

  it('is trusted as the main frame of the window at our address only', () => {
    expect(isOurs(main, main, origins)).toBe(true)
    expect(isOurs(null, main, origins)).toBe(false)
    expect(isOurs({ ...main }, main, origins)).toBe(false)
    expect(isOurs(main, undefined, origins)).toBe(false)
  })

  it.each([['https://example.com/'], ['app://other/'], ['about:blank'], ['app://bundle.evil/'], ['']])(
    'at %s is not trusted even as the main frame',
    (url) => {
      const elsewhere = { url, parent: null }
      expect(isOurs(elsewhere, elsewhere, origins)).toBe(false)
    },
  )
})

describe('the gateway', () => {
  const frame = { url: 'app://bundle/', parent: null }

  const opened = (make: () => Promise<CommandResult>) => {
    const handlers = new Map<string, (...given: unknown[]) => unknown>()
    const said: string[] = []
    let made = 0
    const take = (channel: string, handler: (...given: never[]) => unknown) =>
      handlers.set(channel, handler as (...given: unknown[]) => unknown)
    openGateway({
      ipc: { handle: take, on: take } as unknown as Parameters<typeof openGateway>[0]['ipc'],
      contents: () => ({ mainFrame: frame }) as never,
      origins: ['app://bundle'],
      services: async () => {
        made++
        const result = await make()
        return {
          command: async () => result,
          state: () => STATE,
          sendPort: () => said.push('port'),
          dropped: (payload) => said.push(String(payload)),
        }
      },
      complain: (sentence) => said.push(sentence),
    })
    const send = (channel: string, payload?: unknown, senderFrame: unknown = frame) =>
      handlers.get(channel)?.({ senderFrame }, payload)
    return { send, said, made: () => made }
  }

  it('makes what answers with the first message, once, and lets all wait for it', async () => {
    let ready: (result: CommandResult) => void = () => undefined
    const { send, said, made } = opened(() => new Promise((resolve) => (ready = resolve)))
    expect(made()).toBe(0)
    const answers = Promise.all([send(CHANNEL.getState), send(CHANNEL.command, {})])
    send(CHANNEL.dropped, ['/a'])
    send(CHANNEL.requestPort)
    expect(made()).toBe(1)
    expect(said).toEqual([])
    ready(OK)
    expect(await answers).toEqual([STATE, OK])
    expect(said).toEqual(['/a', 'port'])
    expect(made()).toBe(1)
  })

  it('makes nothing for a frame that is not ours', async () => {
    const { send, said, made } = opened(async () => OK)
    const stranger = { url: 'https://example.com/', parent: null }
    await expect(send(CHANNEL.getState, undefined, stranger)).rejects.toThrow('may not ask')
    expect(await send(CHANNEL.command, {}, stranger)).toMatchObject({ ok: false })
    send(CHANNEL.dropped, ['/a'], stranger)
    expect(made()).toBe(0)
    expect(said).toHaveLength(3)
  })

  it('says why what answers could not be made', async () => {
    const { send, said } = opened(async () => {
      throw new Error('the disk is gone')
    })
    await expect(send(CHANNEL.getState)).rejects.toThrow('the disk is gone')
    expect(await send(CHANNEL.command, {})).toMatchObject({ ok: false, message: 'the disk is gone' })
    expect(said).toEqual(['a command failed: the disk is gone'])
  })
})

it('channel names are all of the product and all different', () => {
  const names = Object.values(CHANNEL)
  expect(new Set(names).size).toBe(names.length)
  expect(names.every((name) => name.startsWith('dcpscope:'))).toBe(true)
})
