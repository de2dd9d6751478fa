import { describe, expect, it } from 'vitest'
import { localLength } from '../../app/dcp/ownership.ts'
import { visibleKeys } from '../../app/dcp/visible.ts'
import { EVENT_KINDS } from '../../app/trace/stages.ts'
import { at, captureOf, column, finish, rowsOf, smallConfig, valuesOf } from './engine.ts'

describe('rows', () => {
  it('are left out without row statistics, which changes no result', async () => {
    const config = smallConfig({ emptyRow: 'nan', captureSteps: [2], captureLayers: [0] })
    const [full, bare] = [await finish(config), await finish({ ...config, rowStats: false })]
    expect(rowsOf(bare.chunks, 'rows', 0)).toEqual([])
    expect(rowsOf(bare.chunks, 'spans', 0).length).toBe(rowsOf(full.chunks, 'spans', 0).length)
    for (const rank of [0, 1])
      for (const name of ['out', 'lse', 'merged'])
        expect(valuesOf(captureOf(bare, rank), name)).toEqual(valuesOf(captureOf(full, rank), name))
  })

  it('say for every query row what the rank holds and what the kernel returned', async () => {
    const config = smallConfig({
      ranks: 4,
      qLen: 3,
      interleave: 2,
      emptyRow: 'nan',
      captureSteps: [2],
      captureLayers: [1],
    })
    const run = await finish(config)
    for (let rank = 0; rank < config.ranks; rank++) {
      const capture = captureOf(run, rank)
      const [out, lse] = [valuesOf(capture, 'out_kernel'), valuesOf(capture, 'lse_kernel')]
      const rows = rowsOf(run.chunks, 'rows', rank).filter((row) => row.step === 2 && row.layer === 1)
      expect(rows.length).toBe(config.contextLens.length * config.qLen)
      rows.forEach((row, token) => {
        const len = at(config.contextLens, row.request ?? -1) + 2 + config.qLen
        const sharding = { dcp: 4, interleave: 2 }
        const visible = visibleKeys(len, config.qLen, row.q_index ?? -1, rank, sharding)
        const perRow = config.heads * config.kvLoraRank
        const values = out.subarray(token * perRow, (token + 1) * perRow)
        const heads = lse.subarray(token * config.heads, (token + 1) * config.heads)
        expect(row).toMatchObject({
          global_len: len,
          local_len: localLength(len, rank, sharding),
          visible_keys: visible,
          empty: visible === 0 ? 1 : 0,
          out_nan: values.filter(Number.isNaN).length,
          out_inf: 0,
          lse_nan: 0,
          lse_min: Math.min(...heads),
          lse_max: Math.max(...heads),
        })
        const finite = values.filter((v) => !Number.isNaN(v))
        expect(row.out_absmax).toBe(finite.reduce((m, v) => Math.max(m, Math.abs(v)), 0))
      })
    }
  })
})

describe('events', () => {
  const kinds = (run: Awaited<ReturnType<typeof finish>>): string[] =>
    column(run.chunks, 'events', -1, 'kind').map((code) => EVENT_KINDS[code] ?? 'unknown')

  it('note an empty shard when it changes, once a rank, not in every step', async () => {
    const run = await finish(smallConfig({ ranks: 4, contextLens: [1, 1, 100], steps: 20 }))
    const events = rowsOf(run.chunks, 'events', -1)
    expect(kinds(run)).toEqual(['empty_rank', 'empty_rank'])
    expect(events.map((row) => [row.step, row.rank, row.request, row.value, row.limit])).toEqual([
      [0, 2, 0, 2, 3],
      [0, 3, 0, 2, 3],
    ])
  })

  it('sum NaN in partials up to one event a step', async () => {
    const run = await finish(smallConfig({ ranks: 4, contextLens: [0, 0], emptyRow: 'nan', steps: 1 }))
    const nan = rowsOf(run.chunks, 'events', -1).filter((row) => row.kind === 0)
    expect(nan).toHaveLength(1)
    expect(nan[0]).toMatchObject({
      step: 0,
      layer: 0,
      rank: 1,
      request: 0,
      row: 0,
      value: 3 * 2 * 2 * 4 * 32,
    })
  })
})
