import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { configFile, dcpscope, freshFolder, manifestOf, query } from '../unit/cli/dcpscope.ts'
import { skipReason } from './program.ts'

const SUITE = 'the tests of sweeps on a GPU'
const skipped = skipReason(SUITE) !== undefined

const newBundle = (): string => join(freshFolder(), 'sweep.dcp')

/** Four ranks of DeepSeek-V2-Lite, one layer of it, in two batches. */
const onGpu = (over: object = {}): string =>
  configFile({
    base: {
      model: { preset: 'deepseek-v2-lite' },
      parallel: { tpSize: 4 },
      engine: { device: 'cuda', graph: true, restOfLayer: 'model' },
    },
    dcp: [2, 4],
    comm: ['a2a'],
    context: [1024, 65_536],
    concurrency: [4],
    repeats: 2,
    ...over,
  })

afterEach(() => {
  delete process.env.DCPSCOPE_TEST_FAULT
})

describe.skipIf(skipped)(SUITE, () => {
  it('measures with emulated exchange, and predicts that of GPUs apart from it', async () => {
    const bundle = newBundle()
    const { code, stdout, stderr } = await dcpscope(['sweep', onGpu(), '--out', bundle, '--json'])
    expect([code, stderr]).toEqual([0, ''])
    const summary = JSON.parse(stdout)
    expect(summary).toMatchObject({ device: 'cuda', points: 6, measured: 6, missing: [] })
    expect(summary.emulated).toContain('one GPU in turn')
    expect(summary.groups.map((group: { predicted: boolean }) => group.predicted)).toEqual(
      expect.arrayContaining([true, false]),
    )
    expect(summary.modelError.points).toBe(6)
    const rows = await query(
      bundle,
      `select transport, provenance = 'predicted' as predicted, count(*)::int as n, min(kv_capacity_tokens) > 0 as room
       from points group by all order by all`,
    )
    expect(rows).toEqual([
      { transport: 'local', predicted: false, n: 12, room: true },
      { transport: 'local', predicted: true, n: 6, room: true },
      { transport: 'model', predicted: true, n: 6, room: true },
    ])
    const parts = await query(
      bundle,
      `select bool_and(attn_ms > 0) as attention, bool_and(comm_ms > 0) filter (where dcp > 1) as exchange,
         bool_and(attn_ms + comm_ms + wait_ms <= 1.05 * step_ms_p50) as within
       from points where provenance <> 'predicted'`,
    )
    expect(parts).toEqual([{ attention: true, exchange: true, within: true }])
  })

  it('loses to a kernel fault the points that have it, and no others', async () => {
    process.env.DCPSCOPE_TEST_FAULT = 'decode_attn:3:1'
    const bundle = newBundle()
    const file = onGpu({ context: [1024], repeats: 1 })
    const { code, stdout, stderr } = await dcpscope(['sweep', file, '--out', bundle])
    expect(code).toBe(3)
    expect(stderr).toMatch(/^dcpscope: the engine failed in dcp4-a2a-bf16-q1-c1024-n4: [^\n]*rank 3[^\n]*\n$/)
    expect(stdout).toMatch(/points +2 of 3 measured/)
    delete process.env.DCPSCOPE_TEST_FAULT
    expect((await dcpscope(['sweep', file, '--out', bundle])).code).toBe(0)
    expect(manifestOf(bundle)).toMatchObject({ status: 'complete', sweep: { missing: [] } })
  })

  it('skips what the GPU does not hold', async () => {
    const file = onGpu({
      mode: ['tp'],
      context: [1024, 1_000_000],
      concurrency: [256],
      memory: { bytes: 1e15 },
    })
    const { code, stdout } = await dcpscope(['sweep', file, '--out', newBundle(), '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      measured: 1,
      missing: [
        { key: 'tp-bf16-q1-c1000000-n256', why: 'memory', reason: expect.stringContaining('the run needs') },
      ],
    })
  })
})
