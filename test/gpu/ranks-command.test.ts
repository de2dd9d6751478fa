import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configFile, dcpscope, freshFolder, manifestOf, query } from '../unit/cli/dcpscope.ts'
import { skipReason } from './program.ts'

const SUITE = 'the tests of ranks as processes on GPUs from the command line'
const skipped = skipReason(SUITE) !== undefined

const newBundle = (): string => join(freshFolder(), 'run.dcp')

const COMMS = ['ag_rs', 'a2a', 'p2p'] as const
type Comm = (typeof COMMS)[number]

const ranksOf = (ranks: number, comm: Comm, engine: object = {}): string =>
  configFile({
    model: { preset: 'tiny' },
    parallel: { tpSize: ranks, dcpSize: ranks, comm },
    engine: { device: 'cuda', ranks: 'processes', ...engine },
    check: { rows: 'all' },
  })

/** GPUs that the engine sees, and whether NCCL is there. */
const machine = async (): Promise<{ gpus: number; nccl: boolean }> => {
  const { gpuLinks } = JSON.parse((await dcpscope(['doctor', '--json'])).stdout)
  return { gpus: Math.max(1, gpuLinks.peers.length), nccl: gpuLinks.nccl.available }
}

/** Where every span, kernel and step comes from. */
const sourcesIn = async (bundle: string): Promise<unknown> =>
  query(
    bundle,
    'select distinct provenance from (select provenance from spans union all select provenance from steps)',
  )

describe.skipIf(skipped)(SUITE, () => {
  it('share GPUs with p2p where there are more ranks, are right, and every time says time-sliced', async () => {
    const { gpus } = await machine()
    const bundle = newBundle()
    const ranks = 2 * gpus
    const { code, stdout, stderr } = await dcpscope([
      ...['run', ranksOf(ranks, 'p2p'), '--out', bundle, '--json'],
    ])
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toMatchObject({
      ranks,
      provenance: 'time-sliced',
      timeSliced: expect.stringContaining('more ranks than GPUs'),
      check: { ok: true, nanRows: 0 },
      dropped: 0,
    })
    expect(await sourcesIn(bundle)).toEqual([{ provenance: 'time-sliced' }])
    const { devices, processes } = manifestOf(bundle)
    expect(devices).toHaveLength(gpus)
    expect(new Set(processes?.map(({ pid }) => pid)).size).toBe(ranks)
    expect(processes?.map(({ device }) => device)).toEqual(
      Array.from({ length: ranks }, () => expect.stringMatching(/, GPU-[0-9a-f-]+$/)),
    )
  })

  it('are refused in one line where NCCL would need more GPUs, or is missing, before anything is written', async () => {
    const { gpus, nccl } = await machine()
    const ranks = 2 * gpus
    const bundle = newBundle()
    const { code, stdout, stderr } = await dcpscope(['run', ranksOf(ranks, 'ag_rs'), '--out', bundle])
    const few =
      `dcpscope: parallel.comm: ag_rs goes through NCCL, which needs a GPU for each rank: ${ranks} ranks, ` +
      `${gpus} GPU${gpus === 1 ? '' : 's'}; use p2p or fewer ranks\n`
    const missing = expect.stringMatching(/^dcpscope: parallel.comm: ag_rs needs NCCL, [^\n]+; or use p2p\n$/)
    expect([code, stdout, stderr]).toEqual(nccl ? [2, '', few] : [3, '', missing])
    expect(existsSync(bundle)).toBe(false)
  })

  it.each(COMMS.flatMap((comm) => [false, true].map((graph) => ({ comm, graph }))))(
    'have a GPU each by $comm (graph: $graph), and all is measured',
    async ({ comm, graph }) => {
      const { gpus, nccl } = await machine()
      if (gpus < 2 || (comm !== 'p2p' && !nccl)) {
        const why = gpus < 2 ? 'there is one GPU' : 'there is no NCCL'
        process.stderr.write(`RANKS WITH A GPU EACH BY ${comm.toUpperCase()} ARE SKIPPED: ${why}\n`)
        return
      }
      const bundle = newBundle()
      const { code, stdout, stderr } = await dcpscope([
        ...['run', ranksOf(2, comm, { graph }), '--out', bundle, '--json'],
      ])
      expect([code, stderr]).toEqual([0, ''])
      const summary = JSON.parse(stdout)
      expect(summary).toMatchObject({ ranks: 2, provenance: 'measured', check: { ok: true }, dropped: 0 })
      expect(summary).not.toHaveProperty('emulated')
      expect(summary).not.toHaveProperty('timeSliced')
      expect(await sourcesIn(bundle)).toEqual([{ provenance: 'measured' }])
      expect(manifestOf(bundle).devices).toHaveLength(2)
    },
  )

  it('are measured by the benchmark of the transports, as far as there are GPUs', async () => {
    const { gpus, nccl } = await machine()
    const args = ['--ranks', '2', '--tokens', '8', '--steps', '5', '--layers', '2']
    const done = spawnSync(process.execPath, ['test/bench/comm.bench.mjs', ...args], { encoding: 'utf8' })
    expect([done.status, done.stderr]).toEqual([0, expect.not.stringContaining('failed')])
    const { figures, comparisons, kernels } = JSON.parse(done.stdout)
    expect(kernels.map(({ name }: { name: string }) => name)).toContain('merge-p2p-flags')
    expect(figures).toHaveLength(gpus < 2 ? 0 : nccl ? 8 : 2)
    expect(comparisons).toHaveLength(gpus < 2 || !nccl ? 0 : 2)
  })
})
