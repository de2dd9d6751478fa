import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { columnOf } from '../../../app/dcp/pages.ts'
import { CELL_KINDS } from '../../../app/pages/page-table.ts'
import { MAX_PAGE_MARKS } from '../../../app/protocol/store.ts'
import { rgbOf } from '../../../renderer/drawing/texture.ts'
import {
  type Cell,
  cellRows,
  firstToken,
  KIND_WORDS,
  keyAt,
  slotText,
} from '../../../renderer/views/pages/facts.ts'
import {
  broughtIn,
  cellBox,
  fittedPool,
  fittedTable,
  geometryOf,
  hitAt,
  pageBox,
  revealed,
  type Sizes,
  zoomedPool,
  zoomedTable,
} from '../../../renderer/views/pages/geometry.ts'
import { moved, pageFromText } from '../../../renderer/views/pages/moves.ts'
import { tokensOfColumn } from '../../../renderer/views/pages/page-tokens.ts'
import { shadeOf } from '../../../renderer/views/pages/shade.ts'
import { shownOfDump, shownOfRun, sourceText } from '../../../renderer/views/pages/source.ts'
import { pagings } from '../dcp/arbitraries.ts'

const FIT = { tableZoom: null, poolZoom: null }
const TOP = { requestFrom: 0, markFrom: 0, lineFrom: 0 }

const sizes: fc.Arbitrary<Sizes> = fc.record({
  requests: fc.integer({ min: 1, max: 3000 }),
  columns: fc.integer({ min: 1, max: 2_000_000 }),
  pages: fc.integer({ min: 1, max: 2 ** 31 }),
})
const windows = fc.record({
  width: fc.integer({ min: 500, max: 8000 }),
  height: fc.integer({ min: 300, max: 4400 }),
})

describe('the picture', () => {
  it('shows all columns and all pages when it fits them, and answers stay small', () => {
    fc.assert(
      fc.property(sizes, windows, (all, { width, height }) => {
        const g = geometryOf(width, height, all, FIT, TOP)
        expect(g.marks * g.tableZoom.perMark).toBeGreaterThanOrEqual(all.columns)
        expect(g.perLine * g.lines * g.poolZoom.perMark).toBeGreaterThanOrEqual(all.pages)
        expect(g.marks * g.rows).toBeLessThanOrEqual(MAX_PAGE_MARKS)
        expect(g.perLine * g.lines).toBeLessThanOrEqual(MAX_PAGE_MARKS)
        expect(g.table.x + g.table.width).toBeLessThan(g.pool.x)
      }),
    )
  })

  it('finds under the pointer what it has drawn there, at any zoom and scroll', () => {
    fc.assert(
      fc.property(
        sizes,
        windows,
        fc.integer({ min: -61, max: 12 }),
        fc.integer({ min: -61, max: 11 }),
        fc.nat(),
        (all, { width, height }, tableZoom, poolZoom, seed) => {
          const scroll = { requestFrom: seed % 5000, markFrom: seed % 70_001, lineFrom: seed % 9001 }
          const g = geometryOf(width, height, all, { tableZoom, poolZoom }, scroll)
          const request = g.scroll.requestFrom + (seed % g.rows)
          const column = (g.scroll.markFrom + (seed % g.marks)) * g.tableZoom.perMark
          const cell = cellBox(request, column, g)
          if (request < all.requests && column < all.columns)
            expect(hitAt({ x: cell.x + 1, y: cell.y + 1 }, g, all)).toEqual({ kind: 'cell', request, column })
          const page = (g.scroll.lineFrom * g.perLine + (seed % (g.perLine * g.lines))) * g.poolZoom.perMark
          const box = pageBox(page, g)
          if (page < all.pages)
            expect(hitAt({ x: box.x + 1, y: box.y + 1 }, g, all)).toEqual({ kind: 'page', page })
        },
      ),
    )
  })

  it('brings a cell and its page into view', () => {
    fc.assert(
      fc.property(sizes, windows, fc.nat(), (all, { width, height }, seed) => {
        const zooms = { tableZoom: 6, poolZoom: 6 }
        const place = {
          request: seed % all.requests,
          column: seed % all.columns,
          page: seed % all.pages,
        }
        const before = geometryOf(width, height, all, zooms, TOP)
        const g = geometryOf(width, height, all, zooms, revealed(place, before))
        expect(broughtIn(cellBox(place.request, place.column, g), g.table).moved).toBe(false)
        expect(broughtIn(pageBox(place.page, g), g.pool).moved).toBe(false)
      }),
    )
  })

  it('zooms in to single cells and out to all of them, and no further', () => {
    const all = { requests: 4, columns: 100_000, pages: 1_000_000 }
    const g = geometryOf(900, 600, all, FIT, TOP)
    expect(g.tableZoom.perMark).toBeGreaterThan(1)
    expect(zoomedTable(g, all, -1).tableZoom).toBe(g.tableStep)
    expect(zoomedTable(g, all, 100).tableZoom).toBe(12)
    expect(zoomedPool(g, all, -1).poolZoom).toBe(g.poolStep)
    const near = geometryOf(
      900,
      600,
      all,
      { tableZoom: 2, poolZoom: 2 },
      { ...TOP, markFrom: 500, lineFrom: 40 },
    )
    const first = near.scroll.lineFrom * near.perLine
    const nearer = zoomedPool(near, all, 3)
    const after = geometryOf(
      900,
      600,
      all,
      { tableZoom: 2, poolZoom: nearer.poolZoom },
      { ...TOP, ...nearer },
    )
    expect(after.scroll.lineFrom * after.perLine).toBeLessThanOrEqual(first)
    expect((after.scroll.lineFrom + 1) * after.perLine).toBeGreaterThan(first)
    expect(zoomedTable(near, all, 3).markFrom).toBe(500)
    expect(fittedTable(4, 400)).toBeGreaterThan(fittedTable(40, 400))
    expect(fittedPool(10, 400, 400)).toBeGreaterThan(fittedPool(100_000, 400, 400))
  })
})

describe('keys', () => {
  const bounds = { requests: 4, columns: 9, newest: 5 }
  const at = (request: number, column: number) => ({ request, place: { request, column } })

  it('move within the table, and first pick where nothing is selected', () => {
    expect(moved('ArrowRight', { request: 2, place: null }, bounds)).toEqual({ request: 2, column: 0 })
    expect(moved('ArrowRight', at(2, 3), bounds)).toEqual({ request: 2, column: 4 })
    expect(moved('ArrowRight', at(2, 8), bounds)).toEqual({ request: 2, column: 8 })
    expect(moved('ArrowUp', at(0, 3), bounds)).toEqual({ request: 0, column: 3 })
    expect(moved('ArrowDown', at(0, 3), bounds)).toEqual({ request: 1, column: 3 })
    expect(moved('Home', at(1, 3), bounds)).toEqual({ request: 1, column: 0 })
    expect(moved('End', at(1, 3), bounds)).toEqual({ request: 1, column: 5 })
    expect(moved('KeyX', at(1, 3), bounds)).toBeNull()
  })

  it('take a page as a person writes it', () => {
    expect(pageFromText('1 234', 2000)).toBe(1234)
    expect([pageFromText('2000', 2000), pageFromText('-1', 9), pageFromText('x', 9)]).toEqual([
      null,
      null,
      null,
    ])
  })
})

describe('the block table that is shown', () => {
  const run = {
    id: 'r',
    steps: 10,
    ranks: 4,
    captures: [
      { step: 9, layer: 0 },
      { step: 9, layer: 2 },
    ],
  }
  const none = { step: null, layer: null, rank: null }

  it('is of the newest step, as its kernels got it where it was captured', () => {
    expect(shownOfRun(run, none, false)).toMatchObject({
      kind: 'captured',
      source: { dump: 'r', step: 9, layer: 0, rank: 0 },
      both: true,
    })
    expect(shownOfRun(run, { ...none, layer: 2, rank: 9 }, false)?.source).toEqual({
      dump: 'r',
      step: 9,
      layer: 2,
      rank: 3,
    })
    expect(shownOfRun(run, none, true)).toMatchObject({
      kind: 'recorded',
      source: { run: 'r', step: 9, rank: 0 },
    })
    expect(shownOfRun(run, { ...none, step: 4 }, false)).toMatchObject({ kind: 'recorded', both: false })
    expect(shownOfRun({ ...run, steps: 0 }, none, false)).toBeNull()
  })

  it('of a dump is of the nearest step and layer, and says so', () => {
    const groups = [3, 8].map((step) => ({
      step,
      layer: 1,
      dcpSize: 2,
      ranks: Int32Array.of(1),
      missing: Int32Array.of(0),
      bytes: 0,
      hasReference: false,
    }))
    const shown = shownOfDump('d', groups, { step: 4, layer: null, rank: null })
    expect(shown).toMatchObject({ source: { dump: 'd', step: 3, layer: 1, rank: 1 }, elsewhere: true })
    expect(shown === null ? '' : sourceText(shown)).toBe('step 3, layer 1, the nearest')
    expect(shownOfDump('d', [], none)).toBeNull()
  })
})

describe('facts of a cell', () => {
  const paging = { dcp: 2, interleave: 1, page: 4 }
  const cell: Cell = {
    rank: 1,
    request: 3,
    column: 2,
    kind: 'partial',
    page: 7,
    valid: 1,
    taken: 5,
    globalLen: 18,
    newest: 17,
    newestSlot: 28,
    writtenSlot: 29,
  }

  it('say tokens, slots, and where the newest token went', () => {
    expect(cellRows(cell, paging).map(({ label, copy, value }) => [label, copy ?? value])).toEqual([
      ['request', '3'],
      ['virtual page', '2'],
      ['its tokens', '16-17'],
      ['physical page', '7'],
      ['state', 'partly filled'],
      ['keys here', '1'],
      ['slots', '28-31'],
      ['taken at step', '5'],
      ['newest token', '17'],
      ['its slot here', '28'],
      ['written to', '29'],
    ])
  })

  it('say of a key that the rank counts beyond the end of the request only what was written there', () => {
    const beyond = { ...cell, globalLen: 17, newest: 16, writtenSlot: 28 }
    expect([0, 1].map((offset) => keyAt(beyond, offset, paging))).toEqual([16, null])
    expect(keyAt(cell, 0, paging)).toBe(17)
  })

  it('say no tokens or slots that are not there', () => {
    const labels = cellRows({ ...cell, page: -1, kind: 'unused', column: 9, taken: -1 }, paging).map(
      ({ label }) => label,
    )
    expect(labels).toEqual(['request', 'virtual page', 'physical page', 'state'])
    expect(cellRows({ ...cell, page: 7 }, null).map(({ label }) => label)).not.toContain('slots')
    expect([slotText(-1), slotText(Number.NaN), slotText(0)]).toEqual(['−1', '–', '0'])
  })

  it('give the first token of the rank, if it has one there', () => {
    expect(firstToken(cell, paging)).toBe(17)
    expect(firstToken({ ...cell, globalLen: 17 }, paging)).toBeNull()
    expect(firstToken(cell, null)).toBeNull()
    expect(firstToken({ ...cell, globalLen: Number.NaN }, paging)).toBeNull()
  })

  it('have words for every kind', () => {
    expect(Object.keys(KIND_WORDS).sort()).toEqual([...CELL_KINDS].sort())
  })
})

describe('the tokens of a virtual page', () => {
  it('follow each other where all are dealt out in one go', () => {
    const tokens = tokensOfColumn(3, { dcp: 2, interleave: 1, page: 4 })
    expect([tokens.count, tokens.at(0), tokens.at(7), tokens.placeOf(31), tokens.placeOf(32)]).toEqual([
      8,
      24,
      31,
      7,
      null,
    ])
  })

  it('are those that the ranks have there where tokens behind the prompt are dealt out anew', () => {
    fc.assert(
      fc.property(pagings, fc.nat(500), fc.nat(5), (paging, prompt, column) => {
        const anew = { ...paging, prompt }
        const tokens = tokensOfColumn(column, anew)
        const all = Array.from({ length: tokens.count }, (_, i) => tokens.at(i))
        expect(all).toEqual([...all].sort((a, b) => a - b))
        for (const [place, token] of all.entries()) {
          expect(columnOf(token, anew)).toBe(column)
          expect(tokens.placeOf(token)).toBe(place)
        }
      }),
    )
  })
})

test('shades tell neighbouring requests apart, and stay on the ramp', () => {
  const shade = (request: number) => shadeOf({ request, fill: 0, taken: 0 }, 'owner', null)
  for (let request = 0; request < 1000; request++) {
    expect(Math.abs(shade(request + 1) - shade(request))).toBeGreaterThan(0.2)
    expect(shade(request)).toBeGreaterThanOrEqual(0.2)
    expect(shade(request)).toBeLessThanOrEqual(0.8)
  }
  const age = (taken: number) => shadeOf({ request: 0, fill: 0, taken }, 'age', [0, 10])
  expect(age(10)).toBeGreaterThan(age(0))
  expect(shadeOf({ request: 0, fill: 1, taken: -1 }, 'fill', null)).toBeLessThanOrEqual(0.9)
})

test('colours are read however a style sheet writes them', () => {
  expect(rgbOf('#ffffff')).toEqual([255, 255, 255])
  expect(rgbOf('#fa0')).toEqual([255, 170, 0])
})
