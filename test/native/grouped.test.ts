import { describe, expect, it } from 'vitest'
import { owner } from '../../app/dcp/ownership.ts'
import { visibleTokens } from '../../app/dcp/visible.ts'
import { vectorError } from '../../app/lse/error.ts'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { at, captureOf, finish, smallConfig, tensorOf, valuesOf } from './engine.ts'
import { attend, keysOf } from './recompute.ts'

const STEP = 1
const grouped = (over: Partial<EngineConfig>): EngineConfig =>
  smallConfig({
    heads: 8,
    kvHeads: 2,
    headDim: 32,
    contextLens: [0, 3, 40],
    captureSteps: [STEP],
    captureLayers: [1],
    steps: STEP + 1,
    ...over,
  })

const CASES: readonly Partial<EngineConfig>[] = [
  { ranks: 2 },
  { ranks: 4, kvHeads: 1, qLen: 3, acceptedPerStep: 2, interleave: 2, comm: 'a2a', needles: true },
  { ranks: 4, kvHeads: 4, qLen: 2, acceptedPerStep: 2, comm: 'p2p', lseBase: '2', emptyRow: 'unwritten' },
  // Multi-head attention.
  { ranks: 2, kvHeads: 8, headDim: 16, shuffledPages: true },
  {
    ranks: 2,
    kvDtype: 'bf16',
    headDim: 128,
    qLen: 2,
    acceptedPerStep: 1,
    paddedHeads: 64,
    lseLayout: '[H,T]',
  },
  { ranks: 4, kvDtype: 'fp8', headDim: 64, kvHeads: 2, comm: 'a2a', needles: true },
  { ranks: 1, kvHeads: 2, qLen: 2, acceptedPerStep: 2 },
]

describe('grouped-query attention over the captured pages, computed again in plain doubles', () => {
  for (const over of CASES) {
    const config = grouped(over)
    const [partial, merged] = config.kvDtype === 'fp32' ? [1e-5, 1e-5] : [5e-3, 1e-2]
    const name = `${config.kvHeads} KV heads of ${config.headDim}, dcp ${config.ranks}, q_len ${config.qLen}, ${config.kvDtype}`

    it(`gives partials, merged rows and the engine's own reference (${name})`, async () => {
      const run = await finish(config)
      const sharding = { dcp: config.ranks, interleave: config.interleave }
      const { heads, headDim: width } = config
      const perRank = heads / config.ranks
      const row = (name: string, rank: number, flat: number): Float64Array =>
        valuesOf(captureOf(run, rank), name).subarray(flat * width, (flat + 1) * width)
      config.contextLens.forEach((context, request) => {
        const len = context + STEP * config.acceptedPerStep + config.qLen
        for (let head = 0; head < heads; head++) {
          const kvHead = Math.floor(head / (heads / config.kvHeads))
          const keys = keysOf(run, config, request, len, { of: 'kv_k', kvHead })
          const values = keysOf(run, config, request, len, { of: 'kv_v', kvHead })
          for (let q = 0; q < config.qLen; q++) {
            const token = request * config.qLen + q
            const flat = token * heads + head
            const query = row('q', 0, flat)
            const seen = [...Array(visibleTokens(len, config.qLen, q)).keys()]
            const over = (tokens: readonly number[]) =>
              attend(
                query,
                tokens.map((t) => keys[t] ?? new Float64Array()),
                config,
                tokens.map((t) => values[t] ?? new Float64Array()),
              )
            for (let rank = 0; rank < config.ranks; rank++) {
              const own = over(seen.filter((t) => owner(t, sharding) === rank))
              expect(vectorError(row('out', rank, flat), own.out).relative).toBeLessThan(partial)
            }
            const whole = over(seen)
            const kept = row('merged', Math.floor(head / perRank), token * perRank + (head % perRank))
            expect(vectorError(kept, whole.out).relative).toBeLessThan(merged)
            expect(vectorError(row('out', -1, flat), whole.out).relative).toBeLessThan(1e-12)
            const lse = at(valuesOf(captureOf(run, -1), 'lse'), flat)
            expect(lse * (config.lseBase === '2' ? Math.LN2 : 1)).toBeCloseTo(whole.lse, 10)
          }
        }
      })
    })
  }

  it('keeps keys and values of each KV head apart, all of them different', async () => {
    const config = grouped({ kvHeads: 4 })
    const run = await finish(config)
    const capture = captureOf(run, 0)
    expect(capture.tensors.some(({ name }) => name === 'kv')).toBe(false)
    for (const name of ['kv_k', 'kv_v'])
      expect(tensorOf(capture, name).shape.slice(1)).toEqual([config.pageSize, 4, 32])
    const rows = (['kv_k', 'kv_v'] as const).flatMap((of) =>
      [0, 1, 2, 3].map((kvHead) => keysOf(run, config, 2, 40, { of, kvHead })[7]?.join()),
    )
    expect(new Set(rows).size).toBe(8)
  })

  it('is split into ranges of keys where contexts are long', async () => {
    const config = grouped({ kvHeads: 2, contextLens: [5000], ranks: 1, captureSteps: [], pageSize: 64 })
    const { chunks } = await finish(config)
    const stages = chunks
      .filter((c) => c.table === 'spans')
      .flatMap((c) => Array.from(c.columns.stage ?? [], Number))
    expect(stages).toContain(4)
    const errors = chunks
      .filter((c) => c.table === 'steps')
      .flatMap((c) => Array.from(c.columns.max_rel_err ?? [], Number))
    expect(Math.max(...errors)).toBeLessThan(1e-5)
  })
})
