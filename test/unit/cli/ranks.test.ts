import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import {
  CLI,
  childrenOf,
  configFile,
  dcpscope,
  firstChild,
  freshFolder,
  manifestOf,
  query,
  type Running,
  recording,
  type Setting,
  start,
} from './dcpscope.ts'
import {
  canUnshare,
  endless,
  expectKept,
  expectWholeSteps,
  familyOf,
  freePort,
  gone,
  launch,
  type Names,
  newBundle,
  numberIn,
  ON_CPU,
  outcomesOf,
  PROCESSES,
  recordingLaunch,
  STAGE,
  segments,
  torchrun,
} from './launch.ts'

// Most of these tests wait for time limits. More of them at once would keep each other's ranks from their cores.
vi.setConfig({ maxConcurrency: 4 })

describe('dcpscope run --ranks processes', () => {
  it('records the same bundle as ranks in threads, and where each rank ran', async () => {
    const [threads, processes] = [newBundle(), newBundle()]
    await dcpscope(['run', '--preset', 'tiny', ...ON_CPU, '--out', threads])
    const { code, stdout, stderr } = await dcpscope([
      ...['run', '--preset', 'tiny', '--ranks', 'processes', ...ON_CPU, '--out', processes, '--json'],
    ])
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toMatchObject({ ranks: 4, steps: 24, dropped: 0, check: { ok: true } })
    const tensors = 'tensors/step=23/layer=0'
    for (const file of readdirSync(join(threads, tensors)))
      expect(
        readFileSync(join(processes, tensors, file)).equals(readFileSync(join(threads, tensors, file))),
      ).toBe(true)
    const counts =
      'select rank, stage, count(*)::int as n, sum(bytes)::int as b from spans group by all order by all'
    expect(await query(processes, counts)).toEqual(await query(threads, counts))
    const rows = 'select * from rows order by all'
    expect(await query(processes, rows)).toEqual(await query(threads, rows))
    const manifest = manifestOf(processes)
    expect(manifest.processes?.map(({ rank }) => rank)).toEqual([0, 1, 2, 3])
    expect(new Set(manifest.processes?.map(({ pid }) => pid)).size).toBe(4)
    expect(manifest.clock.alignment).toBe('ranks are processes and read the steady clock of their machine')
    expect(manifestOf(threads).processes).toBeUndefined()
    expect(segments()).toEqual([])
  })

  it('gives every collective the entry of each rank and of the last, on one clock', async () => {
    const bundle = newBundle()
    await dcpscope(['run', '--preset', 'tiny', '--ranks', 'processes', ...ON_CPU, '--out', bundle])
    const odd = `select count(*)::int from (
      select collective_seq, max(enter_ns) as last, count(*) as n, min(last_enter_ns) as a, max(last_enter_ns) as b,
        min(start_ns + dur_ns) as first_end
      from spans where collective_seq is not null group by all)
      where n <> 4 or a <> last or b <> last or first_end < last`
    expect(await numberIn(bundle, odd)).toBe(0)
    expect(await numberIn(bundle, 'select count(distinct collective_seq)::int from spans')).toBe(24 * 4 * 3)
  })

  it('takes one rank, and p2p, which merges where partials lie', async () => {
    for (const parallel of [{ tpSize: 1, dcpSize: 1 }, { comm: 'p2p' }]) {
      const file = configFile({ model: { preset: 'tiny' }, parallel, ...PROCESSES })
      const { code, stderr } = await dcpscope(['run', file, '--out', newBundle(), '--json'])
      expect([code, stderr]).toEqual([0, ''])
    }
  })

  it('is how a sweep can measure, which starts its ranks itself whatever a launcher says', async () => {
    const bundle = newBundle()
    const sweep = configFile({ base: PROCESSES, comm: ['p2p'], context: [64], concurrency: [1], dcp: [2] })
    const { code, stderr } = await dcpscope(['sweep', sweep, '--preset', 'tiny', '--out', bundle, '--json'], {
      env: torchrun(1, 9),
    })
    expect([code, stderr]).toEqual([0, ''])
    const measured =
      "select count(*)::int from points where provenance = 'measured' and comm = 'p2p' and dcp = 2"
    expect(await numberIn(bundle, measured)).toBeGreaterThan(0)
  })

  it('is stopped by Ctrl-C with the same whole steps on every rank', async () => {
    const bundle = newBundle()
    const running = start(['run', endless(), '--out', bundle])
    await recording(bundle, running)
    const family = familyOf(running.pid)
    expect(family).toHaveLength(6)
    running.child.kill('SIGINT')
    const { code, stdout } = await running.outcome
    expect([code, stdout.split('\n')[0]]).toEqual([130, 'run (stopped)'])
    await gone(family)
    await expectWholeSteps(bundle)
    expect(segments()).toEqual([])
  })
})

describe('ranks that a launcher starts', () => {
  const launchers: readonly [string, Names][] = [
    ['torchrun', (rank, world) => ({ ...torchrun(rank, world), TORCHELASTIC_USE_AGENT_STORE: 'True' })],
    [
      'mpirun',
      (rank, world) => ({
        OMPI_COMM_WORLD_RANK: `${rank}`,
        OMPI_COMM_WORLD_SIZE: `${world}`,
        OMPI_COMM_WORLD_LOCAL_RANK: `${rank}`,
      }),
    ],
    ['mpiexec of MPICH', (rank, world) => ({ PMI_RANK: `${rank}`, PMI_SIZE: `${world}` })],
    [
      'srun',
      (rank, world) => ({
        SLURM_PROCID: `${rank}`,
        SLURM_NTASKS: `${world}`,
        SLURM_LOCALID: `${rank}`,
      }),
    ],
  ]
  it.each(launchers)('by %s make one bundle, and only the first speaks', async (name, names) => {
    const bundle = newBundle()
    const config = configFile({ model: { preset: 'tiny' }, ...PROCESSES })
    const [first, ...others] = await outcomesOf(await launch({ config, bundle, names }))
    expect(first?.stderr).toBe('')
    expect(first?.stdout).toContain('run (complete)')
    for (const { code, stdout, stderr } of others) expect([code, stdout, stderr]).toEqual([0, '', ''])
    expect(await numberIn(bundle, 'select count(distinct rank)::int from spans')).toBe(4)
    if (name !== 'mpiexec of MPICH')
      expect(manifestOf(bundle).processes?.map(({ localRank }) => localRank)).toEqual([0, 1, 2, 3])
  })

  it.skipIf(!canUnshare)(
    'and that read another clock are set to that of the first, within what is said',
    async () => {
      const bundle = newBundle()
      const config = configFile({ model: { preset: 'tiny' }, ...PROCESSES })
      const through = ['unshare', '--time', '--monotonic', '5000', '--fork']
      const running = await launch({ config, bundle, of: (rank) => (rank === 1 ? { through } : {}) })
      for (const { code, stderr } of await outcomesOf(running)) expect([code, stderr]).toEqual([0, ''])
      const { clock } = manifestOf(bundle)
      expect(clock.alignment).toMatch(/the clocks of 1 of 4 ranks are others than rank 0's/)
      expect(clock.uncertaintyNs).toBeGreaterThan(0)
      expect(clock.uncertaintyNs).toBeLessThan(1e7)
      // No rank leaves a collective before the last has entered it, whoever's clock says so.
      const odd = `select count(*)::int from spans
      where collective_seq is not null and start_ns + dur_ns < last_enter_ns - ${2 * clock.uncertaintyNs}`
      expect(await numberIn(bundle, odd)).toBe(0)
      expect(
        await numberIn(bundle, 'select count(*)::int from spans where start_ns < 0 or start_ns > 1e12'),
      ).toBe(0)
    },
  )

  it.each(['127.0.0.2', '::1', 'localhost'])('meet at %s as well', async (address) => {
    const config = configFile({ model: { preset: 'tiny' }, ...PROCESSES })
    const running = await launch({ config, of: () => ({ env: { MASTER_ADDR: address } }) })
    for (const { code, stderr } of await outcomesOf(running)) expect([code, stderr]).toEqual([0, ''])
  })

  it.each(['command', 'process'])(
    'are stopped with whole steps when the %s of one of them is asked to end',
    async (which) => {
      const { bundle, running, second } = await recordingLaunch()
      process.kill(which === 'command' ? second.pid : (childrenOf(second.pid)[0] ?? 0), 'SIGTERM')
      const [told, ...others] = await outcomesOf(running)
      expect([told?.code, told?.stdout.split('\n')[0]]).toEqual([130, 'run (stopped)'])
      for (const { code, stdout, stderr } of others) expect([code, stdout, stderr]).toEqual([130, '', ''])
      expect(manifestOf(bundle).status).toBe('stopped')
      await expectWholeSteps(bundle)
    },
  )

  it('end without a first one when they are asked to', async () => {
    const running = await launch({ ranks: [1, 2] })
    await Promise.all(running.map(firstChild))
    for (const { child } of running) child.kill('SIGINT')
    for (const { code, stderr } of await outcomesOf(running)) expect([code, stderr]).toEqual([130, ''])
  })

  it('are told in one line when each would compute a whole run by itself', async () => {
    const threads = configFile({
      model: { preset: 'tiny' },
      workload: { steps: 2 },
      engine: { device: 'cpu' },
    })
    const env = { SLURM_PROCID: '3', SLURM_NTASKS: '8', MASTER_ADDR: 'node-1', MASTER_PORT: '29500' }
    const { code, stdout, stderr } = await dcpscope(['run', threads, '--out', newBundle(), '--json'], { env })
    expect([code, JSON.parse(stdout).ranks]).toEqual([0, 4])
    expect(stderr).toBe(
      'dcpscope: SLURM_NTASKS says 8 ranks, but each of these commands computes all ranks of a run of its own; ' +
        'with --ranks processes each is one rank of one run\n',
    )
    const alone = await dcpscope(['run', threads, '--out', newBundle()], {
      env: { ...env, SLURM_NTASKS: '1' },
    })
    expect([alone.code, alone.stderr]).toEqual([0, ''])
  })

  it('let strangers knock', async () => {
    const port = await freePort()
    const config = configFile({ model: { preset: 'tiny' }, ...PROCESSES })
    const env = (rank: number) => ({ MASTER_ADDR: '127.0.0.1', MASTER_PORT: `${port}`, ...torchrun(rank, 4) })
    const first = start(['run', config, '--out', newBundle()], { env: env(0) })
    for (let knocked = 0; knocked < 3; )
      await new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => {
          socket.write(['GET / HTTP/1.0\r\n\r\n', Buffer.alloc(64), '\x02\0\0\0\0{}'][knocked++] ?? '')
        })
        socket.on('error', () => {})
        socket.on('close', () => setTimeout(resolve, 50))
      })
    const others = [1, 2, 3].map((rank) => start(['run', config], { env: env(rank) }))
    for (const { code, stderr } of await outcomesOf([first, ...others]))
      expect([code, stderr]).toEqual([0, ''])
  })
})

/** A run that is recording, and its rank processes by number. */
const recordingRun = async (setting: Setting = {}) => {
  const bundle = newBundle()
  const running = start(['run', endless(), '--out', bundle], setting)
  await recording(bundle, running)
  const pids = manifestOf(bundle).processes?.map(({ pid }) => pid) ?? []
  return { bundle, running, pids, family: familyOf(running.pid) }
}

describe('a rank that', { concurrent: true }, () => {
  const signals = ['SIGKILL', 'SIGSEGV', 'SIGSTOP'] as const
  const cases = signals.flatMap((signal) => [0, 1].map((n) => ({ signal, n })))
  it.each(cases)(
    'gets $signal at some moment ends the run with its name and stage ($n)',
    async ({ signal }) => {
      const { bundle, running, pids, family } = await recordingRun()
      const rank = Math.floor(Math.random() * pids.length)
      await new Promise((next) => setTimeout(next, Math.random() * 300))
      process.kill(pids[rank] ?? 0, signal)
      const { code, stderr } = await running.outcome
      const what = signal === 'SIGSTOP' ? 'has not answered for 4 s' : `died \\(${signal}[^)]*\\)`
      const absent = `rank ${rank} did not come to ${STAGE} within 5 s; it is in ${STAGE}`
      expect(stderr).toMatch(
        new RegExp(
          `^dcpscope: (rank ${rank} of 4 ${what}, last in ${STAGE}|${absent}); what was recorded[^\\n]*\\n$`,
        ),
      )
      expect(code).toBe(3)
      await gone(family)
      await expectKept(bundle, stderr.includes('did not come') ? 'failed' : 'interrupted')
    },
  )

  it('hangs in a stage ends the run with both stages, while its process still answers', async () => {
    const { bundle, running, family } = await recordingRun({
      env: { DCPSCOPE_TEST_FAULT: 'decode_attn:2:90' },
    })
    const { code, stderr } = await running.outcome
    expect(stderr).toMatch(
      /^dcpscope: rank 2 did not come to lse_all_gather of layer 0, step 90 within 5 s; it is in decode_attn of layer 0, step 90; what was recorded until then is in [^\n]*\n$/,
    )
    expect(code).toBe(3)
    await gone(family)
    await expectKept(bundle, 'failed')
    // The stages of the others up to where they waited.
    expect(
      await query(bundle, 'select rank, max(step)::int as last from spans group by all order by 1'),
    ).toEqual([0, 1, 2, 3].map((rank) => ({ rank, last: 90 })))
  })

  it('is alone and dies is named as well', async () => {
    const bundle = newBundle()
    const config = endless({ parallel: { tpSize: 1, dcpSize: 1 } })
    const running = start(['run', config, '--out', bundle])
    await recording(bundle, running)
    process.kill(manifestOf(bundle).processes?.[0]?.pid ?? 0, 'SIGKILL')
    const { code, stderr } = await running.outcome
    expect(stderr).toMatch(new RegExp(`^dcpscope: rank 0 died \\(SIGKILL[^)]*\\), last in ${STAGE}; what`))
    expect(code).toBe(3)
  })

  it('a launcher started dies, and all other commands end with the reason', async () => {
    const { bundle, running, families } = await recordingLaunch()
    running[2]?.child.kill('SIGKILL')
    const [told, ...others] = await outcomesOf(running)
    expect(told?.stderr).toMatch(
      new RegExp(
        `^dcpscope: rank 2 of 4 died or lost its connection, last in ${STAGE}; what was recorded[^\\n]*\\n$`,
      ),
    )
    expect(others.map(({ code }) => code)).toEqual([3, null, 3])
    expect(others[0]?.stderr).toMatch(
      /^dcpscope: rank 1 ended: rank 2 of 4 died or lost its connection[^\n]*\n$/,
    )
    await gone(families)
    await expectKept(bundle, 'interrupted')
  })

  it('a launcher started is stopped for ever, and is not left behind', async () => {
    const { running, second, families } = await recordingLaunch()
    process.kill(childrenOf(second.pid)[0] ?? 0, 'SIGSTOP')
    const [told, stopped] = await outcomesOf(running)
    expect(told?.stderr).toMatch(/^dcpscope: rank 1 (of 4 has not answered for 4 s|did not come)[^\n]*\n$/)
    expect([stopped?.code, stopped?.stderr]).toEqual([3, 'dcpscope: rank 1 had not answered for 8 s\n'])
    await gone(families)
    expect(segments()).toEqual([])
  })

  it('loses the first rank ends by itself', async () => {
    const { bundle, running, first, families } = await recordingLaunch()
    first.child.kill('SIGKILL')
    const [, ...others] = await outcomesOf(running)
    for (const [i, { code, stderr }] of others.entries())
      expect([i, code, stderr]).toEqual([
        i,
        3,
        expect.stringMatching(
          new RegExp(`^dcpscope: rank ${i + 1} ended: (rank 0|the store process) is gone\\n$`),
        ),
      ])
    await gone(families)
    expect(segments()).toEqual([])
    await numberIn(bundle, 'select count(*)::int from steps')
    expect(manifestOf(bundle).status).toBe('interrupted')
  })
})

describe('ranks that cannot go on', { concurrent: true }, () => {
  it('since their pools are full say so once, for all', async () => {
    const bundle = newBundle()
    const config = endless({ workload: { steps: 1000 }, cache: { poolTokens: 800 } })
    const { code, stderr } = await dcpscope(['run', config, '--out', bundle])
    expect(stderr).toMatch(
      /^dcpscope: the KV pool is full at step \d+: request \d+ [^\n]*; what was recorded [^\n]*\n$/,
    )
    expect(code).toBe(3)
    await expectKept(bundle, 'failed')
    expect(await numberIn(bundle, "select count(*)::int from events where kind = 'pool_full'")).toBe(1)
  })

  it.skipIf(!canUnshare)('since the disk is full end with the one line that says so', async () => {
    const disk = freshFolder()
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk])
    try {
      const running = start(['run', endless(), '--out', join(disk, 'run.dcp')])
      await recording(join(disk, 'run.dcp'), running)
      const family = familyOf(running.pid)
      const { code, stderr } = await running.outcome
      expect(stderr).toMatch(/^dcpscope: [^\n]*disk is full[^\n]*\n$/)
      expect(code).toBe(3)
      await gone(family)
      expect(manifestOf(join(disk, 'run.dcp')).status).toBe('failed')
    } finally {
      execFileSync('umount', [disk])
    }
  })

  it('as the store is behind wait for it, are not taken for hung, and lose nothing', async () => {
    const bundle = newBundle()
    const config = endless({
      model: { heads: 4, kvLoraRank: 16, ropeDim: 0, layers: 32 },
      workload: { steps: 100_000, requests: [{ contextLen: 1, count: 64 }] },
    })
    const running = start(['run', config, '--out', bundle])
    await recording(bundle, running)
    const family = familyOf(running.pid)
    running.child.kill('SIGSTOP')
    await new Promise((next) => setTimeout(next, 7000))
    running.child.kill('SIGCONT')
    await new Promise((next) => setTimeout(next, 1500))
    running.child.kill('SIGINT')
    const { code, stderr } = await running.outcome
    expect([code, stderr]).toEqual([130, ''])
    await gone(family)
    expect(manifestOf(bundle)).toMatchObject({ status: 'stopped', summary: { dropped: 0 } })
    const long = "select count(distinct rank)::int from spans where stage = 'stall' and dur_ns > 2e9"
    expect(await numberIn(bundle, long)).toBeGreaterThan(0)
    const rows = 'select count(distinct n)::int from (select rank, count(*) as n from rows group by all)'
    expect(await numberIn(bundle, rows)).toBe(1)
  })
})

describe('ranks that are all stopped for a while', { concurrent: true }, () => {
  it('go on together, and none is taken for hung', async () => {
    const { bundle, running, family } = await recordingRun()
    for (const pid of family) process.kill(pid, 'SIGSTOP')
    await new Promise((next) => setTimeout(next, 9000))
    // The last first, so that each finds those that it waits for still stopped.
    for (const pid of [...family].reverse()) process.kill(pid, 'SIGCONT')
    await new Promise((next) => setTimeout(next, 1500))
    running.child.kill('SIGINT')
    const { code, stderr } = await running.outcome
    expect([code, stderr]).toEqual([130, ''])
    await gone(family)
    expect(manifestOf(bundle).status).toBe('stopped')
  })
})

describe('ranks whose leader is lost', { concurrent: true }, () => {
  it('since it is stopped for ever end, and the command says so', async () => {
    const { bundle, running, first, families } = await recordingLaunch()
    process.kill(childrenOf(first.pid)[0] ?? 0, 'SIGSTOP')
    const [told, ...others] = await outcomesOf(running)
    expect(told?.stderr).toMatch(
      /^dcpscope: the engine process had not answered for 8 s; what was recorded[^\n]*\n$/,
    )
    expect(told?.code).toBe(3)
    for (const { code, stderr } of others) {
      expect(code).toBe(3)
      expect(stderr).toMatch(/^dcpscope: rank \d ended: rank 0 (is gone|does not answer)\n$/)
    }
    await gone(families)
    expect(manifestOf(bundle).status).toBe('interrupted')
    expect(segments()).toEqual([])
  })

  it.each(['the engine host', 'the command'])('by the death of %s end as well', async (who) => {
    const { bundle, running, family } = await recordingRun()
    process.kill(who === 'the command' ? running.pid : (childrenOf(running.pid)[0] ?? 0), 'SIGKILL')
    await running.outcome
    await gone(family)
    expect(segments()).toEqual([])
    expect(await numberIn(bundle, 'select count(*)::int from steps')).toBeGreaterThan(0)
    expect(manifestOf(bundle).status).toBe('interrupted')
  })
})

/** One clear line on the first rank, nothing written and nothing left. */
const expectRefused = async (
  running: readonly Running[],
  bundle: string,
  says: RegExp,
  code: number,
): Promise<void> => {
  const families = running.flatMap(({ pid }) => familyOf(pid))
  const [first, ...others] = await outcomesOf(running)
  expect(first?.stderr).toMatch(says)
  expect(first?.stderr.split('\n')).toHaveLength(2)
  expect(first?.code).toBe(code)
  for (const other of others) {
    expect(other.stderr).toMatch(/^dcpscope: [^\n]*\n$/)
    expect(other.code).not.toBe(0)
  }
  await gone(families)
  expect(() => readFileSync(join(bundle, 'run.json'))).toThrow()
  expect(segments()).toEqual([])
}

describe('ranks that do not make a group are refused in one line', { concurrent: true }, () => {
  it('when the world size is not the dcp size', async () => {
    const bundle = newBundle()
    const running = await launch({ bundle, world: 2, ranks: [0, 1] })
    const says = /^dcpscope: WORLD_SIZE says 2 ranks, but the configuration has parallel\.dcpSize 4\n$/
    await expectRefused(running, bundle, says, 2)
  })

  it('when there is a launcher that started this command alone, with what to do', async () => {
    const bundle = newBundle()
    const env = { SLURM_PROCID: '0', SLURM_NTASKS: '1' }
    const says =
      /^dcpscope: SLURM_NTASKS says 1 rank, but the configuration has parallel\.dcpSize 4; unset SLURM_PROCID to start all ranks from here\n$/
    await expectRefused([start(['run', endless(), '--out', bundle], { env })], bundle, says, 2)
  })

  it('when ranks have other world sizes', async () => {
    const bundle = newBundle()
    const eight = endless({ parallel: { tpSize: 8, dcpSize: 8 } })
    const names: Names = (rank) => torchrun(rank, rank === 3 ? 8 : 4)
    const running = await launch({ bundle, names, of: (rank) => (rank === 3 ? { config: eight } : {}) })
    await expectRefused(running, bundle, /^dcpscope: rank 3 \(.*\) has the world size 8, rank 0 has 4\n$/, 2)
  })

  it('when a rank is there twice', async () => {
    const bundle = newBundle()
    const running = await launch({ bundle, ranks: [0, 1, 1, 2] })
    await expectRefused(
      running,
      bundle,
      /^dcpscope: rank 1 came twice: .*, process \d+, and .*, process \d+\n$/,
      2,
    )
  })

  it('when configurations differ, with the field', async () => {
    const bundle = newBundle()
    const other = endless({ parallel: { comm: 'a2a' } })
    const running = await launch({ bundle, of: (rank) => (rank === 2 ? { config: other } : {}) })
    const says =
      /^dcpscope: rank 2 \(.*\) has another configuration: parallel\.comm is "a2a" there and "ag_rs" on rank 0\n$/
    await expectRefused(running, bundle, says, 2)
  })

  it('when versions differ', async () => {
    const bundle = newBundle()
    const running = await launch({ bundle, of: (rank) => (rank === 1 ? { cli: otherVersion() } : {}) })
    const says =
      /^dcpscope: rank 1 \(.*\) has another version: dcpscope 9\.8\.7 there, \d+\.\d+\.\d+ on rank 0\n$/
    await expectRefused(running, bundle, says, 2)
  })

  it('when a rank does not come', async () => {
    const bundle = newBundle()
    const running = await launch({ bundle, ranks: [0, 1] })
    const says = /^dcpscope: ranks 2 and 3 of 4 did not come to 127\.0\.0\.1:\d+ within 8 s\n$/
    await expectRefused(running, bundle, says, 3)
  })

  it('when there is no rank 0', async () => {
    const bundle = newBundle()
    const running = await launch({ bundle, ranks: [1] })
    const says =
      /^dcpscope: rank 1 ended: rank 1 found no rank 0 at 127\.0\.0\.1:\d+ within 8 s \(ECONNREFUSED\)\n$/
    await expectRefused(running, bundle, says, 3)
  })

  it.skipIf(!canUnshare)('when a rank could only be connected to itself', async () => {
    const bundle = newBundle()
    // A system that gives connections ports of their own from these few alone.
    const few = 'ip link set lo up && echo 40000 40004 > /proc/sys/net/ipv4/ip_local_port_range && exec "$@"'
    const through = ['unshare', '-n', 'sh', '-c', few, 'sh']
    const env = { MASTER_ADDR: '127.0.0.1', MASTER_PORT: '40000', ...torchrun(1, 4) }
    const running = start(['run', endless(), '--out', bundle], { through, env })
    const says =
      /^dcpscope: rank 1 ended: rank 1 found no rank 0 at 127\.0\.0\.1:40000 within 8 s \(ECONNREFUSED\)\n$/
    await expectRefused([running], bundle, says, 3)
  })

  it('when rank 0 cannot listen', async () => {
    const bundle = newBundle()
    const taken = createServer()
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, '127.0.0.1', () => {
        const address = taken.address()
        resolve(typeof address === 'object' && address !== null ? address.port : 0)
      })
    })
    const env = { MASTER_ADDR: '127.0.0.1', MASTER_PORT: `${port}`, ...torchrun(0, 4) }
    const running = start(['run', endless(), '--out', bundle], { env })
    const says = /^dcpscope: rank 0 cannot listen at 127\.0\.0\.1:\d+: [^\n]*EADDRINUSE[^\n]*\n$/
    await expectRefused([running], bundle, says, 3)
    taken.close()
  })

  it.each([
    [{ RANK: '1' }, /WORLD_SIZE is not set, but RANK is: set both, or unset RANK/],
    [{ RANK: '4', WORLD_SIZE: '4' }, /RANK: must be below WORLD_SIZE \(4\), got 4/],
    [{ RANK: 'one', WORLD_SIZE: '4' }, /RANK: must be a whole number from 0, got "one"/],
    [{ RANK: '1', WORLD_SIZE: '4' }, /MASTER_ADDR is not set/],
    [{ RANK: '1', WORLD_SIZE: '4', MASTER_ADDR: 'localhost' }, /MASTER_PORT is not set/],
  ])('when the environment is %j', async (env, says) => {
    const bundle = newBundle()
    await expectRefused([start(['run', endless(), '--out', bundle], { env })], bundle, says, 2)
  })

  it.skipIf(process.platform !== 'linux')('when a rank gets no memory', async () => {
    const bundle = newBundle()
    const config = endless({ workload: { steps: 4 }, cache: { poolTokens: 250_000 } })
    const through = ['bash', '-c', 'ulimit -v 1500000; exec "$@"', 'bash']
    const running = await launch({ bundle, config, of: (rank) => (rank === 2 ? { through } : {}) })
    await expectRefused(
      running,
      bundle,
      /^dcpscope: rank 2 of 4 failed, last in its start: the system refused \d+ bytes\n$/,
      3,
    )
  })

  it.skipIf(!canUnshare)('when the shared memory is too small, with the numbers', async () => {
    const bundle = newBundle()
    const small = 'mount -t tmpfs -o size=1m tmpfs /dev/shm && exec "$@"'
    const through = ['unshare', '-m', 'sh', '-c', small, 'sh']
    const running = start(
      ['run', endless({ model: { preset: 'tiny', layers: 16 }, workload: { steps: 4 } }), '--out', bundle],
      {
        through,
      },
    )
    await expectRefused(
      [running],
      bundle,
      /^dcpscope: rank 0 of 4 failed, last in its start: \/dev\/shm is too small: the ranks exchange through \S+ MiB of shared memory, 1\.0 MiB are free; make it larger [^\n]*\n$/,
      3,
    )
  })

  it('in a form that a terminal shows', async () => {
    const bundle = newBundle()
    const running = start(['run', '--ranks', 'fibres', '--out', bundle])
    await expectRefused([running], bundle, /engine\.ranks: must be threads or processes, got "fibres"/, 2)
  })
})

/** The command line under test, as if it were of another version. */
const otherVersion = (): string => {
  const [from, to] = [dirname(CLI), freshFolder()]
  mkdirSync(join(to, 'chunks'))
  for (const folder of ['.', 'chunks'])
    for (const file of readdirSync(join(from, folder)).filter((name) => name.endsWith('.js'))) {
      const text = readFileSync(join(from, folder, file), 'utf8')
      writeFileSync(
        join(to, folder, file),
        text.replaceAll(/VERSION = "\d+\.\d+\.\d+"/g, 'VERSION = "9.8.7"'),
      )
    }
  cpSync(join(from, 'native'), join(to, 'native'), { recursive: true })
  symlinkSync(join(from, '..', 'node_modules'), join(to, 'node_modules'))
  return join(to, 'cli.js')
}
