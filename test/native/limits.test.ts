import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { EVENT_KINDS } from '../../app/trace/stages.ts'
import { addon, codeOf, drainAll, fillAll, finish, rowsOf, smallConfig, thrown } from './engine.ts'

const outcome = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'fulfilled',
    (error: unknown) => `${codeOf(error)}: ${error instanceof Error ? error.message : String(error)}`,
  )

describe('bad configurations', () => {
  const cases: readonly [Partial<Record<keyof EngineConfig, unknown>>, RegExp][] = [
    [{ ranks: 0 }, /ranks: must be 1 to 64, got 0/],
    [{ ranks: 65 }, /ranks: must be 1 to 64, got 65/],
    [{ ranks: 3 }, /heads: must be a multiple of 3, got 4/],
    [{ heads: 129 }, /heads: must be 1 to 128/],
    [{ heads: 1.5 }, /heads: must be a whole number/],
    [{ kvLoraRank: 24 }, /kvLoraRank: must be a multiple of 16, got 24/],
    [{ kvHeads: 3, headDim: 16 }, /kvHeads: must divide heads, got 3/],
    [{ kvHeads: 5, headDim: 16 }, /kvHeads: must be 0 to 4, got 5/],
    [{ kvHeads: 2, headDim: 0 }, /headDim: must be 16 to 512, got 0/],
    [{ kvHeads: 2, headDim: 40 }, /headDim: must be a multiple of 16, got 40/],
    [{ kvHeads: 2, headDim: 16, kvDtype: 'fp8_ds_mla' }, /kvDtype: fp8_ds_mla keeps no KV heads/],
    [{ softmaxScale: Number.NaN }, /softmaxScale: must be above 0/],
    [{ interleave: 3 }, /interleave: must divide pageSize/],
    [{ comm: 'nccl' }, /comm: must be ag_rs, a2a or p2p/],
    [{ kvDtype: 'fp16' }, /kvDtype: must be fp32, bf16, fp8 or fp8_ds_mla/],
    [{ kvDtype: 'fp8_ds_mla' }, /kvDtype: fp8_ds_mla needs kvLoraRank 512 and ropeDim 64/],
    [{ topk: -1 }, /topk: must be 0 to 1048576, got -1/],
    [{ contextLens: [] }, /contextLens: must be 1 to/],
    [{ contextLens: [-1] }, /contextLens: must be 0 to/],
    [{ contextLens: [1e12] }, /contextLens: must be 0 to/],
    [{ contextLens: 'many' }, /contextLens: must be a list/],
    [{ contextLens: ['1'] }, /contextLens: must be a whole number/],
    [{ qLen: 9 }, /qLen: must be 1 to 8/],
    [{ acceptedPerStep: 2 }, /acceptedPerStep: must be 1 to 1/],
    [{ seed: -1 }, /seed: must be 0 to 2\^32 - 1/],
    [{ needles: 1 }, /needles: must be true or false/],
    [{ lseBase: '10' }, /lseBase: must be e or 2/],
    [{ emptyRow: 'zero' }, /emptyRow: must be neutral/],
    [{ lseType: 'fp16' }, /lseType: must be fp32 or bf16/],
    [{ lseLayout: '[H]' }, /lseLayout: must be \[T,H\], \[B,H,q\] or \[H,T\]/],
    [{ paddedHeads: 3 }, /paddedHeads: must be 0, or at least heads and at most 128, got 3/],
    [{ zeroWeight: 'kept' }, /zeroWeight: must be dropped or multiplied/],
    [{ allEmpty: 'inf' }, /allEmpty: must be zero or nan/],
    [{ captureSteps: [3] }, /captureSteps: must be 0 to 2, got 3/],
    [{ draft: 1 }, /draft: must be true or false/],
    [{ draft: true, captureLayers: [3] }, /captureLayers: must be 0 to 2, got 3/],
    [{ captureLayers: [2] }, /captureLayers: must be 0 to 1, got 2/],
    [{ poolTokens: 2 ** 41 }, /poolTokens: must be 0 to/],
    [
      { poolTokens: 2 ** 40, pageSize: 1024, ranks: 64, heads: 64, layers: 512 },
      /poolTokens: the pools of all ranks and layers must be at most 2\^60 bytes/,
    ],
    [{ checkRows: Number.POSITIVE_INFINITY }, /checkRows: must be a whole number/],
    [{ steps: undefined }, /steps: must be a whole number/],
  ]
  it('are refused by the name of the field and the rule', () => {
    for (const [over, message] of cases) {
      const config: unknown = { ...smallConfig(), ...over }
      expect(thrown(() => Reflect.apply(addon.createRun, addon, [config]))).toMatch(message)
      expect(thrown(() => Reflect.apply(addon.predictMemory, addon, [config]))).toMatch(/^ERR_CONFIG: /)
    }
  })

  it('are refused when they are no objects at all', () => {
    for (const config of [undefined, null, 1, 'x', []])
      expect(thrown(() => Reflect.apply(addon.createRun, addon, [config]))).toMatch(/^ERR_CONFIG: /)
  })
})

describe('memory', () => {
  it('is predicted by component', () => {
    const config = smallConfig({ contextLens: [1000] })
    const parts = new Map(addon.predictMemory(config).map(({ name, bytes }) => [name, bytes]))
    const pages = Math.ceil((1000 + 3) / (config.pageSize * config.ranks))
    expect(parts.get('kv_pages')).toBe(config.ranks * config.layers * pages * config.pageSize * 48 * 4)
    for (const name of ['queries', 'partials', 'merged', 'inputs', 'rings', 'reference', 'capture'])
      expect(parts.has(name)).toBe(true)
  })

  it('is refused with the numbers and the largest part before anything is allocated', () => {
    const config = smallConfig({ contextLens: new Array<number>(4096).fill(1 << 24) })
    expect(thrown(() => addon.createRun(config))).toMatch(
      /^ERR_MEMORY: the run needs [\d.]+ TiB, available [\d.]+ [GM]iB; the largest part is kv_pages with [\d.]+ TiB$/,
    )
  })

  it('is refused also where a cell of the page table costs more than the keys', () => {
    const config = smallConfig({ poolTokens: 2 ** 33, pageSize: 1024 })
    expect(thrown(() => addon.createRun(config))).toMatch(/^ERR_MEMORY: /)
  })
})

describe('a full pool', () => {
  it('ends the fill with the request and the pages', async () => {
    const run = addon.createRun(smallConfig({ contextLens: [10, 100], poolTokens: 40 }))
    expect(await outcome(run.fill(1000))).toMatch(
      /^ERR_POOL_FULL: .*step 0: request 1 with 100 tokens needs 7 pages, the batch 8, .* 5 pages of 8 tokens$/,
    )
    run.dispose()
  })

  it('ends the step that needs the page, and keeps what was traced before', async () => {
    const config = smallConfig({ contextLens: [14], poolTokens: 8, steps: 10, warmup: 0 })
    const run = addon.createRun(config)
    await fillAll(run)
    expect(await outcome(run.advance(100, 1000, 0))).toMatch(
      /^ERR_POOL_FULL: .*step 2: request 0 with 17 tokens/,
    )
    const chunks = drainAll(run)
    expect(rowsOf(chunks, 'steps', -1).map((row) => row.step)).toEqual([0, 1])
    const event = rowsOf(chunks, 'events', -1).find((row) => row.kind === EVENT_KINDS.indexOf('pool_full'))
    expect(event).toMatchObject({ step: 2, request: 0, value: 2, limit: 1 })
    run.dispose()
  })
})

describe('cancelling', () => {
  it('ends a long fill and a long step soon, with the step given up', async () => {
    const config = smallConfig({ contextLens: [60_000], ranks: 1, layers: 4, kvLoraRank: 512, ropeDim: 64 })
    const run = addon.createRun({ ...config, heads: 128, checkRows: 0, steps: 2, warmup: 0 })
    const filling = run.fill(Number.POSITIVE_INFINITY)
    setTimeout(() => run.cancel(), 20)
    expect(await outcome(filling)).toMatch(/^ERR_CANCELLED: /)
    await fillAll(run)
    const advancing = run.advance(10, 1e6, 0)
    setTimeout(() => run.cancel(), 20)
    expect(await outcome(advancing)).toMatch(/^ERR_CANCELLED: /)
    expect(drainAll(run)).toEqual([])
    run.dispose()
  }, 60_000)

  it('leaves a run that goes on to the same numbers', async () => {
    const config = smallConfig({ contextLens: [3000], layers: 8, steps: 4, ranks: 4 })
    const run = addon.createRun(config)
    await fillAll(run)
    const chunks = []
    for (let finished = false, tries = 0; !finished; tries++) {
      const advancing = run.advance(1, 1000, 0)
      if (tries % 2 === 0) run.cancel()
      try {
        finished = (await advancing).finished
      } catch (error) {
        expect(codeOf(error)).toBe('ERR_CANCELLED')
      }
      chunks.push(...drainAll(run))
    }
    run.dispose()
    const undisturbed = await finish(config)
    for (const table of ['rows', 'pages'] as const)
      for (let rank = 0; rank < config.ranks; rank++)
        expect(rowsOf(chunks, table, rank)).toEqual(rowsOf(undisturbed.chunks, table, rank))
  })

  it('does nothing to a run that is idle', async () => {
    const run = addon.createRun(smallConfig())
    run.cancel()
    await fillAll(run)
    run.cancel()
    expect((await run.advance(100, 1000, 0)).finished).toBe(true)
    run.dispose()
  })
})

describe('calls at the wrong time', () => {
  it('are refused on a disposed run, and disposing twice is fine', async () => {
    const run = addon.createRun(smallConfig())
    run.dispose()
    run.dispose()
    for (const call of [() => run.fill(1), () => run.drain(1), () => run.takeCaptures(), () => run.dropped()])
      expect(thrown(call)).toMatch(/^ERR_STATE: .* disposed$/)
  })

  it('are refused before the context is there and while another call works', async () => {
    const run = addon.createRun(smallConfig({ contextLens: [50_000] }))
    expect(await outcome(run.advance(1, 1, 0))).toMatch(/^ERR_STATE: the context is not filled yet$/)
    const filling = run.fill(1000)
    expect(thrown(() => run.fill(1))).toMatch(/^ERR_STATE: fill: the run is busy/)
    expect(thrown(() => run.drain(1))).toMatch(/^ERR_STATE: drain: the run is busy/)
    await filling
    run.dispose()
  })

  it('are refused with arguments that are no amounts', () => {
    const run = addon.createRun(smallConfig())
    for (const amount of [-1, Number.NaN, 'x', undefined])
      expect(thrown(() => Reflect.apply(run.fill, run, [amount]))).toMatch(/^ERR_CONFIG: maxMs/)
    run.dispose()
  })
})

describe('the end of the process', () => {
  const script = fileURLToPath(new URL('exit-early.mjs', import.meta.url))
  for (const way of ['exit', 'dispose', 'worker'])
    it(`in the middle of a step does not abort (${way})`, () => {
      const out = execFileSync(process.execPath, [script, way], { encoding: 'utf8', timeout: 50_000 })
      expect(out).toBe('leaving\n')
    }, 60_000)
})
