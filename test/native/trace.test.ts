import { describe, expect, it } from 'vitest'
import { localLength } from '../../app/dcp/ownership.ts'
import { visibleKeys } from '../../app/dcp/visible.ts'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { STAGES, type Stage } from '../../app/trace/stages.ts'
import { TABLES } from '../../app/trace/tables.ts'
import { addon, column, drainAll, fillAll, finish, rowsOf, smallConfig } from './engine.ts'

const stagesOf = (config: EngineConfig): Stage[] => {
  const one = config.ranks === 1
  const transport: Stage[] =
    config.comm === 'ag_rs'
      ? ['lse_all_gather', 'lse_correct', 'out_reduce_scatter']
      : ['out_all_to_all', 'merge']
  return [
    ...(one || config.replicateQ ? [] : (['q_all_gather'] as const)),
    'kv_append',
    // Each layer's own choice of keys becomes slots.
    ...(config.topk > 0 ? (['metadata'] as const) : []),
    'decode_attn',
    'neutralize',
    ...(one ? [] : transport),
    ...(config.restOfLayerBytes > 0 ? (['rest_of_layer'] as const) : []),
  ]
}

const span = (stage: Stage): number => STAGES.indexOf(stage)

describe('spans', () => {
  const variants: Partial<EngineConfig>[] = [
    {},
    { comm: 'a2a' },
    { replicateQ: true },
    { ranks: 1 },
    { restOfLayerBytes: 3_000_000 },
    { restOfLayerBytes: 3_000_000, restOfLayerFlops: 40_000_000 },
    { topk: 3 },
  ]
  for (const over of variants)
    it(`follow the stages in order, without overlap, on every rank (${JSON.stringify(over)})`, async () => {
      const config = smallConfig({ ranks: 4, ...over })
      const run = await finish(config)
      for (let rank = 0; rank < config.ranks; rank++) {
        const spans = rowsOf(run.chunks, 'spans', rank)
        const layers = Array.from({ length: config.layers }, () => stagesOf(config)).flat()
        const perStep = ['metadata' as const, ...layers].map(span)
        const expected = Array.from({ length: config.steps }, () => perStep).flat()
        expect(spans.map((row) => row.stage)).toEqual(expected)
        let end = 0
        for (const row of spans) {
          expect(row.start_ns).toBeGreaterThanOrEqual(end)
          end = (row.start_ns ?? 0) + (row.dur_ns ?? 0)
        }
      }
    })

  it('lie within their step', async () => {
    const config = smallConfig({ ranks: 4 })
    const run = await finish(config)
    const steps = rowsOf(run.chunks, 'steps', -1)
    for (let rank = 0; rank < config.ranks; rank++)
      for (const row of rowsOf(run.chunks, 'spans', rank)) {
        const step = steps[row.step ?? -1]
        expect(row.start_ns).toBeGreaterThanOrEqual(step?.start_ns ?? Number.NaN)
        const end = (step?.start_ns ?? 0) + (step?.wall_ns ?? 0)
        expect((row.start_ns ?? 0) + (row.dur_ns ?? 0)).toBeLessThanOrEqual(end)
      }
  })

  it('number each collective alike on all ranks, with the time of the last to enter', async () => {
    const config = smallConfig({ ranks: 3, heads: 3, comm: 'a2a' })
    const run = await finish(config)
    const collectives = Array.from({ length: config.ranks }, (_, rank) =>
      rowsOf(run.chunks, 'spans', rank).filter((row) => row.collective_seq !== -1),
    )
    const count = config.steps * config.layers * 2
    for (const spans of collectives)
      expect(spans.map((row) => row.collective_seq)).toEqual([...Array(count).keys()])
    for (let i = 0; i < count; i++) {
      const entered = collectives.map((spans) => spans[i]?.enter_ns ?? Number.NaN)
      for (const spans of collectives) expect(spans[i]?.last_enter_ns).toBe(Math.max(...entered))
    }
  })

  it('count bytes and operations by the formulas of dcp', async () => {
    const config = smallConfig({
      ranks: 4,
      heads: 8,
      kvDtype: 'bf16',
      contextLens: [10, 33],
      steps: 1,
      qLen: 2,
    })
    const [T, H, c, D, V] = [4, 8, 4, 48, 32]
    const sum = async (over: Partial<EngineConfig>, stage: Stage, name: string): Promise<number[]> => {
      const run = await finish({ ...config, layers: 1, ...over })
      return Array.from({ length: c }, (_, rank) =>
        rowsOf(run.chunks, 'spans', rank)
          .filter((row) => row.stage === span(stage))
          .reduce((total, row) => total + (row[name] ?? Number.NaN), 0),
      )
    }
    const all = (bytes: number): number[] => new Array<number>(c).fill(bytes)
    expect(await sum({}, 'q_all_gather', 'bytes')).toEqual(all((T * H * D * 2 * (c - 1)) / c))
    expect(await sum({}, 'lse_all_gather', 'bytes')).toEqual(all(T * H * 4 * (c - 1)))
    expect(await sum({}, 'out_reduce_scatter', 'bytes')).toEqual(all((T * H * V * 2 * (c - 1)) / c))
    expect(await sum({ wireFp32: true }, 'out_reduce_scatter', 'bytes')).toEqual(
      all((T * H * V * 4 * (c - 1)) / c),
    )
    expect(await sum({ comm: 'a2a' }, 'out_all_to_all', 'bytes')).toEqual(
      all((T * H * (V + 2) * 2 * (c - 1)) / c),
    )
    const sharding = { dcp: c, interleave: 1 }
    const lengths = config.contextLens.map((len) => len + 2)
    expect(await sum({}, 'decode_attn', 'bytes')).toEqual(
      [0, 1, 2, 3].map((r) => lengths.reduce((n, len) => n + localLength(len, r, sharding) * D * 2, 0)),
    )
    expect(await sum({}, 'decode_attn', 'flops')).toEqual(
      [0, 1, 2, 3].map((r) =>
        lengths.reduce(
          (n, len) =>
            n + [0, 1].reduce((m, q) => m + 2 * H * (D + V) * visibleKeys(len, 2, q, r, sharding), 0),
          0,
        ),
      ),
    )
    expect((await sum({}, 'kv_append', 'bytes')).reduce((a, b) => a + b)).toBe(T * D * 2)
    const real = { kvLoraRank: 512, ropeDim: 64 }
    for (const [kvDtype, row] of [
      ['fp8', 576],
      ['fp8_ds_mla', 656],
    ] as const) {
      const bytes = (stage: Stage): Promise<number[]> => sum({ ...real, kvDtype }, stage, 'bytes')
      expect((await bytes('kv_append')).reduce((a, b) => a + b)).toBe(T * row)
      expect(await bytes('decode_attn')).toEqual(
        [0, 1, 2, 3].map((r) => lengths.reduce((n, len) => n + localLength(len, r, sharding) * row, 0)),
      )
    }
    // Each query token reads the keys that it chose: here 9 of those that it sees.
    const sparse = (name: string): Promise<number[]> => sum({ topk: 9 }, 'decode_attn', name)
    expect((await sparse('bytes')).reduce((a, b) => a + b)).toBe(T * 9 * D * 2)
    expect((await sparse('flops')).reduce((a, b) => a + b)).toBe(T * 9 * 2 * H * (D + V))
    expect(await sum({ restOfLayerBytes: 1e6, restOfLayerFlops: 3e6 }, 'rest_of_layer', 'flops')).toEqual(
      all(3e6),
    )
  })

  it('of rest_of_layer come from memory of its own, not from pages that were never written', async () => {
    const before = process.memoryUsage.rss()
    const run = addon.createRun(smallConfig({ restOfLayerBytes: 100_000_000 }))
    expect(process.memoryUsage.rss() - before).toBeGreaterThan(90_000_000)
    run.dispose()
  })
})

describe('rings', () => {
  it('stop the engine before a step that would not fit, and lose nothing', async () => {
    const config = smallConfig({ contextLens: new Array<number>(64).fill(5), layers: 16, qLen: 8, steps: 40 })
    const run = addon.createRun({ ...config, checkRows: 0 })
    await fillAll(run)
    const chunks = []
    let stops = 0
    for (;;) {
      const result = await run.advance(1000, Number.POSITIVE_INFINITY, 0)
      const drained = drainAll(run, 10_000)
      for (const chunk of drained) {
        const bytes = Object.values(chunk.columns).reduce((n, values) => n + values.byteLength, 0)
        expect(bytes).toBeLessThanOrEqual(10_000)
      }
      chunks.push(...drained)
      if (result.finished) break
      expect(result.ringsFull).toBe(true)
      stops += 1
    }
    expect(stops).toBeGreaterThan(0)
    expect(run.dropped()).toBe(0)
    expect(column(chunks, 'steps', -1, 'step')).toEqual([...Array(config.steps).keys()])
    expect(column(chunks, 'rows', 1, 'step')).toHaveLength(config.steps * 16 * 64 * 8)
    run.dispose()
  })

  it('make no progress and drop nothing while nobody drains', async () => {
    const config = smallConfig({ contextLens: new Array<number>(64).fill(5), layers: 16, qLen: 8, steps: 40 })
    const run = addon.createRun({ ...config, checkRows: 0 })
    await fillAll(run)
    const full = await run.advance(1000, Number.POSITIVE_INFINITY, 0)
    expect(full.ringsFull).toBe(true)
    expect(await run.advance(1000, 1000, 0)).toEqual({ ...full })
    expect(run.dropped()).toBe(0)
    run.dispose()
  })

  it('record a wait between steps as a span of its length on every rank', async () => {
    const config = smallConfig()
    const run = addon.createRun(config)
    await fillAll(run)
    await run.advance(1, 1000, 0)
    await run.advance(1, 1000, 12_345)
    const chunks = drainAll(run)
    for (let rank = 0; rank < config.ranks; rank++) {
      const stalls = rowsOf(chunks, 'spans', rank).filter((row) => row.stage === span('stall'))
      expect(stalls).toMatchObject([{ step: 1, layer: -1, dur_ns: 12_345 }])
    }
    run.dispose()
  })

  it('say how long a step takes until all ranks have begun their first layer', async () => {
    const run = await finish(smallConfig({ contextLens: [40], steps: 3 }))
    const metadata = rowsOf(run.chunks, 'spans', 0).filter((row) => row.stage === span('metadata'))
    const steps = rowsOf(run.chunks, 'steps', -1)
    expect(steps).toHaveLength(3)
    for (const { step, once_ns, wall_ns } of steps) {
      const own = metadata.find((row) => row.step === step)
      expect(once_ns).toBeGreaterThanOrEqual(Number(own?.dur_ns))
      expect(once_ns).toBeLessThan(Number(wall_ns))
    }
  })

  it('carry the columns of app/trace', async () => {
    const run = await finish(smallConfig({ contextLens: [0], emptyRow: 'nan' }))
    const left: Record<string, readonly string[]> = {
      spans: ['provenance'],
      steps: ['provenance', 'tokens_per_s'],
      events: ['severity', 'message', 'detail'],
    }
    for (const table of ['spans', 'rows', 'pages', 'steps', 'events'] as const) {
      const names = TABLES[table].columns.map((c) => c.name).filter((name) => !left[table]?.includes(name))
      const more = table === 'events' ? ['row', 'value', 'limit'] : table === 'steps' ? ['once_ns'] : []
      const chunk = run.chunks.find((c) => c.table === table)
      expect(Object.keys(chunk?.columns ?? {})).toEqual([...names, ...more])
    }
  })
})

describe('progress', () => {
  it('counts traced steps only, stops where asked, and grows the context by what is accepted', async () => {
    const config = smallConfig({ qLen: 3, acceptedPerStep: 2, steps: 5, warmup: 4, contextLens: [7] })
    const run = addon.createRun(config)
    await fillAll(run)
    expect(await run.advance(0, 1000, 0)).toEqual({ stepsDone: 0, finished: false, ringsFull: false })
    expect(await run.advance(2, 1000, 0)).toEqual({ stepsDone: 2, finished: false, ringsFull: false })
    expect(await run.advance(99, 1000, 0)).toEqual({ stepsDone: 5, finished: true, ringsFull: false })
    expect(await run.advance(99, 1000, 0)).toEqual({ stepsDone: 5, finished: true, ringsFull: false })
    const chunks = drainAll(run)
    expect(column(chunks, 'rows', 0, 'global_len').filter((_, i) => i % 6 === 0)).toEqual([
      10, 12, 14, 16, 18,
    ])
    expect(column(chunks, 'steps', -1, 'tokens')).toEqual([2, 2, 2, 2, 2])
    run.dispose()
  })
})
