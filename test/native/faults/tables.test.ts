import { describe, expect, it } from 'vitest'
import { localLength } from '../../../app/dcp/ownership.ts'
import { at, captureOf, tensorOf } from '../engine.ts'
import { capturedConfig, EXACT, faultOf, type Observed, observe } from './observe.ts'

/** Faults of slots and block tables. */

const P = 8
const config = capturedConfig({ steps: 6 })
const lengths = config.contextLens.map((length) => length + config.steps)
const longest = 5

const tableOf = (run: Observed, rank: number): number[][] => {
  const capture = captureOf(run.run, rank, config.steps - 1, 0)
  const columns = at(tensorOf(capture, 'block_table').shape, 1)
  const cells = [...run.values(rank, 'block_table')]
  return lengths.map((_, r) => cells.slice(r * columns, (r + 1) * columns))
}

describe('slot-map-ignores-dcp', () => {
  it('writes new tokens on every rank by their global positions', async () => {
    const run = await observe(config, faultOf('slot-map-ignores-dcp'))
    for (const rank of [0, 1])
      lengths.forEach((length, r) => {
        const column = Math.floor((length - 1) / P)
        const page = tableOf(run, rank)[r]?.[column] ?? -1
        const slot = at(run.values(rank, 'slot_mapping'), r)
        expect(slot % P).toBe((length - 1) % P)
        if (page >= 0) expect(Math.floor(slot / P)).toBe(page)
        else expect(Math.floor(slot / P)).toBe(0)
      })
    expect(run.error(longest, 0)).toBeGreaterThan(1e-3)
    // Several tokens were written to one row.
    const slots = [...run.values(0, 'slot_mapping')]
    expect(new Set(slots).size).toBeLessThan(slots.length)
  })
})

describe('page-table-not-local', () => {
  it('hands columns for the global length, whose keys the kernel reads', async () => {
    const run = await observe(config, faultOf('page-table-not-local', { ranks: [0] }))
    const healthy = await observe(config)
    tableOf(run, 0).forEach((row, r) => {
      expect(row.filter((page) => page >= 0)).toHaveLength(Math.ceil(at(lengths, r) / P))
    })
    expect([...run.values(0, 'seq_lens_local')]).toEqual(
      lengths.map((l) => localLength(l, 0, { dcp: 2, interleave: 1 })),
    )
    expect(tableOf(run, 1)).toEqual(tableOf(healthy, 1))
    expect(run.lse(0, longest, 0)).toBeGreaterThan(healthy.lse(0, longest, 0))
    expect(run.error(longest, 0)).toBeGreaterThan(0.01)
  })
})

describe('table-width-mismatch', () => {
  it('of a narrow buffer lets rows run into the next ones', async () => {
    const run = await observe(config, faultOf('table-width-mismatch'))
    const healthy = await observe(config)
    const needed = Math.ceil(Math.max(...lengths) / (P * 2))
    expect(tableOf(run, 0)[0]).toHaveLength(Math.ceil(needed / 2))
    expect(tableOf(healthy, 0)[0]).toHaveLength(needed)
    expect(run.error(longest, 0)).toBeGreaterThan(0.01)
  })

  it('of a reader that takes rows for wider finds the pages of other requests', async () => {
    const run = await observe(config, faultOf('table-width-mismatch', { variant: 1 }))
    const healthy = await observe(config)
    const needed = Math.ceil(Math.max(...lengths) / (P * 2))
    expect(tableOf(run, 0)[0]).toHaveLength(2 * needed)
    // The first row is right, the second is what is written of the third.
    expect(run.error(0, 0)).toBeLessThan(EXACT)
    expect(tableOf(run, 0)[1]?.[0]).toBe(tableOf(healthy, 0)[2]?.[0])
    expect(run.error(1, 0)).toBeGreaterThan(0.01)
  })
})

describe('stale-graph-metadata', () => {
  const last = config.steps - 1
  const local = (length: number, rank: number) => localLength(length, rank, { dcp: 2, interleave: 1 })

  it('keeps the local lengths of the step before on all ranks', async () => {
    const run = await observe(config, faultOf('stale-graph-metadata', { steps: [last] }))
    for (const rank of [0, 1])
      expect([...run.values(rank, 'seq_lens_local')]).toEqual(lengths.map((l) => local(l - 1, rank)))
    expect([...run.values(0, 'seq_lens_global')]).toEqual(lengths)
    expect(run.worst({ step: last - 1 })).toBeLessThan(EXACT)
    expect(run.error(longest, 0)).toBeGreaterThan(1e-3)
  })

  it('keeps those that the graph was captured with where no step refreshed them', async () => {
    const run = await observe(config, faultOf('stale-graph-metadata', { variant: 1 }))
    for (const rank of [0, 1])
      for (const step of [0, last])
        expect([...run.values(rank, 'seq_lens_local', { step })]).toEqual(lengths.map(() => local(1, rank)))
  })

  it('of pages alone misses those that a step added', async () => {
    // The longest request takes a new page when it has 48 tokens and more.
    const grown = capturedConfig({ steps: 9 })
    const run = await observe(grown, faultOf('stale-graph-metadata', { variant: 2, steps: [7, 8] }))
    expect(at(run.values(0, 'seq_lens_local'), longest)).toBe(local(49, 0))
    const rowOf = (step: number) => {
      const columns = at(tensorOf(captureOf(run.run, 0, step, 0), 'block_table').shape, 1)
      return [...run.values(0, 'block_table', { step })].slice(longest * columns)
    }
    expect(rowOf(8).slice(0, 3)).toEqual(rowOf(6).slice(0, 3))
    expect(run.error(longest, 0, { step: 6 })).toBeLessThan(EXACT)
    expect(run.error(longest, 0, { step: 8 })).toBeGreaterThan(1e-3)
  })
})
