import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configFile, dcpscope, manifestOf, query, start } from './dcpscope.ts'
import {
  canUnshare,
  endless,
  expectKept,
  expectWholeSteps,
  familyOf,
  freePort,
  gone,
  launch,
  newBundle,
  numberIn,
  ON_CPU,
  outcomesOf,
  PROCESSES,
  recordingLaunch,
  STAGE,
  torchrun,
} from './launch.ts'
import { OtherMachine } from './other-machine.ts'

let other: OtherMachine

/** Ranks 2 and 3 of four are on another machine. */
const of = (rank: number) => ({
  env: { MASTER_ADDR: other.address, LOCAL_RANK: `${rank % 2}` },
  ...(rank < 2 ? {} : { through: other.through }),
})

describe.skipIf(!canUnshare)('ranks on two machines', () => {
  beforeAll(async () => {
    other = await OtherMachine.start()
  })
  afterAll(() => other.end())

  it.each(['ag_rs', 'a2a', 'p2p'])(
    'record what ranks of one do, on one clock within what is said (%s)',
    async (comm) => {
      const [threads, machines] = [newBundle(), newBundle()]
      const config = (over: object) => configFile({ model: { preset: 'tiny' }, parallel: { comm }, ...over })
      await dcpscope(['run', config({}), ...ON_CPU, '--out', threads])
      const running = await launch({ config: config(PROCESSES), bundle: machines, of })
      for (const { code, stderr } of await outcomesOf(running)) expect([code, stderr]).toEqual([0, ''])
      const tensors = 'tensors/step=23/layer=0'
      for (const file of readdirSync(join(threads, tensors)))
        expect(
          readFileSync(join(machines, tensors, file)).equals(readFileSync(join(threads, tensors, file))),
        ).toBe(true)
      const rows = 'select * from rows order by all'
      expect(await query(machines, rows)).toEqual(await query(threads, rows))
      const { clock, processes, summary } = manifestOf(machines)
      expect(summary?.check).toMatchObject({ ok: true })
      expect(processes?.map(({ host, localRank }) => [host === 'node-2', localRank])).toEqual([
        [false, 0],
        [false, 1],
        [true, 0],
        [true, 1],
      ])
      expect(clock.alignment).toMatch(
        /^ranks are processes and read the steady clock of their machine; the clocks of 2 of 4 ranks are others than rank 0's/,
      )
      expect(clock.uncertaintyNs).toBeGreaterThan(0)
      expect(clock.uncertaintyNs).toBeLessThan(1e7)
      // No rank leaves a collective before the last has entered it, and all know when that was.
      const odd = `select count(*)::int from (
      select collective_seq, max(enter_ns) as last, count(*) as n, min(last_enter_ns) as a, max(last_enter_ns) as b,
        min(start_ns + dur_ns) as first_end
      from spans where collective_seq is not null group by all)
      where n <> 4 or a <> last or b <> last or first_end < last - ${2 * clock.uncertaintyNs}`
      expect(await numberIn(machines, odd)).toBe(0)
      const outside = 'select count(*)::int from spans where start_ns < 0 or start_ns > 1e12'
      expect(await numberIn(machines, outside)).toBe(0)
    },
  )

  it.each([1, 3])('are stopped with the same whole steps when rank %i is asked to end', async (rank) => {
    const { bundle, running, families } = await recordingLaunch(of)
    running[rank]?.child.kill('SIGINT')
    for (const { code, stderr } of await outcomesOf(running)) expect([code, stderr]).toEqual([130, ''])
    await gone(families)
    expect(manifestOf(bundle).status).toBe('stopped')
    await expectWholeSteps(bundle)
  })

  it.each(['SIGKILL', 'SIGSTOP', 'SIGSEGV', 'SIGKILL', 'SIGSTOP'] as const)(
    'end together, and name the one, when a rank gets %s at some moment',
    async (signal) => {
      const { bundle, running, families } = await recordingLaunch(of)
      const lost = Math.floor(Math.random() * 4)
      const pid = manifestOf(bundle).processes?.[lost]?.pid ?? 0
      await new Promise((next) => setTimeout(next, Math.random() * 300))
      process.kill(pid, signal)
      const [told, ...others] = await outcomesOf(running)
      const how =
        signal === 'SIGSTOP'
          ? 'has not answered for 4 s'
          : lost === 0
            ? `died \\(${signal}[^)]*\\)`
            : 'died or lost its connection'
      const absent = `rank ${lost} did not come to ${STAGE} within 5 s; it is in ${STAGE}`
      expect(told?.stderr).toMatch(
        new RegExp(`^dcpscope: (rank ${lost} of 4 ${how}, last in ${STAGE}|${absent}); what was [^\\n]*\\n$`),
      )
      for (const one of others)
        expect([one.code, one.stderr]).toEqual([3, expect.stringMatching(/^dcpscope: rank /)])
      await gone(families)
      await expectKept(bundle, told?.stderr.includes('did not come') ? 'failed' : 'interrupted')
    },
  )

  it('end on both when nothing comes through between them any more', async () => {
    const { bundle, running, families } = await recordingLaunch(of)
    await new Promise((next) => setTimeout(next, Math.random() * 300))
    other.cut()
    try {
      const [told, second, ...there] = await outcomesOf(running)
      const far = '[23]'
      expect(told?.stderr).toMatch(
        new RegExp(
          `^dcpscope: rank ${far} (of 4 has not answered for 4 s, last in|did not come to) ${STAGE}[^\\n]*; what was [^\\n]*\\n$`,
        ),
      )
      expect(second?.stderr).toMatch(new RegExp(`^dcpscope: rank 1 ended: rank ${far} [^\\n]*\\n$`))
      for (const one of there) {
        expect(one.stderr).toMatch(/^dcpscope: rank [23] ended: rank 0 (does not answer|is gone)\n$/)
        expect(one.code).toBe(3)
      }
      await gone(families)
      await expectKept(bundle, 'interrupted')
    } finally {
      other.mend()
    }
  })

  it('end when the first one is gone', async () => {
    const { bundle, running, families } = await recordingLaunch(of)
    running[0]?.child.kill('SIGKILL')
    const [, ...others] = await outcomesOf(running)
    for (const { code, stderr } of others)
      expect([code, stderr]).toEqual([
        3,
        expect.stringMatching(/^dcpscope: rank \d ended: (rank 0|the store process) is gone\n$/),
      ])
    await gone(families)
    expect(manifestOf(bundle).status).toBe('running')
    await numberIn(bundle, 'select count(*)::int from steps')
    expect(manifestOf(bundle).status).toBe('interrupted')
  })

  it('are refused in one line when they listen where only one of them can reach', async () => {
    const bundle = newBundle()
    const port = `${await freePort()}`
    const there = (rank: number) =>
      start(['run', endless(), '--out', bundle], {
        through: other.through,
        env: { ...torchrun(rank, 2), MASTER_ADDR: '127.0.0.1', MASTER_PORT: port },
      })
    const config = endless({ parallel: { tpSize: 2, dcpSize: 2 } })
    const here = start(['run', config, '--out', bundle], {
      env: { ...torchrun(0, 2), MASTER_ADDR: '127.0.0.1', MASTER_PORT: port },
    })
    const families = familyOf(here.pid)
    const far = there(1)
    expect((await here.outcome).stderr).toMatch(
      /^dcpscope: rank 1 of 2 did not come to 127\.0\.0\.1:\d+ within 8 s\n$/,
    )
    expect((await far.outcome).stderr).toMatch(/^dcpscope: [^\n]*\n$/)
    await gone([...families, far.pid])
  })
})
