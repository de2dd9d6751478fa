import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StoreResult } from '../../../app/protocol/store.ts'
import { STAGES } from '../../../app/trace/stages.ts'
import type { SpanBatch } from '../../../main/store/span-batch.ts'
import { SpanIndex } from '../../../main/store/span-index.ts'
import { TileBuilder } from '../../../main/store/tile-builder.ts'

interface Span {
  readonly start: number
  readonly dur: number
  readonly wait?: number
  readonly stage: number
  /** Place of the provenance. */
  readonly source?: number
}

const batch = (spans: readonly Span[]): SpanBatch => ({
  start: Float64Array.from(spans, (s) => s.start),
  dur: Float64Array.from(spans, (s) => s.dur),
  wait: Float64Array.from(spans, (s) => s.wait ?? 0),
  stage: Uint8Array.from(spans, (s) => s.stage),
  step: Int32Array.from(spans, (_, i) => i),
  layer: new Int32Array(spans.length),
  source: Uint8Array.from(spans, (s) => 1 << (s.source ?? 0)),
})

type Items = StoreResult<'spanTile'>['outer']

const tileOf = (index: SpanIndex, start: number, end: number, buckets: number): Items => {
  const tile = new TileBuilder()
  index.tile(start, end, buckets, tile)
  return tile.build()
}

const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0)

/** Length of the union of intervals. */
const union = (spans: readonly Span[]): number => {
  let [covered, end] = [0, Number.NEGATIVE_INFINITY]
  for (const s of [...spans].sort((a, b) => a.start - b.start)) {
    covered += Math.max(0, s.start + s.dur - Math.max(end, s.start))
    end = Math.max(end, s.start + s.dur)
  }
  return covered
}

const spanArb = fc.record({
  start: fc.integer({ min: 0, max: 5000 }),
  dur: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 3000 })),
  wait: fc.integer({ min: 0, max: 20 }),
  stage: fc.integer({ min: 0, max: STAGES.length - 1 }),
  source: fc.integer({ min: 0, max: 5 }),
})
const spansArb = fc.array(spanArb, { maxLength: 400 })
const rangeArb = fc
  .tuple(fc.integer({ min: -10, max: 6000 }), fc.integer({ min: 1, max: 6000 }))
  .map(([from, width]) => ({ from, to: from + width }))

/** Appends in pieces of `size`, as parts and vectors arrive. */
const indexOf = (spans: readonly Span[], size: number): SpanIndex => {
  const index = new SpanIndex()
  for (let i = 0; i < spans.length; i += size) index.append(batch(spans.slice(i, i + size)))
  return index
}

describe('a tile of spans', () => {
  it('holds each span that overlaps the range once, whatever the number of buckets', () => {
    fc.assert(
      fc.property(
        spansArb,
        rangeArb,
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 99 }),
        (spans, range, buckets, size) => {
          const tile = tileOf(indexOf(spans, size), range.from, range.to, buckets)
          const overlapping = spans.filter((s) => s.start < range.to && s.start + s.dur > range.from)
          expect(sum(tile.count)).toBe(overlapping.length)
          expect(tile.count.length).toBeLessThanOrEqual(Math.max(buckets, 0))
          expect([...tile.start]).toEqual([...tile.start].sort((a, b) => a - b))
        },
      ),
    )
  })

  it('keeps the covered time of the whole run at any resolution', () => {
    fc.assert(
      fc.property(
        spansArb,
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 99 }),
        (spans, buckets, size) => {
          const tile = tileOf(indexOf(spans, size), 0, 10_000, buckets)
          expect(sum(tile.busy)).toBe(union(spans))
          tile.busy.forEach((busy, i) => {
            expect(busy).toBeLessThanOrEqual(tile.dur[i] ?? 0)
          })
        },
      ),
    )
  })

  it('keeps the waiting of the spans that overlap the range at any resolution', () => {
    fc.assert(
      fc.property(
        spansArb,
        rangeArb,
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 99 }),
        (spans, range, buckets, size) => {
          const tile = tileOf(indexOf(spans, size), range.from, range.to, buckets)
          const overlapping = spans.filter((s) => s.start < range.to && s.start + s.dur > range.from)
          expect(sum(tile.wait)).toBe(sum(overlapping.map((s) => s.wait)))
        },
      ),
    )
  })

  it('says of every provenance in the range that it is there, and of no other', () => {
    fc.assert(
      fc.property(
        fc.array(spanArb, { maxLength: 400 }).chain((spans) =>
          // Long stretches of one provenance, so that whole blocks lack the others.
          fc
            .integer({ min: 1, max: 150 })
            .map((run) => spans.map((s, i) => ({ ...s, source: Math.floor(i / run) % 3 }))),
        ),
        rangeArb,
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 99 }),
        (spans, range, buckets, size) => {
          const tile = tileOf(indexOf(spans, size), range.from, range.to, buckets)
          const overlapping = spans.filter((s) => s.start < range.to && s.start + s.dur > range.from)
          const wanted = overlapping.reduce((bits, s) => bits | (1 << s.source), 0)
          expect([...tile.sources].reduce((bits, s) => bits | s, 0)).toBe(wanted)
          tile.sources.forEach((bits, i) => {
            if (tile.count[i] === 1) expect(Math.log2(bits) % 1).toBe(0)
          })
        },
      ),
    )
  })

  it('names the stage with the longest share and the hull of what it merges', () => {
    fc.assert(
      fc.property(
        spansArb.filter((s) => s.length > 1),
        (spans) => {
          const tile = tileOf(indexOf(spans, 7), -1, 10_000, 1)
          const times = STAGES.map((_, stage) =>
            sum(spans.filter((s) => s.stage === stage).map((s) => s.dur)),
          )
          expect(tile.start[0]).toBe(Math.min(...spans.map((s) => s.start)))
          expect((tile.start[0] ?? 0) + (tile.dur[0] ?? 0)).toBe(
            Math.max(...spans.map((s) => s.start + s.dur)),
          )
          expect(times[tile.stage[0] ?? 0]).toBe(Math.max(...times))
        },
      ),
    )
  })

  it('does not depend on the order in which spans arrive', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(spanArb, { selector: (s) => s.start, maxLength: 300 }),
        rangeArb,
        (spans, range) => {
          const ordered = [...spans].sort((a, b) => a.start - b.start)
          const strip = ({ step: _, ...rest }: Items): unknown => rest
          expect(strip(tileOf(indexOf(spans, 13), range.from, range.to, 20))).toEqual(
            strip(tileOf(indexOf(ordered, 1000), range.from, range.to, 20)),
          )
        },
      ),
    )
  })

  it('is the spans themselves where they are few enough', () => {
    const spans = [
      { start: 0, dur: 10, stage: 1 },
      { start: 10, dur: 5, stage: 2 },
      { start: 20, dur: 7, stage: 3 },
    ]
    const tile = tileOf(indexOf(spans, 2), 5, 20, 2)
    expect([...tile.start]).toEqual([0, 10])
    expect([...tile.dur]).toEqual([10, 5])
    expect([...tile.stage]).toEqual([1, 2])
  })

  it('is empty before, between and after spans', () => {
    const index = indexOf([{ start: 100, dur: 10, stage: 0 }], 1)
    for (const [from, to] of [
      [0, 100],
      [110, 200],
    ] as const)
      expect(tileOf(index, from, to, 8).count).toHaveLength(0)
    expect(tileOf(new SpanIndex(), 0, 1, 8).count).toHaveLength(0)
  })
})

describe('the span at a time', () => {
  it('is the one that covers it and starts last', () => {
    fc.assert(
      fc.property(spansArb, fc.integer({ min: 0, max: 6000 }), (spans, at) => {
        const covering = spans.filter((s) => s.start <= at && s.start + s.dur > at)
        const expected = covering.length === 0 ? undefined : Math.max(...covering.map((s) => s.start))
        expect(indexOf(spans, 50).startAt(at)).toBe(expected)
      }),
    )
  })

  it('has neighbours that begin before and after it', () => {
    fc.assert(
      fc.property(spansArb, fc.integer({ min: -5, max: 6000 }), (spans, at) => {
        const starts = spans.map(({ start }) => start)
        const [before, after] = [starts.filter((start) => start < at), starts.filter((start) => start > at)]
        const index = indexOf(spans, 50)
        expect(index.startBeside(at, 1)).toBe(after.length === 0 ? undefined : Math.min(...after))
        expect(index.startBeside(at, -1)).toBe(before.length === 0 ? undefined : Math.max(...before))
      }),
    )
  })
})
