import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { localIndex, localLength, owner } from '../../../app/dcp/ownership.ts'
import {
  columnOf,
  localPages,
  NO_SLOT,
  pageOffset,
  pagesNeeded,
  slotOf,
  tableWidth,
  tokenAt,
  validInColumn,
  virtualPageTokens,
} from '../../../app/dcp/pages.ts'
import { lengths, pagings, upTo } from './arbitraries.ts'

describe('pages', () => {
  it('keep the part of a virtual page that a rank owns in one physical page', () => {
    fc.assert(
      fc.property(pagings, fc.nat(10_000), (paging, token) => {
        expect(columnOf(token, paging)).toBe(Math.floor(localIndex(token, paging) / paging.page))
        expect(
          tokenAt(owner(token, paging), columnOf(token, paging), pageOffset(token, paging), paging),
        ).toBe(token)
      }),
    )
  })

  it('give every token a slot of its own on its owner and none elsewhere', () => {
    fc.assert(
      fc.property(pagings, fc.integer({ min: 0, max: 1000 }), fc.nat(1000), (paging, len, seed) => {
        const width = tableWidth(len, paging)
        const table = upTo(width).map((column) => (column * 7919 + seed) % 100_003)
        const taken = new Set<string>()
        for (let t = 0; t < len; t++) {
          const page = table[columnOf(t, paging)] ?? 0
          const slots = upTo(paging.dcp).map((rank) => slotOf(t, rank, page, paging))
          const holders = upTo(paging.dcp).filter((rank) => slots[rank] !== NO_SLOT)
          if (holders.length === 1 && holders[0] === owner(t, paging))
            taken.add(`${holders[0]}:${slots[holders[0] ?? -1]}`)
        }
        expect(taken.size).toBe(len)
      }),
      { numRuns: 40 },
    )
  })

  it('are as many on every rank as virtual pages begin, of which a rank fills the first localPages', () => {
    fc.assert(
      fc.property(pagings, lengths, (paging, len) => {
        expect(pagesNeeded(len, paging)).toBe(Math.ceil(len / (paging.page * paging.dcp)))
        expect(localPages(len, 0, paging)).toBe(pagesNeeded(len, paging))
        for (const rank of upTo(paging.dcp)) {
          const valid = upTo(pagesNeeded(len, paging)).map((c) => validInColumn(len, rank, c, paging))
          expect(valid.filter((v) => v > 0).length).toBe(localPages(len, rank, paging))
          expect(valid.reduce((a, b) => a + b, 0)).toBe(localLength(len, rank, paging))
        }
      }),
    )
  })

  it('cover page * dcp global tokens a column', () => {
    const paging = { dcp: 4, interleave: 16, page: 64 }
    expect(virtualPageTokens(paging)).toBe(256)
    expect([0, 255, 256].map((t) => columnOf(t, paging))).toEqual([0, 0, 1])
    expect([0, 1, 256, 257].map((len) => tableWidth(len, paging))).toEqual([0, 1, 1, 2])
  })

  it('refuse an interleave that does not divide the page', () => {
    expect(() => columnOf(0, { dcp: 4, interleave: 48, page: 64 })).toThrow(
      'interleave must divide page (64), got 48',
    )
  })

  it('refuse offsets beyond the page and negative page ids', () => {
    const paging = { dcp: 2, interleave: 1, page: 16 }
    expect(() => tokenAt(0, 0, 16, paging)).toThrow('offset must be a whole number from 0 to 15, got 16')
    expect(() => slotOf(0, 0, -1, paging)).toThrow('page must be a whole number from 0')
  })
})
