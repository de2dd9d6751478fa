import { describe, expect, it } from 'vitest'
import { vectorError } from '../../../app/lse/error.ts'
import { at } from '../engine.ts'
import { capturedConfig, EXACT, faultOf, observe } from './observe.ts'

/** Faults of chosen keys, of rows of the cache and of splits. */

describe('topk-not-localised', () => {
  const config = capturedConfig({ topk: 8 })

  it('takes every id for a local one', async () => {
    const run = await observe(config, faultOf('topk-not-localised'))
    for (const rank of [0, 1]) expect(run.values(rank, 'topk_local')).toEqual(run.values(rank, 'topk'))
    const outside = [...run.values(0, 'topk_local')].filter(
      (id, i) => id >= at(run.values(0, 'seq_lens_local'), Math.floor(i / 8)),
    )
    expect(outside.length).toBeGreaterThan(0)
    expect(run.worst()).toBeGreaterThan(0.01)
  })

  it('is no fault of a healthy run, whose local ids are below the local lengths', async () => {
    const run = await observe(config)
    for (const rank of [0, 1])
      run.values(rank, 'topk_local').forEach((id, i) => {
        expect(id).toBeLessThan(at(run.values(rank, 'seq_lens_local'), Math.floor(i / 8)))
        expect(id >= 0).toBe(at(run.values(rank, 'topk_slots'), i) >= 0)
      })
    expect(run.worst()).toBeLessThan(EXACT)
  })
})

describe('topk-sentinel-owned', () => {
  // Requests of few tokens have entries for none.
  const config = capturedConfig({ topk: 8, contextLens: [0, 1, 2, 40], emptyRow: 'unwritten' })

  it('sends -1 to the last place of the last page on the last rank alone', async () => {
    const run = await observe(config, faultOf('topk-sentinel-owned'))
    const ids = run.values(1, 'topk')
    const table = run.values(1, 'block_table')
    const columns = table.length / 4
    ids.forEach((id, i) => {
      const request = Math.floor(i / 8)
      const pages = [...table.subarray(request * columns, (request + 1) * columns)].filter((p) => p >= 0)
      const slot = at(run.values(1, 'topk_slots'), i)
      if (id < 0) expect(slot).toBe(at(pages, pages.length - 1) * 8 + 7)
      if (id < 0) expect(at(run.values(0, 'topk_slots'), i)).toBe(-1)
    })
    expect(run.error(1, 0)).toBeGreaterThan(1e-3)
    expect(run.error(3, 0)).toBeLessThan(EXACT)
  })

  it('lets rows without keys pass for rows with some where it is only counted', async () => {
    const short = { ...config, steps: 1, captureSteps: [0] }
    const run = await observe(short, faultOf('topk-sentinel-owned', { variant: 1 }))
    const healthy = await observe(short)
    // One token, on rank 0: rank 1 has no key and what its kernel left is not neutralised.
    expect(healthy.lse(1, 0, 0)).toBe(Number.NEGATIVE_INFINITY)
    expect(run.lse(1, 0, 0)).toBe(64)
    expect(run.out(1, 0, 0).every((value) => value === 4096)).toBe(true)
    expect(run.error(0, 0)).toBeGreaterThan(1)
    expect(run.values(1, 'topk_slots')).toEqual(healthy.values(1, 'topk_slots'))
  })
})

describe('kv-layout-mismatch', () => {
  it.each(['fp8', 'fp8_ds_mla'] as const)(
    'reads %s from the second token on from wrong bytes',
    async (kvDtype) => {
      const config = capturedConfig({
        kvDtype,
        kvLoraRank: 512,
        ropeDim: 64,
        contextLens: [1, 40],
        softmaxScale: 0.04,
        steps: 2,
        layers: 1,
      })
      const run = await observe(config, faultOf('kv-layout-mismatch'))
      // Each rank has one token of the first request, at the very front of its pool.
      expect(run.error(0, 0, { step: 0 })).toBeLessThan(0.05)
      const wrong = run.error(1, 0)
      expect(Number.isNaN(wrong) || wrong > 0.3).toBe(true)
    },
  )
})

describe('split-counter-undersized', () => {
  it('combines one split only of rows behind the counters', async () => {
    const config = capturedConfig({ contextLens: [4000], layers: 1, heads: 4, steps: 1 })
    const run = await observe(config, faultOf('split-counter-undersized'))
    const healthy = await observe(config)
    for (const rank of [0, 1]) {
      for (const h of [0, 1]) expect(run.lse(rank, 0, h)).toBe(healthy.lse(rank, 0, h))
      for (const h of [2, 3]) expect(run.lse(rank, 0, h)).toBeLessThan(healthy.lse(rank, 0, h) - 0.1)
    }
    expect(vectorError(run.merged(0, 0), run.out(-1, 0, 0)).relative).toBeLessThan(EXACT)
    expect(run.error(0, 3)).toBeGreaterThan(0.1)
  })
})
