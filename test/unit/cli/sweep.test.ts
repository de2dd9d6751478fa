import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  childrenOf,
  configFile,
  dcpscope,
  freshFolder,
  isAlive,
  manifestOf,
  query,
  type Running,
  start,
} from './dcpscope.ts'

const newBundle = (): string => join(freshFolder(), 'sweep.dcp')

const BASE = { model: { heads: 8, kvLoraRank: 64, ropeDim: 16, layers: 2 }, parallel: { tpSize: 2 } }

/** Two ranks, 2 x 2 batches with the baseline and two transports: 12 points. */
const small = (over: object = {}): object => ({
  base: BASE,
  dcp: [2],
  context: [64, 300],
  concurrency: [1, 3],
  repeats: 2,
  steps: 2,
  warmup: 1,
  memory: { bytes: 1e12 },
  ...over,
})

/** One batch of three points, with more repeats than any test waits for. */
const endless = (): string =>
  configFile(small({ context: [64], concurrency: [1], repeats: 100, steps: 1000 }))

const parts = (bundle: string): string[] => {
  const folder = join(bundle, 'points')
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.parquet')) : []
}

/** Resolves when the sweep has written more parts than `before`, which takes it a measured point or two. */
const measuring = async (bundle: string, running: Running, before = 1): Promise<void> => {
  while (parts(bundle).length <= before) {
    if (running.child.exitCode !== null)
      throw new Error(`the sweep ended early: ${(await running.outcome).stderr}`)
    await new Promise((next) => setTimeout(next, 50))
  }
}

interface Row {
  readonly key: string
  readonly repeat: number
  readonly rate: number
}

const measuredRows = async (bundle: string): Promise<Row[]> => {
  const rows = await query(
    bundle,
    `select key, repeat, tokens_per_s as rate from points where provenance <> 'predicted' order by all`,
  )
  if (!Array.isArray(rows)) throw new Error('no rows')
  return rows
}

const demandDistinct = (rows: readonly Row[]): void =>
  expect(new Set(rows.map(({ key, repeat }) => `${key} ${repeat}`)).size).toBe(rows.length)

describe('dcpscope sweep', () => {
  it('measures every point, predicts it, and prints one JSON document', async () => {
    const bundle = newBundle()
    const { code, stdout, stderr } = await dcpscope(['sweep', configFile(small()), '--out', bundle, '--json'])
    expect([code, stderr]).toEqual([0, ''])
    const summary = JSON.parse(stdout)
    expect(summary).toMatchObject({
      bundle,
      status: 'complete',
      device: 'cpu',
      points: 12,
      measured: 12,
      missing: [],
      leftOut: [],
      unpredicted: 0,
    })
    expect(summary.modelError.points).toBe(12)
    expect(summary.groups).toHaveLength(1)
    expect(summary.groups[0]).toMatchObject({ world: 2, predicted: false, transport: 'local' })
    expect(summary.groups[0].cells).toHaveLength(4)
    expect(summary.published[0].provenance).toBe('published')
    expect(summary.rates.attention.bf16.bytesPerS).toBeGreaterThan(0)
    expect(manifestOf(bundle)).toMatchObject({ status: 'complete', sweep: { device: 'cpu', missing: [] } })
    const rows = await measuredRows(bundle)
    expect(rows).toHaveLength(12 * 2)
    demandDistinct(rows)
    const joined = await query(
      bundle,
      `select count(*)::int as n, bool_and(p.step_ms_p50 > 0 and m.step_ms_p50 > 0) as both
       from points m join points p using (key, transport)
       where p.provenance = 'predicted' and m.provenance <> 'predicted'`,
    )
    expect(joined).toEqual([{ n: 24, both: true }])
  })

  it('measures ranks as processes as well, with the baseline as a process of its own', async () => {
    const bundle = newBundle()
    const base = { ...BASE, engine: { ranks: 'processes', device: 'cpu' } }
    const sweep = small({ base, context: [64], concurrency: [1], comm: ['ag_rs', 'p2p'], repeats: 1 })
    const { code, stdout, stderr } = await dcpscope([
      ...['sweep', configFile(sweep), '--out', bundle, '--json'],
    ])
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toMatchObject({ points: 3, measured: 3, missing: [], unpredicted: 0 })
    expect((await measuredRows(bundle)).map(({ key }) => key)).toEqual([
      'dcp2-ag_rs-bf16-q1-c64-n1',
      'dcp2-p2p-bf16-q1-c64-n1',
      'tp-bf16-q1-c64-n1',
    ])
    // They were other processes in every point.
    expect(manifestOf(bundle)).not.toHaveProperty('processes')
  })

  it('says in words what it found, and says it again without measuring anything', async () => {
    const bundle = newBundle()
    const args = ['sweep', configFile(small({ context: [64], concurrency: [1] })), '--out', bundle]
    const first = await dcpscope(args)
    expect(first.code).toBe(0)
    expect(first.stdout).toMatch(/points +3 of 3 measured/)
    expect(first.stdout).toMatch(/cost model +predicted over measured step: median \d/)
    expect(first.stdout).toMatch(/context 64: dcp pays (from concurrency 1|at no concurrency)/)
    expect(first.stdout).toMatch(/limited by/)
    const written = statSync(join(bundle, 'run.json')).mtimeMs
    const again = await dcpscope(['sweep', '--out', bundle])
    expect(again).toEqual(first)
    expect(statSync(join(bundle, 'run.json')).mtimeMs).toBe(written)
  })

  it('without arguments measures the tiny sweep into the runs folder', async () => {
    const data = freshFolder()
    const { code, stdout } = await dcpscope(['sweep', '--max-minutes', '0.001'], { data })
    expect(code).toBe(0)
    const [name] = readdirSync(join(data, 'dcpscope', 'runs'))
    expect(name).toMatch(/^\d{4}-\d\d-\d\d-\d{6}-sweep-tiny\.dcp$/)
    expect(stdout).toContain(`dcpscope sweep --out ${join(data, 'dcpscope', 'runs', name ?? '')}`)
  })

  it('in slices comes to its end, one point at least in each', async () => {
    const bundle = newBundle()
    const file = configFile(small({ context: [64], concurrency: [1], comm: ['a2a'] }))
    const counts: number[] = []
    for (let slice = 0; slice < 4; slice++) {
      const { code, stdout } = await dcpscope([
        'sweep',
        file,
        '--out',
        bundle,
        '--max-minutes',
        '1e-6',
        '--json',
      ])
      expect(code).toBe(0)
      counts.push((await measuredRows(bundle)).length)
      expect(JSON.parse(stdout).status).toBe(slice < 3 ? 'stopped' : 'complete')
    }
    expect(counts).toEqual([1, 2, 3, 4])
  })

  it('leaves out what makes no run, with the reason, and measures the rest', async () => {
    const file = configFile(small({ dcp: [2, 3], context: [64], concurrency: [1] }))
    const { code, stdout } = await dcpscope(['sweep', file, '--out', newBundle(), '--json'])
    expect(code).toBe(0)
    const { points, measured, leftOut } = JSON.parse(stdout)
    expect([points, measured]).toEqual([3, 3])
    expect(leftOut).toEqual(
      ['ag_rs', 'a2a'].map((comm) => ({
        key: `dcp3-${comm}-bf16-q1-c64-n1`,
        reason: 'parallel.dcpSize: must divide tpSize (2), got 3',
      })),
    )
  })

  it('gives the rate at capacity above it, measured once, and marks it', async () => {
    const bundle = newBundle()
    // 160 bytes a token and layer, two layers: 640 tokens a rank.
    const memory = { bytes: 640 * 320, utilisation: 1, weightBytes: 0 }
    const file = configFile(small({ memory, context: [300], concurrency: [1, 16], comm: ['a2a'] }))
    const { code } = await dcpscope(['sweep', file, '--out', bundle])
    expect(code).toBe(0)
    const rows = await query(
      bundle,
      `select mode, concurrency, batch, capacity_limited, kv_capacity_tokens as pool, count(distinct tokens_per_s)::int as n
       from points where repeat = 0 group by all order by all`,
    )
    expect(rows).toEqual([
      { mode: 'dcp', concurrency: 1, batch: 1, capacity_limited: false, pool: 1280, n: 1 },
      { mode: 'dcp', concurrency: 16, batch: 4, capacity_limited: true, pool: 1280, n: 1 },
      { mode: 'tp', concurrency: 1, batch: 1, capacity_limited: false, pool: 640, n: 1 },
      { mode: 'tp', concurrency: 16, batch: 2, capacity_limited: true, pool: 640, n: 1 },
    ])
  })

  it('skips what the machine cannot hold, says so, and measures the rest', async () => {
    const file = configFile(
      small({ context: [1, 16_777_216], concurrency: [4096], mode: ['tp'], memory: { bytes: 1e15 } }),
    )
    const { code, stdout, stderr } = await dcpscope(['sweep', file, '--out', newBundle()])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/points +1 of 2 measured/)
    expect(stdout).toMatch(/not held +tp-bf16-q1-c16777216-n4096: the run needs \d[^\n]* available /)
  })
})

/** One repeat more. */
const slice = (...args: string[]) => dcpscope(['sweep', ...args, '--max-minutes', '1e-6'])

const demandGoesOn = async (bundle: string, kept: readonly Row[]): Promise<void> => {
  const all = await measuredRows(bundle)
  expect(all.length).toBe(kept.length + 1)
  expect(all).toEqual(expect.arrayContaining([...kept]))
  demandDistinct(all)
}

describe('a sweep that ends early', () => {
  it('by Ctrl-C keeps what it measured, exits with 130 and goes on with the same folder', async () => {
    const bundle = newBundle()
    const file = endless()
    const running = start(['sweep', file, '--out', bundle])
    await measuring(bundle, running)
    running.child.kill('SIGINT')
    const { code, stdout } = await running.outcome
    expect(code).toBe(130)
    expect(stdout).toMatch(/go on +[\d.]+ (s|min|h) left: dcpscope sweep --out /)
    expect(manifestOf(bundle).status).toBe('stopped')
    const kept = await measuredRows(bundle)
    expect(kept.length).toBeGreaterThan(0)
    expect((await slice(file, '--out', bundle)).code).toBe(0)
    await demandGoesOn(bundle, kept)
  })

  it('by SIGKILL loses at most its last second, and goes on from the folder alone', async () => {
    const bundle = newBundle()
    const running = start(['sweep', endless(), '--out', bundle])
    await measuring(bundle, running)
    const children = childrenOf(running.pid)
    running.child.kill('SIGKILL')
    await running.outcome
    const kept = await measuredRows(bundle)
    expect(kept.length).toBeGreaterThan(0)
    expect((await slice('--out', bundle)).code).toBe(0)
    await demandGoesOn(bundle, kept)
    await expect.poll(() => children.filter(isAlive), { timeout: 10_000 }).toEqual([])
  })

  it('in a point whose engine dies loses that one alone, exits with 3, and measures it the next time', async () => {
    const bundle = newBundle()
    const lists = { context: [64], concurrency: [1], comm: ['a2a'], repeats: 4, steps: 4000 }
    const file = configFile(small(lists))
    const running = start(['sweep', file, '--out', bundle])
    await measuring(bundle, running, 0)
    // One that dies between two runs is nobody's loss.
    while (manifestOf(bundle).sweep?.missing.length === 0 && running.child.exitCode === null) {
      for (const engine of childrenOf(running.pid)) process.kill(engine, 'SIGKILL')
      await new Promise((next) => setTimeout(next, 1000))
    }
    const { code, stderr, stdout } = await running.outcome
    expect(code).toBe(3)
    expect(stderr).toMatch(
      /^dcpscope: the engine failed in [\w-]+: the engine process died \(SIGKILL[^)]*\)\n$/,
    )
    expect(stdout).toMatch(/points +1 of 2 measured/)
    expect(manifestOf(bundle).sweep?.missing).toMatchObject([{ why: 'failed' }])
    const kept = await measuredRows(bundle)
    expect((await slice(file, '--out', bundle)).code).toBe(0)
    expect(manifestOf(bundle).sweep?.missing).toEqual([])
    await demandGoesOn(bundle, kept)
  })

  it('by Ctrl-C before its first point writes nothing', async () => {
    const bundle = newBundle()
    const running = start(['sweep', endless(), '--out', bundle])
    while (childrenOf(running.pid).length === 0) await new Promise((next) => setTimeout(next, 5))
    running.child.kill('SIGINT')
    const { code, stdout, stderr } = await running.outcome
    expect([code, stdout]).toEqual([130, ''])
    expect(stderr).toBe('dcpscope: the sweep was stopped before it began; nothing was written\n')
    expect(existsSync(bundle)).toBe(false)
  })

  it('is not measured by two at once', async () => {
    const bundle = newBundle()
    const file = endless()
    const running = start(['sweep', file, '--out', bundle])
    await measuring(bundle, running)
    const { code, stderr } = await dcpscope(['sweep', file, '--out', bundle])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^dcpscope: --out: the sweep is being measured by process \d+ of [^\n]+\n$/)
    running.child.kill('SIGINT')
    expect((await running.outcome).code).toBe(130)
  })
})

describe('bad input of a sweep is refused in one line', () => {
  it.each([
    [{ contexts: [1] }, /contexts: is not a known key/],
    [
      { context: [0], dcp: [65] },
      /dcp\[0\]: must be at most 64, got 65; context\[0\]: must be at least 1, got 0/,
    ],
    [
      { base: { parallel: { comm: 'a2a' } }, steps: 0 },
      /base\.parallel\.comm: is given by comm of the sweep; steps: must be at least 1, got 0/,
    ],
    [
      { base: { engine: { device: 'cpu', graph: true } } },
      /base\.engine\.graph: needs a GPU, and this run would use the CPU/,
    ],
  ])('%j', async (config, expected) => {
    const bundle = newBundle()
    const { code, stdout, stderr } = await dcpscope(['sweep', configFile(config), '--out', bundle])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^dcpscope: [^\n]+\n$/)
    expect(stderr).toMatch(expected)
    expect(existsSync(bundle)).toBe(false)
  })

  it.each([
    [['--max-minutes', '0'], '--max-minutes: must be a number above 0, got "0"'],
    [['--max-minutes', 'ten'], '--max-minutes: must be a number above 0, got "ten"'],
    [['--device', 'tpu'], 'base.engine.device: must be auto or cpu or cuda, got "tpu"'],
    [['--preset', 'gpt'], '--preset: must be tiny or deepseek-v2-lite or deepseek-v3 or kimi-k2, got "gpt"'],
    [['nowhere.json'], 'nowhere.json: there is no such file'],
  ])('%j', async (args, expected) => {
    const { code, stderr } = await dcpscope(['sweep', ...args, '--out', newBundle()])
    expect([code, stderr]).toEqual([2, `dcpscope: ${expected}\n`])
  })

  it('a sweep of which no point can be measured', async () => {
    const { code, stderr } = await dcpscope(['sweep', configFile(small({ mode: ['dcp'], dcp: [3] }))])
    expect(code).toBe(2)
    expect(stderr).toBe(
      'dcpscope: no point of the sweep can be measured: dcp3-ag_rs-bf16-q1-c64-n1: parallel.dcpSize: must divide tpSize (2), got 3\n',
    )
  })

  it('a GPU that is not there, with exit 3 and the reason', async (test) => {
    const { engines } = JSON.parse((await dcpscope(['doctor', '--json'])).stdout)
    test.skip(engines.cuda.available, 'this machine has a GPU')
    const bundle = newBundle()
    for (const args of [
      ['--preset', 'deepseek-v3'],
      ['--device', 'cuda'],
    ]) {
      const { code, stdout, stderr } = await dcpscope(['sweep', ...args, '--out', bundle])
      expect([code, stdout, stderr]).toEqual([3, '', `dcpscope: ${engines.cuda.reason}\n`])
    }
    expect(existsSync(bundle)).toBe(false)
  })

  it('a sweep of another machine that is not at its end, or has a part that is not whole', async () => {
    const bundle = newBundle()
    const file = configFile(small({ context: [64], concurrency: [1], mode: ['tp'] }))
    expect((await dcpscope(['sweep', file, '--out', bundle, '--max-minutes', '1e-6'])).code).toBe(0)
    const manifest = manifestOf(bundle)
    const devices = manifest.devices.map((device) => ({ ...device, name: 'Abacus' }))
    writeFileSync(join(bundle, 'run.json'), JSON.stringify({ ...manifest, devices }))
    const other = await dcpscope(['sweep', file, '--out', bundle])
    expect(other.code).toBe(2)
    expect(other.stderr).toMatch(/^dcpscope: --out: [^\n]+ was measured on Abacus, and here is [^\n]+\n$/)
    writeFileSync(join(bundle, 'run.json'), JSON.stringify(manifest))
    const part = join(bundle, 'points', parts(bundle)[0] ?? '')
    writeFileSync(part, readFileSync(part).subarray(0, 100))
    const damaged = await dcpscope(['sweep', file, '--out', bundle])
    expect(damaged.code).toBe(2)
    const problem = `a part of the bundle is truncated; move it away to open the rest: ${part}`
    expect(damaged.stderr).toBe(`dcpscope: --out: ${problem}\n`)
    expect(manifestOf(bundle)).toMatchObject({ status: 'failed', error: problem })
  })

  it('a folder that holds something else, or a sweep of another configuration, which stays as it is', async () => {
    const bundle = newBundle()
    const file = configFile(small({ context: [64], concurrency: [1], mode: ['tp'] }))
    expect((await dcpscope(['sweep', file, '--out', bundle])).code).toBe(0)
    const before = readFileSync(join(bundle, 'run.json'), 'utf8')
    const other = configFile(small({ context: [65], concurrency: [1], mode: ['tp'], repeats: 3 }))
    const { code, stderr } = await dcpscope(['sweep', other, '--out', bundle])
    expect([code, stderr]).toEqual([
      2,
      `dcpscope: --out: ${bundle} holds a sweep of another configuration (context, repeats)\n`,
    ])
    const wider = configFile(
      small({ base: { ...BASE, cache: { pageSize: 32 } }, context: [64], concurrency: [1], mode: ['tp'] }),
    )
    for (const [args, field] of [
      [[wider], '(base.cache.pageSize)\n'],
      [['--device', 'cuda'], '(base.engine.device)\n'],
      [[file, '--device', 'cpu'], '(base.engine.device)\n'],
      [['--preset', 'kimi-k2'], /base\.model\.preset, [\w.]+, [\w.]+, [\w.]+ and \d+ more/],
    ] as const)
      expect((await dcpscope(['sweep', ...args, '--out', bundle])).stderr).toMatch(field)
    expect(readFileSync(join(bundle, 'run.json'), 'utf8')).toBe(before)
    const full = freshFolder()
    mkdirSync(join(full, 'x'))
    expect((await dcpscope(['sweep', file, '--out', full])).stderr).toBe(
      `dcpscope: --out: ${full} is not empty\n`,
    )
    writeFileSync(join(full, 'run.json'), '{')
    expect((await dcpscope(['sweep', file, '--out', full])).stderr).toBe(
      `dcpscope: --out: the bundle is damaged: its run.json is truncated or not JSON: ${full}\n`,
    )
  })
})
