import { describe, expect, it } from 'vitest'
import { vectorError } from '../../../app/lse/error.ts'
import { EVENT_KINDS } from '../../../app/trace/stages.ts'
import { at, column } from '../engine.ts'
import { capturedConfig, EXACT, faultOf, type Observed, observe } from './observe.ts'

/** Faults of the merge: the partials that go into it are right. */

const config = capturedConfig({ needles: true, softmaxScale: 0.6, qLen: 2, acceptedPerStep: 2 })
const RANKS = [0, 1]

const rowsOfRank = (run: Observed, rank: number): [t: number, h: number][] =>
  run.rows().filter(([, h]) => Math.floor(h / 2) === rank)

/** Sum of the partials of a row, each times `weight`. */
const combined = (run: Observed, t: number, h: number, weight: number): Float64Array => {
  const partials = RANKS.map((rank) => run.out(rank, t, h))
  return Float64Array.from({ length: run.width }, (_, v) =>
    partials.reduce((sum, partial) => sum + weight * at(partial, v), 0),
  )
}

const partialsAreRight = (run: Observed): void => {
  for (const [t, h] of run.rows())
    expect(vectorError(run.remerged(t, h, 'e'), run.out(-1, t, h)).relative).toBeLessThan(EXACT)
}

describe.each(['ag_rs', 'a2a', 'p2p'] as const)('over %s', (comm) => {
  const over = { ...config, comm }

  it.each([
    [0, 'mean', 1 / 2],
    [1, 'sum', 1],
  ])('lse-dropped %i merges by the %s of all partials', async (variant, _, weight) => {
    const run = await observe(over, faultOf('lse-dropped', { variant }))
    for (const [t, h] of run.rows())
      expect(vectorError(run.merged(t, h), combined(run, t, h, weight)).relative).toBeLessThan(EXACT)
    expect(run.worst()).toBeGreaterThan(0.01)
    partialsAreRight(run)
  })

  it('merge-missing leaves its ranks their own partials, and the others what is right', async () => {
    const run = await observe(over, faultOf('merge-missing', { ranks: [1] }))
    for (const [t, h] of rowsOfRank(run, 1)) expect(run.merged(t, h)).toEqual(run.out(1, t, h))
    for (const [t, h] of rowsOfRank(run, 0)) expect(run.error(t, h)).toBeLessThan(EXACT)
    expect(run.worst()).toBeGreaterThan(0.01)
    partialsAreRight(run)
  })

  it('head-order-permuted brings merged heads, each of them right, to other ranks', async () => {
    const run = await observe(over, faultOf('head-order-permuted', { amount: 1 }))
    for (const [t, h] of run.rows()) {
      expect(vectorError(run.merged(t, h), run.out(-1, t, (h + 2) % 4)).relative).toBeLessThan(EXACT)
    }
    expect(run.worst()).toBeGreaterThan(0.01)
    partialsAreRight(run)
  })

  it('merged-empty-nan makes NaN of rows that are empty on all ranks, and of no others', async () => {
    const padded = { ...over, contextLens: [...over.contextLens, 0, 0], padRequests: 2 }
    const run = await observe(padded, faultOf('merged-empty-nan'))
    const first = over.contextLens.length * over.qLen
    for (const [t, h] of run.rows()) {
      expect(run.merged(t, h).every(Number.isNaN)).toBe(t >= first)
      if (t < first) expect(run.error(t, h)).toBeLessThan(EXACT)
      else for (const rank of RANKS) expect(run.lse(rank, t, h)).toBe(Number.NEGATIVE_INFINITY)
    }
    const right = await observe(padded)
    for (const [t, h] of right.rows())
      if (t >= first) expect(right.merged(t, h).every((v) => v === 0)).toBe(true)
  })

  it.each(['dropped', 'multiplied'] as const)(
    'empty-row-not-neutralised lets NaN of a kernel into a merge in which weight 0 is %s',
    async (zeroWeight) => {
      const empty = {
        ...over,
        emptyRow: 'nan',
        zeroWeight,
        ranks: 4,
        heads: 4,
        contextLens: [0, 40],
      } as const
      const run = await observe(empty, faultOf('empty-row-not-neutralised', { ranks: [0, 1, 2, 3] }))
      const place = { step: 0 }
      for (const [t, h] of run.rows()) {
        const nan = t < 2 && zeroWeight === 'multiplied'
        expect(run.merged(t, h, place).every(Number.isNaN)).toBe(nan)
        if (!nan) expect(run.error(t, h, place)).toBeLessThan(EXACT)
        // Two query tokens see one and two keys: those of ranks 0 and 1.
        expect(run.out(3, t, h, place).every(Number.isNaN)).toBe(t < 2)
      }
      const kinds = column(run.run.chunks, 'events', -1, 'kind').map((kind) => EVENT_KINDS[kind])
      expect(kinds.includes('nan_in_merged')).toBe(zeroWeight === 'multiplied')
    },
  )

  it('empty-row-not-neutralised merges what was in memory, where the kernel writes nothing', async () => {
    const empty = { ...over, emptyRow: 'unwritten', ranks: 4, heads: 4, contextLens: [0, 40] } as const
    const run = await observe(empty, faultOf('empty-row-not-neutralised', { ranks: [3], steps: [0] }))
    const place = { step: 0 }
    for (const [t, h] of run.rows()) {
      if (t >= 2) expect(run.error(t, h, place)).toBeLessThan(EXACT)
      else {
        expect(run.error(t, h, place)).toBeGreaterThan(1)
        expect(run.lse(3, t, h, place)).toBe(64)
        expect(vectorError(run.merged(t, h, place), run.remerged(t, h, 'e', place)).relative).toBeLessThan(
          EXACT,
        )
      }
    }
    expect(run.worst({ step: 1 })).toBeLessThan(EXACT)
  })
})
