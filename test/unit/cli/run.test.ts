import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  CLI,
  childrenOf,
  configFile,
  dcpscope,
  endlessConfig,
  firstChild,
  freshFolder,
  isAlive,
  manifestOf,
  query,
  recording,
  start,
} from './dcpscope.ts'

const newBundle = (): string => join(freshFolder(), 'run.dcp')

/** Steps in the bundle, which must be readable. */
const stepsIn = async (bundle: string): Promise<number> => {
  const rows = await query(bundle, 'select count(*)::int as n from steps')
  return Number(Array.isArray(rows) ? rows[0]?.n : Number.NaN)
}

describe('dcpscope run', () => {
  it('prints one JSON document with the numbers of the bundle', async () => {
    const bundle = newBundle()
    const { code, stdout, stderr } = await dcpscope(['run', '--preset', 'tiny', '--out', bundle, '--json'])
    expect([code, stderr]).toEqual([0, ''])
    const summary = JSON.parse(stdout)
    expect(Object.keys(summary)).toEqual(
      expect.arrayContaining([
        'bundle',
        'device',
        'backend',
        'ranks',
        'steps',
        'tokensPerSecond',
        'provenance',
        'stepMs',
        'stages',
        'check',
        'dropped',
      ]),
    )
    expect(summary).toMatchObject({ bundle, ranks: 4, steps: 24, dropped: 0, backend: 'native' })
    expect(summary.check).toMatchObject({ ok: true, nanRows: 0 })
    expect(summary.check.checkedRows).toBeGreaterThan(0)
    expect(summary.check.maxRelErr).toBeLessThan(1e-2)
    expect(summary.stages.decode_attn.p50Us).toBeGreaterThan(0)
    expect(manifestOf(bundle).status).toBe('complete')
    expect(await stepsIn(bundle)).toBe(24)
    const ranks = await query(bundle, 'select distinct rank from spans order by rank')
    expect(ranks).toEqual([0, 1, 2, 3].map((rank) => ({ rank })))
  })

  it('without arguments runs the tiny preset into the runs folder and prints a readable summary', async () => {
    const data = freshFolder()
    const { code, stdout } = await dcpscope(['run'], { data })
    expect(code).toBe(0)
    const [name] = readdirSync(join(data, 'dcpscope', 'runs'))
    expect(name).toMatch(/^\d{4}-\d\d-\d\d-\d{6}-tiny\.dcp$/)
    expect(stdout).toContain(join(data, 'dcpscope', 'runs', name ?? ''))
    expect(stdout).toMatch(/check +ok, /)
    expect(stdout).toMatch(/decode_attn +\d/)
  })

  it('runs a draft beside the model, keeps its tokens by step, and captures its layer with its branch', async () => {
    const bundle = newBundle()
    const stdin = JSON.stringify({
      model: { layers: 2 },
      workload: { steps: 3, qLen: 2, requests: [{ contextLen: 90 }, { contextLen: 5 }] },
      serving: { draft: 'EAGLE3' },
      capture: { layers: [0, 2] },
    })
    const args = ['run', '-', '--preset', 'tiny', '--out', bundle]
    const { code, stdout, stderr } = await dcpscope([...args, '--json'], { stdin })
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toMatchObject({
      device: 'cpu',
      draft: { proposed: 12, accepted: 12, tolerance: 0.01 },
      check: { ok: true },
    })
    expect(await query(bundle, 'select draft_proposed p, draft_accepted a from steps')).toEqual(
      new Array(3).fill({ p: 4, a: 4 }),
    )
    const dump = await dcpscope(['dump-info', bundle, '--json'])
    const groups: { layer: number; ranks: { metadata: { branch: string } }[] }[] = JSON.parse(
      dump.stdout,
    ).groups
    expect(groups.map(({ layer, ranks }) => [layer, ranks[0]?.metadata.branch])).toEqual([
      [0, 'target_verify'],
      [2, 'draft_extend'],
    ])
  })

  it('refuses a draft that nobody verifies in one line', async () => {
    const { code, stderr } = await dcpscope(['run', '-'], { stdin: '{"serving":{"draft":"EAGLE3"}}' })
    expect(code).toBe(2)
    expect(stderr.trim()).toMatch(
      /^[^\n]*workload\.qLen: a draft whose tokens nobody verifies is not supported by this version's engine; set workload\.qLen above 1[^\n]*$/,
    )
  })

  it('takes a configuration from standard input', async () => {
    const bundle = newBundle()
    const stdin = JSON.stringify({ parallel: { tpSize: 2, dcpSize: 2 }, workload: { steps: 3 } })
    const { code, stdout } = await dcpscope(['run', '-', '--out', bundle, '--json'], { stdin })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ ranks: 2, steps: 3 })
  })

  it('says scaled when fewer layers were measured than the model has', async () => {
    const file = configFile({ model: { preset: 'tiny', measuredLayers: 1 }, workload: { steps: 2 } })
    const { stdout } = await dcpscope(['run', file, '--out', newBundle(), '--json'])
    expect(JSON.parse(stdout).provenance).toBe('scaled')
  })

  it('accepts an empty folder for the bundle', async () => {
    const bundle = newBundle()
    mkdirSync(bundle)
    const { code } = await dcpscope(['run', '--out', bundle])
    expect(code).toBe(0)
  })

  it('that does not fit the memory says so, also where an empty folder was given', async () => {
    const bundle = newBundle()
    mkdirSync(bundle)
    const file = configFile({ workload: { requests: [{ contextLen: 16_777_216, count: 64 }] } })
    const { code, stderr } = await dcpscope(['run', file, '--out', bundle])
    expect(code).toBe(3)
    expect(stderr).toMatch(/^dcpscope: the run needs [^\n]*\n$/)
    expect(readdirSync(bundle)).toEqual([])
  })

  it('for a GPU that is not there says why in one line, exits with 3 and writes nothing', async (test) => {
    const { engines } = JSON.parse((await dcpscope(['doctor', '--json'])).stdout)
    test.skip(engines.cuda.available, 'this machine has a GPU')
    const bundle = newBundle()
    const { code, stdout, stderr } = await dcpscope(['run', '--device', 'cuda', '--out', bundle, '--json'])
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toBe(`dcpscope: ${engines.cuda.reason}\n`)
    expect(existsSync(bundle)).toBe(false)
  })

  it('keeps what was recorded when a pool that is too small fills up, and exits with 3', async () => {
    const bundle = newBundle()
    const file = configFile({
      workload: { requests: [{ contextLen: 250 }], steps: 200 },
      cache: { pageSize: 16, poolTokens: 80 },
    })
    const { code, stderr, stdout } = await dcpscope(['run', file, '--out', bundle])
    expect(code).toBe(3)
    expect(stderr).toMatch(/^dcpscope: [^\n]*pool[^\n]*\n$/)
    expect(stdout).toBe('')
    expect(manifestOf(bundle).status).toBe('failed')
    expect(await stepsIn(bundle)).toBeGreaterThan(0)
  })
})

describe('Ctrl-C', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'by %s ends a run cleanly as stopped with exit 130',
    async (signal) => {
      const bundle = newBundle()
      const running = start(['run', endlessConfig(), '--out', bundle, '--json'])
      await recording(bundle, running)
      running.child.kill(signal)
      const { code, stdout } = await running.outcome
      expect(code).toBe(130)
      const manifest = manifestOf(bundle)
      expect(manifest.status).toBe('stopped')
      const steps = await stepsIn(bundle)
      expect(steps).toBeGreaterThan(0)
      expect(JSON.parse(stdout)).toMatchObject({ steps, dropped: 0 })
    },
  )

  it('before the engine is ready ends the command with exit 130 and writes nothing', async () => {
    const bundle = newBundle()
    const running = start(['run', endlessConfig(), '--out', bundle, '--json'])
    const engine = await firstChild(running)
    process.kill(engine, 'SIGSTOP')
    running.child.kill('SIGINT')
    await new Promise((next) => setTimeout(next, 200))
    process.kill(engine, 'SIGCONT')
    const { code, stdout, stderr } = await running.outcome
    expect([code, stdout]).toEqual([130, ''])
    expect(stderr).toBe('dcpscope: the run was stopped before it began; nothing was written\n')
    expect(existsSync(bundle)).toBe(false)
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'that reaches the whole group, as from a terminal, does the same by %s',
    async (signal) => {
      const bundle = newBundle()
      const running = start(['run', endlessConfig(), '--out', bundle])
      await recording(bundle, running)
      for (const pid of [running.pid, ...childrenOf(running.pid)]) process.kill(pid, signal)
      expect((await running.outcome).code).toBe(130)
      expect(manifestOf(bundle).status).toBe('stopped')
    },
  )

  it('that reaches an engine which cannot listen yet ends the command all the same', async () => {
    const bundle = newBundle()
    const running = start(['run', endlessConfig(), '--out', bundle])
    const engine = await firstChild(running)
    for (const pid of [running.pid, engine]) process.kill(pid, 'SIGINT')
    const { code, stderr } = await running.outcome
    expect([code, stderr]).toEqual([
      130,
      'dcpscope: the run was stopped before it began; nothing was written\n',
    ])
  })

  it('twice ends the command at once', async () => {
    const bundle = newBundle()
    const running = start(['run', endlessConfig(), '--out', bundle])
    await recording(bundle, running)
    const [engine] = childrenOf(running.pid)
    if (engine === undefined) throw new Error('no engine process')
    // A stopped engine cannot end cleanly.
    process.kill(engine, 'SIGSTOP')
    running.child.kill('SIGINT')
    await new Promise((next) => setTimeout(next, 200))
    running.child.kill('SIGINT')
    expect((await running.outcome).code).toBe(130)
    expect(await stepsIn(bundle)).toBeGreaterThan(0)
  })
})

describe('a process that dies', () => {
  it('as the engine leaves a readable bundle marked interrupted, one line and exit 3', async () => {
    const bundle = newBundle()
    const running = start(['run', endlessConfig(), '--out', bundle])
    await recording(bundle, running)
    const [engine] = childrenOf(running.pid)
    if (engine === undefined) throw new Error('no engine process')
    process.kill(engine, 'SIGKILL')
    const { code, stderr } = await running.outcome
    expect(code).toBe(3)
    expect(stderr).toMatch(/^dcpscope: the engine process died \(SIGKILL[^)]*\)[^\n]*\n$/)
    expect(stderr).toContain(bundle)
    expect(manifestOf(bundle).status).toBe('interrupted')
    expect(await stepsIn(bundle)).toBeGreaterThan(0)
  })

  it('as the command itself takes its engine along, and the next reader says interrupted', async () => {
    const bundle = newBundle()
    const running = start(['run', endlessConfig(), '--out', bundle])
    await recording(bundle, running)
    const [engine] = childrenOf(running.pid)
    if (engine === undefined) throw new Error('no engine process')
    running.child.kill('SIGKILL')
    await running.outcome
    expect(await stepsIn(bundle)).toBeGreaterThan(0)
    expect(manifestOf(bundle).status).toBe('interrupted')
    while (isAlive(engine)) await new Promise((next) => setTimeout(next, 50))
  })
})

const canMount = process.platform === 'linux' && process.getuid?.() === 0

describe('a full disk', () => {
  it.skipIf(!canMount)('ends the run with one clear line, exit 3 and a readable bundle', async () => {
    const disk = freshFolder()
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk])
    try {
      const bundle = join(disk, 'run.dcp')
      const { code, stderr } = await dcpscope(['run', endlessConfig(), '--out', bundle])
      expect(stderr).toMatch(/^dcpscope: [^\n]*disk is full[^\n]*\n$/)
      expect(code).toBe(3)
      expect(manifestOf(bundle).status).toBe('failed')
      expect(await stepsIn(bundle)).toBeGreaterThan(0)
    } finally {
      execFileSync('umount', [disk])
    }
  })
})

describe('two runs that want the same folder', () => {
  it('leave it to one of them, and the other does not speak of its bundle', async () => {
    const bundle = newBundle()
    const outcomes = await Promise.all([1, 2].map(() => dcpscope(['run', '--out', bundle, '--json'])))
    expect(outcomes.map(({ code }) => code)).toContain(0)
    const loser = outcomes.find(({ code }) => code !== 0)
    expect(loser?.stderr).toMatch(/^dcpscope: [^\n]*(must be new or empty: [^;]*|is not empty)\n$/)
    expect(manifestOf(bundle).status).toBe('complete')
    expect(await stepsIn(bundle)).toBe(24)
  })
})

describe('an output that cannot be written', () => {
  it.skipIf(!existsSync('/dev/full'))('is one line and exit 3, not a stack', () => {
    const full = openSync('/dev/full', 'w')
    const args = [CLI, 'layout', '--len', '10', '--dcp', '2']
    const { status, stderr } = spawnSync(process.execPath, args, {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    closeSync(full)
    expect(stderr).toMatch(/^dcpscope: the output could not be written: ENOSPC[^\n]*\n$/)
    expect(status).toBe(3)
  })
})

describe('a system without file descriptors', () => {
  it.skipIf(process.platform !== 'linux')('is told as the reason', () => {
    const command = `ulimit -n 22; exec ${process.execPath} ${CLI} run --out ${newBundle()}`
    const { status, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8' })
    expect(stderr).toMatch(/^dcpscope: [^\n]*EMFILE[^\n]*\n$/)
    expect(status).toBe(3)
  })
})

describe('a reader that goes away', () => {
  it('is no crash', async () => {
    const bundle = newBundle()
    const running = start(['run', '--out', bundle, '--json'])
    running.child.stdout?.destroy()
    const { code, stderr } = await running.outcome
    expect([code, stderr]).toEqual([0, ''])
    expect(existsSync(join(bundle, 'run.json'))).toBe(true)
  })
})
