import { describe, expect, it } from 'vitest'
import { localLength } from '../../../app/dcp/ownership.ts'
import { vectorError } from '../../../app/lse/error.ts'
import { at } from '../engine.ts'
import { capturedConfig, EXACT, faultOf, observe } from './observe.ts'

/** Faults of lengths and of the bounds of query rows. */

const config = capturedConfig()
const sharding = { dcp: 2, interleave: 1 }
/** Lengths of all requests in the last step. */
const lengths = config.contextLens.map((length) => length + config.steps)
/** The request of 43 tokens, its query row. */
const longest = 5

describe('length-views-swapped', () => {
  it('hands the global length to the kernel, which reads beyond the keys of the rank', async () => {
    const run = await observe(config, faultOf('length-views-swapped', { ranks: [1] }))
    expect([...run.values(1, 'seq_lens_local')]).toEqual(lengths)
    expect([...run.values(1, 'seq_lens_global')]).toEqual(lengths)
    expect([...run.values(0, 'seq_lens_local')]).toEqual(lengths.map((l) => localLength(l, 0, sharding)))
    // More keys, more mass: the lse of the faulty rank grows, and the result is wrong.
    const healthy = await observe(config)
    expect(run.lse(1, longest, 0)).toBeGreaterThan(healthy.lse(1, longest, 0))
    expect(run.error(longest, 0)).toBeGreaterThan(0.01)
  })

  it('hands the local length to a kernel that takes its part of it once more', async () => {
    const run = await observe(config, faultOf('length-views-swapped', { variant: 1 }))
    for (const rank of [0, 1]) {
      const local = lengths.map((l) => localLength(l, rank, sharding))
      expect([...run.values(rank, 'seq_lens_global')]).toEqual(local)
      expect([...run.values(rank, 'seq_lens_local')]).toEqual(
        local.map((l) => localLength(l, rank, sharding)),
      )
    }
    expect(run.error(longest, 0)).toBeGreaterThan(0.01)
  })
})

describe('interleave-mismatch', () => {
  const paged = { ...config, interleave: 4 }

  it('of lengths gives those of the other interleave', async () => {
    const run = await observe(paged, faultOf('interleave-mismatch', { amount: 1 }))
    for (const rank of [0, 1])
      expect([...run.values(rank, 'seq_lens_local')]).toEqual(
        lengths.map((l) => localLength(l, rank, { dcp: 2, interleave: 1 })),
      )
    expect(run.worst()).toBeGreaterThan(1e-3)
  })

  it('of the cache lets new tokens go to the ranks of the other interleave', async () => {
    const contextLens = [5, 13, 40, 46]
    const run = await observe(
      { ...paged, contextLens },
      faultOf('interleave-mismatch', { variant: 1, amount: 1 }),
    )
    const lengths = contextLens.map((length) => length + config.steps)
    for (const rank of [0, 1])
      run.values(rank, 'slot_mapping').forEach((slot, t) => {
        expect(slot >= 0).toBe((at(lengths, t) - 1) % 2 === rank)
      })
    // All tokens are there, but lengths of other counts leave some out where the remainders differ.
    expect(run.worst()).toBeGreaterThan(1e-3)
    const balanced = lengths.flatMap((l, t) => (l % 8 === 0 ? [t] : []))
    expect(balanced.length).toBeGreaterThan(0)
    for (const t of balanced) expect(run.error(t, 0)).toBeLessThan(EXACT)
  })
})

describe('coverage-overlap', () => {
  it('stores and counts the newest token on a rank that does not own it', async () => {
    const run = await observe(config, faultOf('coverage-overlap'))
    const wrong = lengths.flatMap((length, t) => {
      const held = [0, 1].map((rank) => at(run.values(rank, 'seq_lens_local'), t))
      const stored = [0, 1].map((rank) => at(run.values(rank, 'slot_mapping'), t) >= 0)
      const twice = stored.every(Boolean)
      expect(held.reduce((sum, l) => sum + l)).toBe(length + (twice ? 1 : 0))
      return twice ? [t] : []
    })
    expect(wrong.length).toBeGreaterThan(2)
    for (const [t, h] of run.rows())
      if (wrong.includes(t) && at(lengths, t) > 1) expect(run.error(t, h)).toBeGreaterThan(EXACT)
      else expect(run.error(t, h)).toBeLessThan(EXACT)
  })
})

describe('causal-end-aligned', () => {
  const verify = capturedConfig({ qLen: 4, acceptedPerStep: 4 })

  it('hides keys from the rows before the last, and from no other', async () => {
    const run = await observe(verify, faultOf('causal-end-aligned'))
    const healthy = await observe(verify)
    for (const [t, h] of run.rows()) {
      if (t % 4 === 3) expect(run.error(t, h)).toBeLessThan(EXACT)
      for (const rank of [0, 1]) expect(run.lse(rank, t, h)).toBeLessThanOrEqual(healthy.lse(rank, t, h))
    }
    const first = longest * 4
    expect(run.error(first, 0)).toBeGreaterThan(1e-3)
  })

  it('shows the newest keys to all rows where there is no bound', async () => {
    const run = await observe(verify, faultOf('causal-end-aligned', { variant: 1 }))
    const healthy = await observe(verify)
    for (const [t, h] of run.rows()) {
      if (t % 4 === 3) expect(run.error(t, h)).toBeLessThan(EXACT)
      else expect(run.error(t, h)).toBeGreaterThan(EXACT)
      for (const rank of [0, 1]) expect(run.lse(rank, t, h)).toBeGreaterThanOrEqual(healthy.lse(rank, t, h))
    }
  })
})

describe('coverage-gap of a rank', () => {
  it('neutralises rows that have keys', async () => {
    const run = await observe(config, faultOf('coverage-gap', { ranks: [1], variant: 1 }))
    for (const [t, h] of run.rows()) {
      expect(run.lse(1, t, h)).toBe(Number.NEGATIVE_INFINITY)
      expect(run.out(1, t, h).every((value) => value === 0)).toBe(true)
      // What is left is rank 0 alone.
      expect(vectorError(run.merged(t, h), run.out(0, t, h)).relative).toBeLessThan(EXACT)
    }
    expect(run.lse(1, longest, 0, {}, 'lse_kernel')).toBeGreaterThan(Number.NEGATIVE_INFINITY)
    expect(at(run.values(1, 'seq_lens_local'), longest)).toBe(21)
  })
})
