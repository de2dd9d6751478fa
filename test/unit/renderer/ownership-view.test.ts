import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { globalIndex, localLengths, owner } from '../../../app/dcp/ownership.ts'
import { lengthAtStep } from '../../../app/run/engine-config.ts'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { copiesOf, extentOfCopies, NO_COPIES } from '../../../renderer/views/ownership/copies.ts'
import { engineLengths, lengthsAgree } from '../../../renderer/views/ownership/engine-lengths.ts'
import { factsOf } from '../../../renderer/views/ownership/facts.ts'
import { copyRows, factRows, localLengthRow } from '../../../renderer/views/ownership/facts-text.ts'
import {
  cardPlace,
  extentOf,
  geometryOf,
  hitAt,
  shardBox,
  stripBox,
} from '../../../renderer/views/ownership/geometry.ts'
import { movedToken } from '../../../renderer/views/ownership/selection-moves.ts'
import {
  fieldsOfDraft,
  sourceOfFields,
  sourceText,
  tokenFromText,
} from '../../../renderer/views/ownership/source.ts'
import { detailText, stripOf } from '../../../renderer/views/ownership/strip.ts'
import { niceStep, ticksOf } from '../../../renderer/views/ownership/ticks.ts'
import {
  clamped,
  fitted,
  MAX_SCALE,
  panned,
  positionAt,
  revealed,
  xOf,
  zoomedAt,
} from '../../../renderer/views/ownership/viewport.ts'
import { pagings } from '../dcp/arbitraries.ts'

const WIDTH = 800
const lengths = fc.integer({ min: 1, max: 2_000_000 })
const views = lengths.chain((len) =>
  fc
    .record({
      zoom: fc.double({ min: 0, max: 20, noNaN: true }),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map(({ zoom, at }) => ({
      len,
      view: clamped({ start: at * len, scale: fitted(len, WIDTH).scale * 2 ** zoom }, len, WIDTH),
    })),
)

describe('the viewport of the token strip', () => {
  it('never leaves the tokens, however it is zoomed and panned', () => {
    fc.assert(
      fc.property(
        views,
        fc.array(fc.double({ min: -2000, max: 2000, noNaN: true }), { maxLength: 20 }),
        ({ len, view }, moves) => {
          const end = moves.reduce(
            (v, m, i) =>
              i % 2 === 0
                ? panned(v, m, len, WIDTH)
                : zoomedAt(v, 2 ** (m / 500), Math.abs(m) % WIDTH, len, WIDTH),
            view,
          )
          expect(end.start).toBeGreaterThanOrEqual(0)
          expect(end.scale).toBeLessThanOrEqual(MAX_SCALE)
          expect(end.start).toBeLessThanOrEqual(Math.max(0, len - WIDTH / end.scale))
        },
      ),
    )
  })

  it('keeps the token under the pointer while zooming in', () => {
    const view = { start: 1000, scale: 1 }
    const after = zoomedAt(view, 3, 250, 100_000, WIDTH)
    expect(positionAt(250, after)).toBeCloseTo(positionAt(250, view), 9)
  })

  it('shows a token that is asked for, wide enough to be told apart', () => {
    fc.assert(
      fc.property(views, fc.nat(), ({ len, view }, n) => {
        const token = n % len
        const after = revealed(view, token, len, WIDTH, true)
        expect(xOf(token, after)).toBeGreaterThanOrEqual(-1e-6)
        expect(xOf(token + 1, after)).toBeLessThanOrEqual(WIDTH + 1e-6)
        expect(after.scale).toBeGreaterThanOrEqual(12)
      }),
    )
  })

  it('stays where it is when the token is in view', () => {
    const view = { start: 100, scale: 10 }
    expect(revealed(view, 140, 1000, WIDTH, false)).toBe(view)
  })
})

describe('the token strip', () => {
  it('draws no more items than half its pixels, and leaves out no token in view', () => {
    fc.assert(
      fc.property(views, pagings, ({ len, view }, sharding) => {
        const strip = stripOf(view, WIDTH, len, sharding)
        const items = strip.kind === 'shares' ? strip.bands : strip.runs
        expect(items.length).toBeLessThanOrEqual(WIDTH / 2 + 2)
        const last = items.at(-1)
        expect(items[0]?.first).toBeLessThanOrEqual(Math.floor(view.start))
        expect((last?.first ?? 0) + (last?.count ?? 0)).toBe(
          Math.min(len, Math.ceil(positionAt(WIDTH, view))),
        )
        for (const [i, item] of items.entries())
          if (i > 0) expect(item.first).toBe((items[i - 1]?.first ?? 0) + (items[i - 1]?.count ?? 0))
      }),
    )
  })

  it('tells the truth in every level of detail: owners of runs, shares of bands', () => {
    fc.assert(
      fc.property(views, pagings, fc.nat(), ({ len, view }, sharding, pick) => {
        const strip = stripOf(view, WIDTH, len, sharding)
        if (strip.kind === 'shares') {
          for (const band of strip.bands) expect(band.shares.reduce((a, b) => a + b, 0)).toBe(band.count)
          const whole = strip.bands.slice(0, -1)
          for (const band of whole) expect(new Set(band.shares).size).toBe(1)
          return
        }
        for (const run of strip.runs) expect(owner(run.first + (pick % run.count), sharding)).toBe(run.rank)
      }),
    )
  })

  it('goes from tokens to runs to shares as cells get narrow', () => {
    const sharding = { dcp: 4, interleave: 16 }
    const at = (scale: number) => stripOf({ start: 0, scale }, WIDTH, 1_000_000, sharding)
    expect([8, 0.5, 0.001].map((s) => at(s).kind)).toEqual(['cells', 'runs', 'shares'])
    expect(detailText(at(0.5), sharding)).toBe('one cell is a run of 16 tokens of one rank')
    expect(detailText(at(0.001), sharding)).toBe(
      'one band is 4\u2009032 tokens, split by the share of each rank',
    )
  })

  it('is one run when there is one rank', () => {
    const strip = stripOf({ start: 0, scale: 0.001 }, WIDTH, 500_000, { dcp: 1, interleave: 1 })
    expect(strip).toMatchObject({ kind: 'runs', runs: [{ first: 0, count: 500_000, rank: 0 }] })
  })

  it('is empty without tokens', () => {
    expect(stripOf(fitted(0, WIDTH), WIDTH, 0, { dcp: 4, interleave: 1 })).toEqual({
      kind: 'cells',
      runs: [],
    })
  })
})

describe('pointing at the picture', () => {
  it('finds a token from its cell in the strip and from its key in the shard', () => {
    fc.assert(
      fc.property(pagings, fc.integer({ min: 1, max: 5000 }), fc.nat(), (paging, len, n) => {
        const token = n % len
        const view = revealed(fitted(len, WIDTH), token, len, WIDTH, true)
        const geometry = geometryOf(WIDTH + 62, 600, paging.dcp)
        for (const [box, part] of [
          [stripBox(token, view, geometry), 'strip'],
          [shardBox(token, view, geometry, paging), 'shard'],
        ] as const) {
          const point = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
          if (point.x > geometry.left && point.x < geometry.left + geometry.plotWidth)
            expect(hitAt(point, view, geometry, len, paging)).toEqual({ kind: 'token', token, part })
        }
      }),
    )
  })

  it('puts page borders of every shard below the border of their virtual page', () => {
    const paging = { dcp: 4, interleave: 16, page: 64 }
    const view = { start: 0, scale: 2 }
    const geometry = geometryOf(900, 600, 4)
    for (const rank of [0, 1, 2, 3])
      expect(shardBox(globalIndex(64, rank, paging), view, geometry, paging).x).toBe(
        stripBox(256, view, geometry).x,
      )
  })

  it('keeps the card within the picture and off the line', () => {
    const paging = { dcp: 8, interleave: 16, page: 64 }
    const geometry = geometryOf(900, 600, 8)
    const view = { start: 0, scale: 6 }
    const rightward = cardPlace({ x: 400, y: 50 }, 26, view, geometry, paging)
    expect(rightward).toEqual({ left: true, above: false })
    expect(cardPlace({ x: 100, y: 50 }, 26, view, geometry, paging).left).toBe(false)
    expect(cardPlace({ x: 400, y: 590 }, 26, view, geometry, paging)).toEqual({ left: false, above: true })
    expect(cardPlace({ x: 890, y: 590 }, 26, view, geometry, paging).left).toBe(true)
  })

  it('finds ranks by their labels and nothing beyond the newest token', () => {
    const paging = { dcp: 2, interleave: 1, page: 16 }
    const geometry = geometryOf(900, 600, 2)
    const view = fitted(8, geometry.plotWidth)
    const y = geometry.shards.top + geometry.shards.row + 2
    expect(hitAt({ x: 5, y }, view, geometry, 8, paging)).toEqual({ kind: 'rank', rank: 1 })
    expect(hitAt({ x: 880, y }, view, geometry, 8, paging)).toEqual({ kind: 'nothing' })
  })
})

describe('the span of the picture', () => {
  it('covers the strip and every key of every shard', () => {
    fc.assert(
      fc.property(pagings, fc.integer({ min: 0, max: 10_000 }), (paging, len) => {
        const extent = extentOf(len, paging)
        expect(extent).toBeGreaterThanOrEqual(len)
        expect(extent).toBeGreaterThanOrEqual(Math.max(...localLengths(len, paging)) * paging.dcp)
      }),
    )
  })

  it('is the request where the last round is full', () => {
    expect(extentOf(64, { dcp: 4, interleave: 16, page: 64 })).toBe(64)
    expect(extentOf(40, { dcp: 8, interleave: 16, page: 64 })).toBe(128)
  })
})

describe('the facts of a token', () => {
  const paging = { dcp: 4, interleave: 16, page: 64 }

  it('name page and slot when the page table has its column', () => {
    expect(factsOf(777, 778, paging, [9, 8, 7, 5])).toEqual({
      token: 777,
      owner: 0,
      localIndex: 201,
      column: 3,
      offset: 9,
      page: 5,
      slot: 329,
      newest: true,
    })
  })

  it('have neither page nor slot where nothing is allocated', () => {
    for (const pages of [null, [9, 8, 7, -1], [9]])
      expect(factsOf(777, 1000, paging, pages)).toMatchObject({ page: null, slot: null, newest: false })
  })

  it('are spaced for the eye and copied as plain numbers', () => {
    const rows = factRows(factsOf(654_321, 654_322, { dcp: 4, interleave: 1, page: 64 }, null), false)
    expect(rows).toContainEqual({ label: 'token', value: '654\u2009321 (newest)', copy: '654321' })
    expect(rows).toContainEqual({ label: 'virtual page', value: 'column 2\u2009555', copy: '2555' })
    expect(rows).toContainEqual({ label: 'slot', value: 'no run' })
  })
})

describe('the source of the picture', () => {
  it('grows a request by the accepted tokens of each step', () => {
    const parsed = parseRunConfig({
      workload: { requests: [{ contextLen: 100, count: 2 }, { contextLen: 7 }], qLen: 4, acceptedPerStep: 2 },
    })
    if (!parsed.ok) throw new Error('refused')
    expect([0, 1, 5].map((step) => lengthAtStep(parsed.config, 2, step))).toEqual([11, 13, 21])
  })

  it('says which rule a calculator field breaks', () => {
    const source = sourceOfFields({ len: 10, dcp: 4, interleave: 48, page: 64 })
    expect(source.ok ? '' : sourceText(source.issues)).toBe('interleave: must divide page (64), got 48')
  })

  it('starts from the draft of the run form and fills what is missing', () => {
    expect(fieldsOfDraft({ parallel: { dcpSize: 8 }, workload: { requests: [{ contextLen: 77 }] } })).toEqual(
      {
        len: 77,
        dcp: 8,
        interleave: 1,
        page: 64,
      },
    )
    expect(fieldsOfDraft(undefined)).toEqual({ len: 1000, dcp: 4, interleave: 1, page: 64 })
  })

  it.each([
    ['0', 0],
    ['12 345', 12_345],
    ['-1', 99_999],
    ['100000', null],
    ['-100001', null],
    ['twelve', null],
    ['', null],
  ])('reads the token that %j asks for', (text, token) => {
    expect(tokenFromText(text, 100_000)).toBe(token)
  })
})

describe('the lengths that the engine recorded', () => {
  const statistics = (ranks: readonly number[]) => {
    const filled = (value: number): Int32Array<ArrayBuffer> => new Int32Array(ranks.length).fill(value)
    return {
      rank: Int32Array.from(ranks),
      request: filled(2),
      qIndex: filled(0),
      globalLen: filled(101),
      localLen: Int32Array.from(ranks, (rank) => (rank === 0 ? 26 : 25)),
      visibleKeys: filled(25),
      empty: new Uint8Array(ranks.length),
      outNan: filled(0),
      outInf: filled(0),
      outAbsmax: new Float32Array(ranks.length),
      lseNan: filled(0),
      lseMin: new Float32Array(ranks.length),
      lseMax: new Float32Array(ranks.length),
    }
  }
  const rule = localLengths(101, { dcp: 4, interleave: 1 })

  it('agree with the rule when every rank has its share', () => {
    const recorded = engineLengths(statistics([0, 1, 2, 3]), 2, 4)
    expect(recorded).toMatchObject({ globalLen: 101, localLens: [26, 25, 25, 25] })
    expect(recorded !== null && lengthsAgree(recorded, 101, rule)).toBe(true)
    expect(recorded !== null && lengthsAgree(recorded, 102, rule)).toBe(false)
  })

  it('come with the keys that the last query token attends to, in whatever order its rows come', () => {
    const rows = statistics([0, 0, 1, 1])
    rows.qIndex.set([1, 0, 0, 1])
    rows.visibleKeys.set([18, 17, 20, 21])
    expect(engineLengths(rows, 2, 2)?.attended).toEqual([18, 21])
  })

  it('are not known while a rank is not written yet, nor for another request', () => {
    expect(engineLengths(statistics([0, 1, 3]), 2, 4)).toBeNull()
    expect(engineLengths(statistics([0, 1, 2, 3]), 1, 4)).toBeNull()
  })
})

describe('keys', () => {
  it('move the selected token by one, by a round, and to the ends', () => {
    const moved = (code: string, shift = false, token: number | null = 10) =>
      movedToken(code, shift, token, 20, 4)
    expect([moved('ArrowRight'), moved('ArrowLeft'), moved('ArrowRight', true)]).toEqual([11, 9, 14])
    expect([moved('Home'), moved('End'), moved('ArrowRight', true, 18)]).toEqual([0, 19, 19])
    expect([moved('ArrowRight', false, null), moved('KeyQ')]).toEqual([0, null])
    expect(movedToken('Home', false, null, 0, 4)).toBeNull()
  })
})

describe('ticks', () => {
  it('stand on 1, 2 or 5 times a power of ten, and on whole tokens', () => {
    expect([0.01, 1, 1.1, 3, 7, 10, 12, 400_000].map(niceStep)).toEqual([1, 1, 2, 5, 10, 10, 20, 500_000])
    expect(ticksOf(990, 2100, 0.5, 100)).toEqual([1000, 1200, 1400, 1600, 1800, 2000])
  })
})

describe('a token that is stored where it does not belong', () => {
  const paging = { dcp: 4, interleave: 1, page: 32 }
  const pages = [7, 2, 9]

  it('is told with rank, slot, page and local index, and the place where it belongs is none of them', () => {
    const places = [
      { rank: 0, slot: 9 * 32 + 12 },
      { rank: 1, slot: 5 * 32 },
      { rank: 3, slot: 9 * 32 + 11 },
    ]
    const copies = copiesOf({ token: 303, places }, paging, pages)
    expect(copies.places).toEqual([
      { rank: 0, slot: 300, page: 9, localIndex: 76 },
      { rank: 1, slot: 160, page: 5, localIndex: null },
    ])
    expect(extentOfCopies(copies, paging)).toBe(77 * 4)
    expect(copyRows(copies).map(({ label, value, note }) => [label, value, note])).toEqual([
      ['also on rank 0, slot', '300', 'page 9, local index 76'],
      ['also on rank 1, slot', '160', "page 5, none of this request's"],
    ])
  })

  it('is also one that its owner keeps in another slot, as far as pages are known', () => {
    const written = { token: 303, places: [{ rank: 3, slot: 7 * 32 }] }
    expect(copiesOf(written, paging, pages).places).toHaveLength(1)
    expect(copiesOf(written, paging, null).places).toEqual([])
    expect(copiesOf(null, paging, pages)).toBe(NO_COPIES)
    expect(extentOfCopies(NO_COPIES, paging)).toBe(0)
  })

  it('leaves a rank with more keys than the rule gives it, which is said beside the number', () => {
    expect(localLengthRow(0, 76, 77)).toMatchObject({
      value: '77',
      copy: '77',
      note: 'tokens, 76 by the rule',
    })
    expect(localLengthRow(0, 76)).toMatchObject({ value: '76', note: 'tokens' })
  })
})
