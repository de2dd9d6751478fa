import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { collectiveTime, modelUs } from '../../../app/sweep/collectives.ts'
import { COLLECTIVES, type CollectiveTiming } from '../../../app/sweep/config.ts'

const KB = 1024
const MB = 1024 * KB

describe('the model of NCCL between GPUs of one host', () => {
  // Best of the ring protocols by the formula of NCCL's tuner, worked out by hand: bytes of each rank, 2, 4 and 8 GPUs.
  it.each([
    [512, 7.2, 8.4, 10.8],
    [18 * KB, 7.3, 8.8, 11.7],
    [64 * KB, 7.7, 9.8, 14.1],
    [288 * KB, 9.3, 14.7, 25.4],
    [1.13 * MB, 15.1, 28.4, 52.2],
    [4.5 * MB, 24.9, 57.9, 124],
  ])('gathers %d bytes a rank in about the times of its tuner', (bytes, two, four, eight) => {
    const us = [2, 4, 8].map((ranks) => modelUs('all_gather', ranks, (ranks - 1) * bytes))
    for (const [i, expected] of [two, four, eight].entries())
      expect(Math.abs((us[i] ?? 0) / expected - 1)).toBeLessThan(0.01)
  })

  it('never takes less for more bytes or more ranks, and nothing for one rank', () => {
    const bytes = fc.integer({ min: 0, max: 1e9 })
    fc.assert(
      fc.property(
        fc.constantFrom(...COLLECTIVES),
        fc.integer({ min: 2, max: 64 }),
        bytes,
        bytes,
        (op, ranks, a, b) => {
          expect(modelUs(op, ranks, Math.max(a, b))).toBeGreaterThanOrEqual(
            modelUs(op, ranks, Math.min(a, b)),
          )
          expect(modelUs(op, ranks + 1, a)).toBeGreaterThanOrEqual(modelUs(op, ranks, a))
          expect(modelUs(op, 1, a)).toBe(0)
        },
      ),
    )
  })
})

describe('a table of timings', () => {
  const timing = (bytes: number, us: number, ranks = 8): CollectiveTiming => ({
    collective: 'all_gather',
    ranks,
    bytes,
    us,
  })
  const table = [timing(1000, 10), timing(1_000_000, 20), timing(10_000_000, 110)]
  const us = (bytes: number, ranks = 8): number => collectiveTime(table, 'all_gather', ranks, bytes).us

  it('gives its own entries back, and lies between two between them', () => {
    for (const { bytes, us: own } of table) expect(us(bytes)).toBeCloseTo(own, 9)
    expect(us(500_500)).toBeCloseTo(15, 9)
  })

  it('ends with its latency below, and with its last bandwidth above', () => {
    expect(us(1)).toBe(10)
    expect(us(20_000_000)).toBeCloseTo(210, 6)
    expect(collectiveTime([timing(100, 5)], 'all_gather', 8, 1000).us).toBe(50)
  })

  it('is scaled to other groups by the model, and says when it knows a collective not', () => {
    const bytes = 1_000_000
    const scale = modelUs('all_gather', 4, bytes) / modelUs('all_gather', 8, bytes)
    expect(us(bytes, 4)).toBeCloseTo(20 * scale, 9)
    expect(collectiveTime(table, 'all_gather', 8, 1).source).toBe('table')
    expect(collectiveTime(table, 'all_to_all', 8, 1)).toEqual({
      us: modelUs('all_to_all', 8, 1),
      source: 'model',
    })
  })

  it('takes the nearest group where it has several', () => {
    const two = [...table, timing(1_000_000, 7, 2)]
    expect(collectiveTime(two, 'all_gather', 2, 1_000_000).us).toBe(7)
  })
})
