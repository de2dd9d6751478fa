import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { EVENT_KINDS } from '../../app/trace/stages.ts'
import { column, finish, smallConfig, worst } from './engine.ts'

const KV_TYPES = ['fp32', 'bf16', 'fp8', 'fp8_ds_mla'] as const

/** Small runs of any shape; fast-check prints the one that fails, shrunk, and the seed that finds it again. */
const configs: fc.Arbitrary<EngineConfig> = fc
  .record({
    ranks: fc.integer({ min: 1, max: 16 }),
    headsPerRank: fc.integer({ min: 1, max: 4 }),
    interleave: fc.integer({ min: 1, max: 16 }),
    cycles: fc.integer({ min: 1, max: 5 }),
    qLen: fc.integer({ min: 1, max: 8 }),
    accepted: fc.nat(),
    kvDtype: fc.constantFrom(...KV_TYPES),
    contextLens: fc.array(fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 400 })), {
      minLength: 1,
      maxLength: 3,
    }),
    topk: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 500 })),
    comm: fc.constantFrom('ag_rs', 'a2a'),
    wireFp32: fc.boolean(),
    replicateQ: fc.boolean(),
    shuffledPages: fc.boolean(),
    needles: fc.boolean(),
    lseBase: fc.constantFrom('e', '2'),
    emptyRow: fc.constantFrom('neutral', 'unwritten', 'plusInf', 'nan'),
    seed: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  })
  .map(({ headsPerRank, cycles, accepted, ...c }) =>
    smallConfig({
      ...c,
      heads: c.ranks * headsPerRank,
      pageSize: c.interleave * cycles,
      acceptedPerStep: 1 + (accepted % c.qLen),
      kvLoraRank: c.kvDtype === 'fp8_ds_mla' ? 512 : 32,
      ropeDim: c.kvDtype === 'fp8_ds_mla' ? 64 : 16,
      layers: 1,
      steps: 2,
    }),
  )

describe('runs of random shape', () => {
  it('agree with the reference in every row and head, without a NaN', async () => {
    await fc.assert(
      fc.asyncProperty(configs, async (config) => {
        const run = await finish(config)
        const limit = config.kvDtype === 'fp32' ? 1e-5 : 1e-2
        expect(worst(column(run.chunks, 'steps', -1, 'max_rel_err'))).toBeLessThan(limit)
        const checked = config.contextLens.length * config.qLen * config.heads
        expect(column(run.chunks, 'steps', -1, 'checked_rows')).toEqual([checked, checked])
        expect(column(run.chunks, 'events', -1, 'kind')).not.toContain(EVENT_KINDS.indexOf('nan_in_merged'))
        expect(run.dropped).toBe(0)
      }),
      { numRuns: 150 },
    )
  }, 120_000)
})
