import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { STAGES } from '../../../app/trace/stages.ts'
import { cardShift } from '../../../renderer/views/timeline/card-shift.ts'
import { type Span, spanFacts, waitOf } from '../../../renderer/views/timeline/facts.ts'
import { itemAtPoint, itemAtTime, neighbourOf } from '../../../renderer/views/timeline/items.ts'
import { motionOf } from '../../../renderer/views/timeline/keys.ts'
import { lanesOf, laneTop, rankAtY } from '../../../renderer/views/timeline/lanes.ts'
import {
  clampedRange,
  MIN_SPAN_NS,
  pannedRange,
  revealedRange,
  type TimeRange,
  timeAtX,
  xOfTime,
  zoomedRange,
} from '../../../renderer/views/timeline/range.ts'
import { tickLabel, timeText, timeTicks } from '../../../renderer/views/timeline/ticks.ts'
import {
  itemAt,
  levelOf,
  type SpanTile,
  TILE_BUCKETS,
  TileCache,
  tileRange,
  tileSpanNs,
  tilesOver,
} from '../../../renderer/views/timeline/tiles.ts'
import { NO_ITEMS } from './no-items.ts'

const WHOLE: TimeRange = { startNs: 0, endNs: 1e9 }

const ranges = fc
  .tuple(fc.double({ min: 0, max: 1e9, noNaN: true }), fc.double({ min: MIN_SPAN_NS, max: 1e9, noNaN: true }))
  .map(([startNs, span]) => clampedRange({ startNs, endNs: startNs + span }, WHOLE))

/** A tile of spans given as rank, start, duration, stage; sorted as the store sorts. */
const tileOf = (
  spans: readonly (readonly [number, number, number, number?])[],
  range: TimeRange,
): SpanTile => {
  const sorted = [...spans].sort((a, b) => a[0] - b[0] || a[1] - b[1])
  return {
    ...range,
    rank: Int32Array.from(sorted, (s) => s[0]),
    start: Float64Array.from(sorted, (s) => s[1]),
    dur: Float64Array.from(sorted, (s) => s[2]),
    busy: Float64Array.from(sorted, (s) => s[2]),
    wait: new Float64Array(sorted.length),
    stage: Uint8Array.from(sorted, (s) => s[3] ?? 0),
    step: new Int32Array(sorted.length),
    layer: new Int32Array(sorted.length),
    count: new Int32Array(sorted.length).fill(1),
    sources: new Uint8Array(sorted.length).fill(1),
    outer: NO_ITEMS,
    kernels: { ...NO_ITEMS, name: new Int32Array() },
    kernelNames: [],
  }
}

describe('the shown range of time', () => {
  it('never leaves the run and never gets shorter than the closest look', () => {
    fc.assert(
      fc.property(
        ranges,
        fc.double({ min: 0.01, max: 100, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (range, factor, at) => {
          for (const next of [
            zoomedRange(range, factor, at, WHOLE),
            pannedRange(range, factor - 50, WHOLE),
          ]) {
            expect(next.startNs).toBeGreaterThanOrEqual(0)
            expect(next.endNs).toBeLessThanOrEqual(1e9 + 1e-3)
            expect(next.endNs - next.startNs).toBeGreaterThanOrEqual(MIN_SPAN_NS - 1e-6)
          }
        },
      ),
    )
  })

  it('keeps the time under the pointer while zooming in', () => {
    fc.assert(
      fc.property(
        ranges,
        fc.double({ min: 1, max: 20, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (range, factor, at) => {
          const next = zoomedRange(range, factor, at, WHOLE)
          const before = range.startNs + (range.endNs - range.startNs) * at
          const after = next.startNs + (next.endNs - next.startNs) * at
          expect(Math.abs(after - before)).toBeLessThan(1e-3 + (range.endNs - range.startNs) * 1e-9)
        },
      ),
    )
  })

  it('goes from pixels to time and back', () => {
    fc.assert(
      fc.property(ranges, fc.double({ min: 0, max: 2000, noNaN: true }), (range, x) => {
        expect(xOfTime(timeAtX(x, range, 2000), range, 2000)).toBeCloseTo(x, 3)
      }),
    )
  })

  it('moves only when what is to be seen is not in view', () => {
    const range = { startNs: 100e6, endNs: 200e6 }
    expect(revealedRange(range, { startNs: 120e6, endNs: 130e6 }, WHOLE)).toBe(range)
    const moved = revealedRange(range, { startNs: 500e6, endNs: 510e6 }, WHOLE)
    expect(moved.startNs).toBeLessThan(500e6)
    expect(moved.endNs).toBeGreaterThan(510e6)
    expect(moved.endNs - moved.startNs).toBeCloseTo(100e6)
  })
})

describe('ticks of time', () => {
  it('stand at round times, not closer than asked', () => {
    fc.assert(
      fc.property(ranges, fc.integer({ min: 200, max: 2500 }), (range, width) => {
        const { stepNs, at } = timeTicks(range, width, 100)
        const mantissa = stepNs / 10 ** Math.floor(Math.log10(stepNs) + 1e-9)
        expect([1, 2, 5].some((m) => Math.abs(mantissa - m) < 1e-6)).toBe(true)
        expect((stepNs / (range.endNs - range.startNs)) * width).toBeGreaterThanOrEqual(99.9)
        for (const t of at) expect(t).toBeGreaterThanOrEqual(range.startNs - 1e-6)
      }),
    )
  })
  it.each([
    [12_340_000, 10_000, '12.34\u2009ms'],
    [0, 1000, '0\u2009µs'],
    [2_000_000_000, 500_000_000, '2.0\u2009s'],
    [1_500, 500, '1.5\u2009µs'],
    [40, 20, '40\u2009ns'],
  ])('%d ns at ticks of %d ns reads %s', (ns, step, text) => {
    expect(tickLabel(ns, step)).toBe(text)
  })

  it('name the ends of a range with digits that tell them apart', () => {
    const near = { startNs: 11_227_900, endNs: 11_229_000 }
    expect([timeText(near.startNs, near), timeText(near.endNs, near)]).toEqual([
      '11.227900\u2009ms',
      '11.229000\u2009ms',
    ])
    const whole = { startNs: 0, endNs: 11_400_000 }
    expect(timeText(whole.endNs, whole)).toBe('11.40\u2009ms')
  })
})

describe('the card under the pointer', () => {
  it('lies on the side with room and is moved by as much of its height as would leave the plot', () => {
    expect(cardShift(100, 100, 800, 600)).toBe('14px max(-96px, min(14px, calc(496px - 100%)))')
    expect(cardShift(700, 500, 800, 600)).toBe(
      'calc(-100% - 14px) max(-496px, min(calc(-100% - 8px), calc(96px - 100%)))',
    )
  })
})

describe('tiles', () => {
  it('of a level lie side by side and cover the range', () => {
    fc.assert(
      fc.property(ranges, fc.integer({ min: 100, max: 2500 }), (range, width) => {
        const level = levelOf(range, width)
        const tiles = tilesOver(range, level).map(tileRange)
        expect(tiles[0]?.startNs ?? 1).toBeLessThanOrEqual(range.startNs)
        expect(tiles.at(-1)?.endNs ?? 0).toBeGreaterThanOrEqual(range.endNs)
        tiles.slice(1).forEach((tile, i) => {
          expect(tile.startNs).toBe(tiles[i]?.endNs)
        })
        expect(tiles.length).toBeLessThanOrEqual(Math.ceil(width / TILE_BUCKETS) * 2 + 2)
      }),
    )
  })

  it('have buckets of one to two pixels', () => {
    const range = { startNs: 0, endNs: 5e8 }
    const bucketPx = (2 ** levelOf(range, 1000) / (range.endNs - range.startNs)) * 1000
    expect(bucketPx).toBeGreaterThanOrEqual(1)
    expect(bucketPx).toBeLessThan(2)
  })

  it('leave the cache, oldest first, when it grows beyond its bytes', () => {
    const cache = new TileCache(4000)
    const spans = Array.from({ length: 20 }, (_, i) => [0, i * 10, 5] as const)
    for (let index = 0; index < 5; index++) cache.put({ level: 0, index }, tileOf(spans, WHOLE), 1e9)
    expect(cache.bytes).toBeLessThanOrEqual(4000)
    expect(cache.get({ level: 0, index: 0 })).toBeUndefined()
    expect(cache.get({ level: 0, index: 4 })).toBeDefined()
  })

  it('are asked for again only when the trace grew into them', () => {
    const cache = new TileCache()
    const key = { level: 10, index: 1 }
    const [start, end] = [tileSpanNs(10), 2 * tileSpanNs(10)]
    cache.put(key, tileOf([], tileRange(key)), start + 5)
    expect(cache.isFresh(key, start + 5)).toBe(true)
    expect(cache.isFresh(key, start + 6)).toBe(false)
    // Ranks are written one after the other: a tile near the end may be filled later.
    cache.put(key, tileOf([], tileRange(key)), end)
    expect(cache.isFresh(key, end + 1)).toBe(false)
    cache.put(key, tileOf([], tileRange(key)), end + 5e9)
    expect(cache.isFresh(key, Number.POSITIVE_INFINITY)).toBe(true)
  })

  it('fall back to a coarser one, cut to the place of the missing one', () => {
    const cache = new TileCache()
    const coarse = tileOf([[0, 0, 10]], tileRange({ level: 4, index: 0 }))
    cache.put({ level: 4, index: 0 }, coarse, 1e9)
    const wanted = tileRange({ level: 2, index: 1 })
    expect(cache.covering(wanted, 2)).toEqual([{ tile: coarse, range: wanted }])
  })
})

describe('what is under the pointer', () => {
  const tile = tileOf(
    [
      [0, 100, 50, 3],
      [0, 200, 50, 4],
      [1, 120, 10, 2],
    ],
    { startNs: 0, endNs: 1000 },
  )
  const pieces = [{ tile, range: { startNs: 0, endNs: 1000 } }]
  const lanes = lanesOf(300, 2, 0)

  it('is the span on the lane at that time, and nothing in a gap', () => {
    const middle = (rank: number): number => laneTop(rank, lanes) + lanes.laneHeight / 2
    const at = (x: number, rank: number) =>
      itemAtPoint(x, middle(rank), 1000, { startNs: 0, endNs: 1000 }, lanes, pieces)
    expect(at(120, 0)).toMatchObject({ stage: STAGES[3], startNs: 100, durNs: 50 })
    expect(at(125, 1)).toMatchObject({ stage: STAGES[2], rank: 1 })
    expect(at(175, 0)).toBeNull()
    expect(at(700, 1)).toBeNull()
  })

  it('takes the nearest of thin spans', () => {
    const thin = tileOf(
      [
        [0, 100, 0],
        [0, 104, 0],
      ],
      { startNs: 0, endNs: 1000 },
    )
    expect(itemAt(thin, 0, 103, 5)).toBe(1)
  })

  it('leads to the neighbours on the lane', () => {
    const first = itemAtTime(0, 120, pieces)
    if (first === null) throw new Error('there is a span at 120 ns')
    expect(neighbourOf(0, first, 1, pieces)).toMatchObject({ startNs: 200 })
    expect(neighbourOf(0, first, -1, pieces)).toBeNull()
  })
})

describe('lanes', () => {
  it('find the rank at the height where they are drawn, scrolled or not', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 1400 }),
        fc.integer({ min: 1, max: 64 }),
        fc.integer({ min: 0, max: 2000 }),
        (height, ranks, scroll) => {
          const lanes = lanesOf(height, ranks, scroll)
          for (let rank = 0; rank < ranks; rank++) {
            const y = laneTop(rank, lanes) + lanes.laneHeight / 2
            if (y >= lanes.rulerHeight) expect(rankAtY(y, lanes)).toBe(rank)
          }
        },
      ),
    )
  })
})

describe('held keys', () => {
  it('move the same whatever the frame rate', () => {
    const held = new Set(['KeyW', 'KeyD'] as const)
    const once = motionOf(held, 0.3)
    const parts = [motionOf(held, 0.1), motionOf(held, 0.1), motionOf(held, 0.1)]
    expect(parts.reduce((z, m) => z * m.zoom, 1)).toBeCloseTo(once.zoom, 9)
    expect(parts.reduce((p, m) => p + m.pan, 0)).toBeCloseTo(once.pan, 9)
  })
})

describe('numbers of a span', () => {
  const span: Span = {
    step: 3,
    layer: 1,
    stage: STAGES.indexOf('lse_all_gather'),
    startNs: 1000,
    durNs: 500,
    bytes: 4000,
    flops: 0,
    collectiveSeq: 7,
    enterNs: 1000,
    lastEnterNs: 1300,
    provenance: 'measured',
  }
  it('part a collective into waiting and transfer', () => {
    expect(waitOf(span)).toEqual({ waitNs: 300, transferNs: 200 })
  })
  it('give the bandwidth of the transfer, without the waiting', () => {
    expect(spanFacts(0, span).find((f) => f.label === 'bandwidth')?.value).toBe('20.0\u2009GB/s')
  })
})
