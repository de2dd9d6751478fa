import { describe, expect, it } from 'vitest'
import { localIndex, owner } from '../../app/dcp/ownership.ts'
import { visibleTokens } from '../../app/dcp/visible.ts'
import { vectorError } from '../../app/lse/error.ts'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { at, captureOf, type Finished, finish, rowsOf, smallConfig, tensorOf, valuesOf } from './engine.ts'
import { attend, keysOf } from './recompute.ts'

const STEP = 1

const captured = (over: Partial<EngineConfig>): EngineConfig =>
  smallConfig({
    kvLoraRank: 512,
    ropeDim: 64,
    softmaxScale: 0.07,
    contextLens: [0, 3, 40],
    captureSteps: [STEP],
    captureLayers: [1],
    steps: STEP + 1,
    acceptedPerStep: over.qLen ?? 1,
    ...over,
  })

interface Row {
  readonly request: number
  readonly token: number
  /** Global positions that the query token attends to. */
  readonly positions: readonly number[]
}

/** The query tokens of a captured step, with the choice of each where attention is sparse. */
const rowsIn = (run: Finished, config: EngineConfig): Row[] =>
  config.contextLens.flatMap((context, request) =>
    Array.from({ length: config.qLen }, (_, q) => {
      const token = request * config.qLen + q
      const len = context + STEP * config.acceptedPerStep + config.qLen
      const visible = visibleTokens(len, config.qLen, q)
      if (config.topk === 0) return { request, token, positions: [...Array(visible).keys()] }
      const chosen = valuesOf(captureOf(run, 0), 'topk').subarray(
        token * config.topk,
        (token + 1) * config.topk,
      )
      return { request, token, positions: [...chosen].filter((id) => id >= 0) }
    }),
  )

const CASES: readonly Partial<EngineConfig>[] = [
  { kvDtype: 'fp8', ranks: 2 },
  { kvDtype: 'fp8', ranks: 4, heads: 8, qLen: 3, interleave: 4, comm: 'a2a', needles: true, lseBase: '2' },
  { kvDtype: 'fp8_ds_mla', ranks: 2 },
  { kvDtype: 'fp8_ds_mla', ranks: 4, heads: 4, qLen: 2, interleave: 2, comm: 'a2a', needles: true },
  { kvDtype: 'fp8_ds_mla', ranks: 2, topk: 16, qLen: 2, shuffledPages: true, needles: true },
  { kvDtype: 'fp8', ranks: 4, topk: 5, interleave: 8, lseBase: '2' },
  { kvDtype: 'bf16', ranks: 3, heads: 3, topk: 64, qLen: 2, interleave: 2, emptyRow: 'nan' },
  // One key a query token: all other ranks are empty.
  { kvDtype: 'bf16', ranks: 4, topk: 1, emptyRow: 'unwritten', comm: 'a2a' },
]

describe('partials and merged output over the captured pages, computed again in plain doubles', () => {
  for (const over of CASES) {
    const config = captured(over)
    const name = `${config.kvDtype}, dcp ${config.ranks}, q_len ${config.qLen}, topk ${config.topk}`

    it(`stay within 5e-3 a partial, 1e-4 an lse and 1e-2 merged (${name})`, async () => {
      const run = await finish(config)
      const sharding = { dcp: config.ranks, interleave: config.interleave }
      const V = config.kvLoraRank
      const D = V + config.ropeDim
      const base = config.lseBase === '2' ? Math.LN2 : 1
      const queries = valuesOf(captureOf(run, 0), 'q')
      const perRank = config.heads / config.ranks
      const ranks = Array.from({ length: config.ranks }, (_, rank) => ({
        out: valuesOf(captureOf(run, rank), 'out'),
        lse: valuesOf(captureOf(run, rank), 'lse'),
        merged: valuesOf(captureOf(run, rank), 'merged'),
      }))
      const reference = captureOf(run, -1)
      const [truthOut, truthLse] = [valuesOf(reference, 'out'), valuesOf(reference, 'lse')]
      for (const { request, token, positions } of rowsIn(run, config)) {
        const len = at(config.contextLens, request) + STEP * config.acceptedPerStep + config.qLen
        const keys = keysOf(run, config, request, len)
        const select = (chosen: readonly number[]): Float64Array[] =>
          chosen.map((t) => keys[t] ?? new Float64Array())
        for (let head = 0; head < config.heads; head++) {
          const flat = token * config.heads + head
          const query = queries.subarray(flat * D, (flat + 1) * D)
          ranks.forEach(({ out, lse }, rank) => {
            const own = attend(query, select(positions.filter((t) => owner(t, sharding) === rank)), config)
            const partial = out.subarray(flat * V, (flat + 1) * V)
            expect(vectorError(partial, own.out).relative).toBeLessThan(5e-3)
            if (Number.isFinite(own.lse)) expect(Math.abs(at(lse, flat) * base - own.lse)).toBeLessThan(1e-4)
            else expect(at(lse, flat)).toBe(Number.NEGATIVE_INFINITY)
          })
          const whole = attend(query, select(positions), config)
          const kept = ranks[Math.floor(head / perRank)]?.merged ?? new Float64Array()
          const row = (token * perRank + (head % perRank)) * V
          expect(vectorError(kept.subarray(row, row + V), whole.out).relative).toBeLessThan(1e-2)
          const engine = truthOut.subarray(flat * V, (flat + 1) * V)
          expect(vectorError(engine, whole.out).relative).toBeLessThan(1e-12)
          expect(at(truthLse, flat) * base).toBeCloseTo(whole.lse, 10)
        }
      }
    })
  }
})

describe('sparse attention', () => {
  const config = captured({
    ranks: 4,
    heads: 4,
    kvDtype: 'bf16',
    qLen: 2,
    interleave: 2,
    topk: 24,
    contextLens: [5, 300],
    shuffledPages: true,
  })
  const single = { qLen: 1, acceptedPerStep: 1 }

  it('gives every rank the same ids, distinct and visible, and -1 for what is missing', async () => {
    const run = await finish(config)
    const ids = valuesOf(captureOf(run, 0), 'topk')
    for (let rank = 1; rank < 4; rank++) expect(valuesOf(captureOf(run, rank), 'topk')).toEqual(ids)
    config.contextLens.forEach((context, request) => {
      for (let q = 0; q < config.qLen; q++) {
        const token = request * config.qLen + q
        const visible = visibleTokens(context + 2 + config.qLen, config.qLen, q)
        const chosen = [...ids.subarray(token * 24, (token + 1) * 24)].filter((id) => id !== -1)
        expect(new Set(chosen).size).toBe(Math.min(24, visible))
        expect(chosen.every((id) => id >= 0 && id < visible)).toBe(true)
      }
    })
  })

  it('turns owned ids into slots where they stand, all others into -1, and counts them in rows', async () => {
    const run = await finish(config)
    const sharding = { dcp: config.ranks, interleave: config.interleave }
    for (let rank = 0; rank < config.ranks; rank++) {
      const capture = captureOf(run, rank)
      const table = valuesOf(capture, 'block_table')
      const columns = table.length / config.contextLens.length
      const visible = rowsOf(run.chunks, 'rows', rank).filter((r) => r.step === STEP && r.layer === 1)
      const slots = valuesOf(capture, 'topk_slots')
      const expected = [...valuesOf(capture, 'topk')].map((id, i) => {
        if (id < 0 || owner(id, sharding) !== rank) return -1
        const local = localIndex(id, sharding)
        const request = Math.floor(i / 24 / config.qLen)
        const page = at(table, request * columns + Math.floor(local / config.pageSize))
        return page * config.pageSize + (local % config.pageSize)
      })
      expect([...slots]).toEqual(expected)
      expect(visible.map((r) => r.visible_keys)).toEqual(
        [0, 1, 2, 3].map(
          (token) => expected.slice(token * 24, (token + 1) * 24).filter((s) => s >= 0).length,
        ),
      )
    }
  })

  it('is what dense attention is when more keys may be chosen than there are', async () => {
    const dense = await finish({ ...config, topk: 0, kvDtype: 'fp32' })
    const sparse = await finish({ ...config, topk: 512, kvDtype: 'fp32' })
    for (let rank = 0; rank < config.ranks; rank++)
      expect(
        vectorError(valuesOf(captureOf(sparse, rank), 'merged'), valuesOf(captureOf(dense, rank), 'merged'))
          .relative,
      ).toBeLessThan(1e-6)
  })

  it('finds its needles', async () => {
    const lse = async (needles: boolean): Promise<number> => {
      const run = await finish({ ...config, contextLens: [4000], needles, ...single, ranks: 1, heads: 1 })
      return at(valuesOf(captureOf(run, 0), 'lse'), 0)
    }
    expect((await lse(true)) - (await lse(false))).toBeGreaterThan(2)
  })

  it('holds where the list of one token is split into several ranges', async () => {
    const long = { ...config, ...single, contextLens: [9000], topk: 5000, ranks: 2, captureSteps: [] }
    const run = await finish({ ...long, kvLoraRank: 32, ropeDim: 16, kvDtype: 'fp32' })
    for (const row of rowsOf(run.chunks, 'steps', -1)) expect(row.max_rel_err).toBeLessThan(1e-5)
    expect(rowsOf(run.chunks, 'spans', 0).map((row) => row.stage)).toContain(4)
  })
})

describe('captured pages of quantised caches', () => {
  it.each([
    ['fp8', 'F8_E4M3', 576],
    ['fp8_ds_mla', 'U8', 656],
  ] as const)('have the rows of %s as %s of %i', async (kvDtype, dtype, width) => {
    const run = await finish(captured({ kvDtype }))
    const kv = tensorOf(captureOf(run, 0), 'kv')
    expect(kv).toMatchObject({ dtype, shape: [kv.shape[0], 8, width] })
    expect(captureOf(run, 0).tensors.some((t) => t.name === 'kv_scale')).toBe(kvDtype === 'fp8')
  })

  it('keep exact values near: lse within 1e-2 of those of a bf16 cache', async () => {
    // Errors of single scores are larger; over many keys they cancel.
    const long = { contextLens: [4000], ranks: 1, heads: 1 }
    const exact = valuesOf(captureOf(await finish(captured({ ...long, kvDtype: 'bf16' })), -1), 'lse')
    for (const kvDtype of ['fp8', 'fp8_ds_mla'] as const) {
      const lse = valuesOf(captureOf(await finish(captured({ ...long, kvDtype })), -1), 'lse')
      const off = Math.max(...lse.map((value, i) => Math.abs(value - at(exact, i))))
      expect(off, kvDtype).toBeGreaterThan(0)
      expect(off, kvDtype).toBeLessThan(1e-2)
    }
  })
})
