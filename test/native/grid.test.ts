import { describe, expect, it } from 'vitest'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { EVENT_KINDS } from '../../app/trace/stages.ts'
import { addon, column, finish, smallConfig, worst } from './engine.ts'

const NAN_IN_MERGED = EVENT_KINDS.indexOf('nan_in_merged')

const errors = async (
  config: EngineConfig,
): Promise<{ relative: number; checked: number; dropped: number }> => {
  const run = await finish(config)
  const pairs = config.layers * config.contextLens.length * config.qLen * config.heads
  const checked = column(run.chunks, 'steps', -1, 'checked_rows')
  expect(checked).toEqual(new Array<number>(config.steps).fill(pairs))
  expect(column(run.chunks, 'events', -1, 'kind')).not.toContain(NAN_IN_MERGED)
  return {
    relative: worst(column(run.chunks, 'steps', -1, 'max_rel_err')),
    checked: checked.length,
    dropped: run.dropped,
  }
}

const RANKS = [1, 2, 3, 4, 5, 8, 16]
/** Of one key, of fewer and of more than the contexts have, and about a tile. */
const TOPK = [1, 2, 5, 17, 64, 100]
const EMPTY_ROWS = ['neutral', 'unwritten', 'plusInf', 'nan'] as const
const PAGINGS = [
  { pageSize: 1, interleave: 1 },
  { pageSize: 8, interleave: 1 },
  { pageSize: 8, interleave: 4 },
  { pageSize: 16, interleave: 16 },
  { pageSize: 12, interleave: 3 },
]
const HEADS = [1, 3, 4, 16]

/** Contexts around the borders of a page, of a cycle and of a virtual page, short ones, and none. */
const contexts = (ranks: number, pageSize: number, interleave: number): number[] =>
  [...new Set([0, 1, interleave, pageSize, ranks * interleave, ranks * pageSize])]
    .flatMap((n) => [n - 1, n, n + 1])
    .filter((n, i, all) => n >= 0 && all.indexOf(n) === i)

/** Every field takes each of its values many times, in combinations that the counter spreads. */
const grid = (kvDtype: EngineConfig['kvDtype']): EngineConfig[] =>
  RANKS.flatMap((ranks, r) =>
    PAGINGS.flatMap(({ pageSize, interleave }, p) =>
      [1, 2, 5, 8].map((qLen, q) => {
        const n = r * 7 + p * 5 + q * 3
        return smallConfig({
          ranks,
          heads: Math.min(HEADS[n % HEADS.length] ?? 1, Math.floor(128 / ranks)) * ranks,
          pageSize,
          interleave,
          qLen,
          acceptedPerStep: 1 + (n % qLen),
          kvDtype,
          contextLens: contexts(ranks, pageSize, interleave),
          comm: n % 2 === 0 ? 'ag_rs' : 'a2a',
          wireFp32: n % 3 === 0,
          replicateQ: n % 5 === 0,
          lseBase: n % 4 < 2 ? 'e' : '2',
          emptyRow: EMPTY_ROWS[n % EMPTY_ROWS.length] ?? 'neutral',
          shuffledPages: n % 3 === 1,
          needles: n % 7 === 0,
          ropeDim: kvDtype === 'fp8_ds_mla' ? 64 : n % 6 === 0 ? 0 : 16,
          kvLoraRank: kvDtype === 'fp8_ds_mla' ? 512 : n % 5 === 2 ? 48 : 32,
          seed: n,
        })
      }),
    ),
  )

describe('merged output against the fp64 reference, every row and head', () => {
  for (const [kvDtype, limit] of [
    ['fp32', 1e-5],
    ['bf16', 1e-2],
  ] as const)
    it(`stays within ${limit} with a ${kvDtype} cache over shapes, transports, bases and empty rows`, async () => {
      for (const config of grid(kvDtype)) {
        const { relative, dropped } = await errors(config)
        expect(relative, JSON.stringify(config)).toBeLessThan(limit)
        expect(dropped).toBe(0)
      }
    }, 120_000)

  for (const [kvDtype, take] of [
    ['fp8', 1],
    // Rows of this format have their one width, so that all of the grid would take minutes.
    ['fp8_ds_mla', 6],
  ] as const)
    it(`stays within 0.01 with a ${kvDtype} cache, against the values that the kernel uses`, async () => {
      for (const config of grid(kvDtype).filter((_, i) => i % take === 0)) {
        const { relative, dropped } = await errors(config)
        expect(relative, JSON.stringify(config)).toBeLessThan(1e-2)
        expect(dropped).toBe(0)
      }
    }, 120_000)

  for (const kvDtype of ['fp32', 'bf16', 'fp8', 'fp8_ds_mla'] as const)
    it(`stays within the same limits when each query token chooses its keys (${kvDtype})`, async () => {
      const configs = grid(kvDtype).filter((_, i) => i % (kvDtype === 'fp8_ds_mla' ? 11 : 2) === 0)
      for (const [i, config] of configs.entries()) {
        const sparse = { ...config, topk: TOPK[i % TOPK.length] ?? 1 }
        const { relative, dropped } = await errors(sparse)
        expect(relative, JSON.stringify(sparse)).toBeLessThan(kvDtype === 'fp32' ? 1e-5 : 1e-2)
        expect(dropped).toBe(0)
      }
    }, 120_000)

  it('stays within 1e-2 on 64 ranks that sum in bf16', async () => {
    for (const needles of [false, true])
      for (const comm of ['ag_rs', 'a2a', 'p2p'] as const) {
        const config = smallConfig({
          ranks: 64,
          heads: 64,
          kvDtype: 'bf16',
          contextLens: [5, 1000],
          comm,
          needles,
        })
        expect((await errors({ ...config, kvLoraRank: 512, ropeDim: 64, steps: 1 })).relative).toBeLessThan(
          1e-2,
        )
      }
  }, 60_000)

  it('holds where keys of one request are split into several ranges', async () => {
    for (const [ranks, qLen] of [
      [1, 1],
      [1, 3],
      [2, 8],
    ] as const) {
      const config = smallConfig({ ranks, qLen, contextLens: [0, 5000, 9000], pageSize: 64, steps: 2 })
      const run = await finish({ ...config, acceptedPerStep: qLen })
      expect(column(run.chunks, 'spans', 0, 'stage')).toContain(4)
      expect(worst(column(run.chunks, 'steps', -1, 'max_rel_err'))).toBeLessThan(1e-5)
    }
  }, 60_000)

  it('holds for the shapes of real models', async () => {
    for (const heads of [16, 128])
      for (const kvDtype of ['fp32', 'bf16'] as const) {
        const config = smallConfig({
          ranks: 4,
          heads,
          kvLoraRank: 512,
          ropeDim: 64,
          kvDtype,
          layers: 1,
          steps: 1,
        })
        const real = {
          ...config,
          softmaxScale: 0.1352,
          contextLens: [777],
          pageSize: 64,
          qLen: 2,
          needles: true,
        }
        expect((await errors(real)).relative).toBeLessThan(kvDtype === 'bf16' ? 1e-2 : 1e-5)
      }
  }, 60_000)
})

describe('instruction sets', () => {
  it('names the one in use', () => {
    expect(['avx512_bf16', 'avx512', 'avx2', 'neon', 'generic']).toContain(addon.cpu().simd)
  })
})
