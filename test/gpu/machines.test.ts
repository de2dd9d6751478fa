import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addon } from '../native/engine.ts'
import { manifestOf, type Outcome, query, type Running, recording } from '../unit/cli/dcpscope.ts'
import { canUnshare, familyOf, gone, launch, newBundle, outcomesOf } from '../unit/cli/launch.ts'
import { OtherMachine } from '../unit/cli/other-machine.ts'
import { skipReason } from './program.ts'
import { onCommandLine, STAGE } from './rank-cases.ts'

const SUITE = 'the tests of ranks on two machines with a GPU each'
const none = skipReason(SUITE) !== undefined

const whyNot = (): string | undefined => {
  const { devices, nccl } = addon.cuda()
  if (devices.length < 2) return `they need two GPUs, this machine has ${devices.length}`
  if (nccl?.available !== true) return nccl?.reason ?? 'NCCL was not looked for'
  return canUnshare ? undefined : 'they need to run as root where networks of their own are allowed'
}
const skipped = none ? 'there is no GPU' : whyNot()
if (!none && skipped !== undefined) process.stderr.write(`${SUITE.toUpperCase()} ARE SKIPPED: ${skipped}\n`)

let other: OtherMachine

/** Each machine has one GPU, and NCCL takes the cable between them. */
const of = (rank: number) => ({
  env: {
    MASTER_ADDR: other.address,
    LOCAL_RANK: '0',
    CUDA_VISIBLE_DEVICES: process.env.CUDA_VISIBLE_DEVICES?.split(',')[rank] ?? `${rank}`,
    NCCL_SOCKET_IFNAME: other.interfaces[rank] ?? '',
    NCCL_NET: 'Socket',
    NCCL_IB_DISABLE: '1',
  },
  ...(rank === 0 ? {} : { through: other.through }),
})

const start = (config: string, bundle: string): Promise<readonly Running[]> =>
  launch({ config, bundle, of, world: 2, ranks: [0, 1] })

/** Both commands of a run that is recording, what ends it, and how it ended. */
const endedBy = async (comm: string, act: (pids: readonly number[]) => void): Promise<readonly Outcome[]> => {
  const bundle = newBundle()
  const running = await start(onCommandLine({ comm, graph: true, steps: 1_000_000 }), bundle)
  if (running[0] === undefined) throw new Error('no ranks')
  await recording(bundle, running[0])
  const families = running.flatMap(({ pid }) => familyOf(pid))
  await new Promise((next) => setTimeout(next, Math.random() * 500))
  act(manifestOf(bundle).processes?.map(({ pid }) => pid) ?? [])
  const begun = performance.now()
  const outcomes = await outcomesOf(running)
  process.stdout.write(
    `${comm}, after ${((performance.now() - begun) / 1000).toFixed(1)} s: ${outcomes.map(({ stderr }) => stderr).join('')}`,
  )
  await gone(families)
  expect(manifestOf(bundle).status).toMatch(/^(interrupted|failed)$/)
  expect(await query(bundle, 'select count(distinct rank)::int as n from spans')).toEqual([{ n: 2 }])
  return outcomes
}

describe.skipIf(skipped !== undefined)(SUITE, () => {
  beforeAll(async () => {
    other = await OtherMachine.start()
  })
  afterAll(() => other.end())

  it.each(['ag_rs', 'a2a'].flatMap((comm) => [false, true].map((graph) => ({ comm, graph }))))(
    'are right and on one clock within what is said ($comm, graph: $graph)',
    async ({ comm, graph }) => {
      const bundle = newBundle()
      const running = await start(onCommandLine({ comm, graph }), bundle)
      for (const { code, stderr } of await outcomesOf(running)) expect([code, stderr]).toEqual([0, ''])
      const { clock, devices, processes, summary } = manifestOf(bundle)
      process.stdout.write(`${comm}, graph ${graph}: clocks within ${clock.uncertaintyNs} ns\n`)
      expect(summary).toMatchObject({ dropped: 0, provenance: 'measured', check: { ok: true, nanRows: 0 } })
      expect(devices).toHaveLength(2)
      expect(processes?.map(({ host }) => host === 'node-2')).toEqual([false, true])
      expect(clock.alignment).toMatch(/globaltimer.*; the clocks of 1 of 2 ranks are others than rank 0's/)
      expect(clock.uncertaintyNs).toBeGreaterThan(0)
      expect(clock.uncertaintyNs).toBeLessThan(1e7)
      const odd = `select count(*)::int as n from (
        select collective_seq, count(*) as n, max(enter_ns) as last, min(start_ns + dur_ns) as first_end
        from spans where collective_seq is not null group by all)
        where n <> 2 or first_end < last - ${2 * clock.uncertaintyNs}`
      expect(await query(bundle, odd)).toEqual([{ n: 0 }])
    },
  )

  it.each(
    ['ag_rs', 'a2a'].flatMap((comm) => (['SIGKILL', 'SIGSTOP'] as const).map((signal) => ({ comm, signal }))),
  )('end together, and name the one, when a rank gets $signal ($comm)', async ({ comm, signal }) => {
    const lost = Math.floor(Math.random() * 2)
    const [told, second] = await endedBy(comm, (pids) => process.kill(pids[lost] ?? 0, signal))
    expect(told?.stderr).toMatch(
      new RegExp(
        `^dcpscope: rank ${lost} (of 2 (died|has not answered for 4 s)[^\\n]*, last in ${STAGE}|did not come to ${STAGE})[^\\n]*\\n$`,
      ),
    )
    expect([told?.code, second?.code]).toEqual([3, 3])
    expect(second?.stderr).toMatch(/^dcpscope: rank 1 [^\n]*\n$/)
  })

  it('end on both when nothing comes through between them any more', async () => {
    try {
      const [told, second] = await endedBy('ag_rs', () => other.cut())
      expect(told?.stderr).toMatch(/^dcpscope: rank [01] [^\n]*\n$/)
      expect([told?.code, second?.code]).toEqual([3, 3])
      expect(second?.stderr).toMatch(/^dcpscope: rank 1 ended: rank 0 (does not answer|is gone)\n$/)
    } finally {
      other.mend()
    }
  })

  it('are refused with p2p, which reads the memory of one machine', async () => {
    const bundle = newBundle()
    const [told] = await outcomesOf(await start(onCommandLine({ comm: 'p2p' }), bundle))
    expect([told?.code, told?.stderr]).toEqual([
      2,
      expect.stringMatching(
        /^dcpscope: parallel\.comm: p2p reads the memory of other ranks' GPUs, and rank 1 \(node-2\) is on another machine than rank 0 [^\n]*; use ag_rs or a2a\n$/,
      ),
    ])
  })
})
