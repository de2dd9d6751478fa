import { describe, expect, it } from 'vitest'
import { EVENT_KINDS } from '../../../app/trace/stages.ts'
import { at, column, rowsOf } from '../engine.ts'
import { capturedConfig, EXACT, faultOf, observe } from './observe.ts'

/** Batches that are padded as those of captured graphs are, and garbage in the rows of padding. */

const batch = [0, 1, 15, 16, 40]
const padded = (padLength: number) =>
  capturedConfig({ contextLens: [...batch, 0, 0, 0], padRequests: 3, padLength, qLen: 2, acceptedPerStep: 2 })

/** Largest error of rows of the batch. */
const worst = (run: Awaited<ReturnType<typeof observe>>): number =>
  Math.max(...run.rows().flatMap(([t, h]) => (t < batch.length * 2 ? [run.error(t, h)] : [])))

describe.each(['ag_rs', 'a2a', 'p2p'] as const)('a padded batch over %s', (comm) => {
  it.each([0, 1])('of rows of length %i gives what the batch alone gives', async (padLength) => {
    const run = await observe({ ...padded(padLength), comm })
    expect(worst(run)).toBeLessThan(EXACT)
    expect([...run.values(0, 'seq_lens_global')]).toEqual([
      ...batch.map((length) => length + 6),
      padLength,
      padLength,
      padLength,
    ])
    expect([...run.values(1, 'seq_lens_local')].slice(5)).toEqual([0, 0, 0])
    expect([...run.values(1, 'slot_mapping')].slice(10)).toEqual(new Array(6).fill(-1))
    // Neither tokens nor rows nor checks count padding.
    expect(column(run.run.chunks, 'steps', -1, 'tokens')).toEqual([10, 10, 10])
    expect(column(run.run.chunks, 'steps', -1, 'checked_rows')).toEqual(new Array(3).fill(2 * 10 * 4))
    expect(rowsOf(run.run.chunks, 'rows', 0)).toHaveLength(3 * 2 * 10)
  })
})

describe('a padded batch with chosen keys', () => {
  it('chooses none for rows of padding', async () => {
    const run = await observe({ ...padded(0), topk: 4 })
    expect(worst(run)).toBeLessThan(EXACT)
    expect([...run.values(0, 'topk')].slice(40)).toEqual(new Array(24).fill(-1))
  })
})

describe('pad-row-garbage', () => {
  it.each([0, 1])('of length %i is NaN in rows of padding alone, and no wrong result', async (padLength) => {
    const run = await observe(padded(padLength), faultOf('pad-row-garbage'))
    expect(worst(run)).toBeLessThan(EXACT)
    for (const [t, h] of run.rows()) {
      const pads = t >= batch.length * 2
      expect(run.out(0, t, h).every(Number.isNaN)).toBe(pads)
      expect(run.merged(t, h).some(Number.isNaN)).toBe(pads)
    }
    expect(column(run.run.chunks, 'events', -1, 'kind')).not.toContain(EVENT_KINDS.indexOf('nan_in_merged'))
    expect(at(column(run.run.chunks, 'steps', -1, 'max_rel_err'), 2)).toBeLessThan(EXACT)
  })
})
