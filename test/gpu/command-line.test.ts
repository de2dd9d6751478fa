import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import {
  configFile,
  dcpscope,
  freshFolder,
  manifestOf,
  query,
  recording,
  start,
} from '../unit/cli/dcpscope.ts'
import { skipReason } from './program.ts'

const SUITE = 'the tests of the command line on a GPU'
const skipped = skipReason(SUITE) !== undefined

const newBundle = (): string => join(freshFolder(), 'run.dcp')

const onGpu = (engine: object, workload: object = {}): string =>
  configFile({ model: { preset: 'tiny' }, engine: { device: 'cuda', ...engine }, workload })

const stepsIn = async (bundle: string): Promise<unknown> => {
  const rows = await query(bundle, 'select count(*)::int as n from steps')
  return Array.isArray(rows) ? rows[0]?.n : undefined
}

afterEach(() => {
  delete process.env.DCPSCOPE_TEST_FAULT
})

describe.skipIf(skipped)(SUITE, () => {
  it.each([false, true])('runs, checks itself and names the GPU (graph: %s)', async (graph) => {
    const bundle = newBundle()
    const { code, stdout, stderr } = await dcpscope(['run', onGpu({ graph }), '--out', bundle, '--json'])
    expect([code, stderr]).toEqual([0, ''])
    const summary = JSON.parse(stdout)
    expect(summary).toMatchObject({
      device: 'cuda',
      backend: 'native',
      provenance: 'emulated',
      check: { ok: true, nanRows: 0 },
      dropped: 0,
    })
    expect(summary.stages.q_all_gather).toMatchObject({ provenance: 'emulated' })
    expect(summary.stages.decode_attn).not.toHaveProperty('provenance')
    expect('graph_replay' in summary.stages).toBe(graph)
    expect(manifestOf(bundle)).toMatchObject({
      emulated: expect.stringContaining('one GPU in turn'),
      devices: [{ kind: 'cuda' }],
      clock: { alignment: expect.stringContaining('globaltimer') },
    })
  })

  it('reports what tracing costs', async () => {
    const { code, stdout } = await dcpscope([
      'run',
      onGpu({ observer: true }),
      '--out',
      newBundle(),
      '--json',
    ])
    expect(code).toBe(0)
    const { tracedUs, untracedUs, ratio } = JSON.parse(stdout).observerCost
    expect(untracedUs).toBeGreaterThan(0)
    expect(ratio).toBeCloseTo(tracedUs / untracedUs, 6)
  })

  it.each([
    ['decode_attn:1:3', false, /the GPU failed in decode_attn of rank 1, layer 0, step 3: /, 3],
    ['out_reduce_scatter:0:2', false, /the GPU failed in out_reduce_scatter of rank 0, layer 0, step 2: /, 2],
    ['metadata:2:0', true, /the GPU failed in metadata of rank 2, step 0: /, 0],
  ])(
    'names stage and rank of a kernel fault, %s, and keeps what came before',
    async (fault, graph, line, steps) => {
      process.env.DCPSCOPE_TEST_FAULT = fault
      const bundle = newBundle()
      const { code, stdout, stderr } = await dcpscope(['run', onGpu({ graph }), '--out', bundle])
      delete process.env.DCPSCOPE_TEST_FAULT
      expect([code, stdout]).toEqual([3, ''])
      expect(stderr).toMatch(line)
      expect(stderr.trim()).not.toContain('\n')
      expect(manifestOf(bundle)).toMatchObject({ status: 'failed', error: expect.stringMatching(line) })
      expect(await stepsIn(bundle)).toBe(steps)
    },
  )

  it('ends on Ctrl-C with 130 and a readable bundle', async () => {
    const bundle = newBundle()
    const running = start(['run', onGpu({ graph: true }, { steps: 1_000_000 }), '--out', bundle, '--json'])
    await recording(bundle, running)
    running.child.kill('SIGINT')
    expect((await running.outcome).code).toBe(130)
    expect(manifestOf(bundle).status).toBe('stopped')
  })

  it('refuses a run that does not fit, with the largest part, before it allocates', async () => {
    const bundle = newBundle()
    const requests = [{ contextLen: 1_000_000, count: 256 }]
    const { code, stderr } = await dcpscope(['run', onGpu({}, { requests }), '--out', bundle])
    expect(code).toBe(3)
    expect(stderr).toMatch(
      /^dcpscope: the run needs [\d.]+ TiB of the GPU's memory, available .* largest part is kv_pages .*\n$/,
    )
    expect(existsSync(bundle)).toBe(false)
  })
})
