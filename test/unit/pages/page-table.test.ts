import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { localLength } from '../../../app/dcp/ownership.ts'
import { tableWidth } from '../../../app/dcp/pages.ts'
import { pageChecks } from '../../../app/pages/checks.ts'
import { CELL_KINDS, PageTable } from '../../../app/pages/page-table.ts'
import { poolMarks, SEVERAL, tableMarks } from '../../../app/pages/windows.ts'
import { pagings } from '../dcp/arbitraries.ts'
import { lens, tableOf } from './tables.ts'

const kinds = (pages: PageTable, request: number, columns: number): string[] =>
  Array.from({ length: columns }, (_, column) => pages.kindOf(request, column))

describe('a cell of a block table', () => {
  it('is full, partly filled, reserved, stale or unused by the keys that its rank has there', () => {
    // 17 tokens on two ranks: rank 0 has 9 in 3 pages, rank 1 has 8 in 2, and the third virtual page has begun.
    const rows = [[5, 6, 7, 9, -1]]
    const more = { globalLens: lens(17), width: 5 }
    expect(kinds(new PageTable(tableOf(rows, more)), 0, 6)).toEqual([
      'full',
      'full',
      'partial',
      'stale',
      'unused',
      'absent',
    ])
    expect(kinds(new PageTable(tableOf(rows, { ...more, rank: 1 })), 0, 4)).toEqual([
      'full',
      'full',
      'reserved',
      'stale',
    ])
  })

  it('says nothing of keys where no length is known', () => {
    expect(kinds(new PageTable(tableOf([[5, -1]])), 0, 2)).toEqual(['listed', 'unused'])
  })

  it('follows the length that the kernel got, not the one that it should have', () => {
    const pages = new PageTable(tableOf([[5, 6, 7]], { globalLens: lens(17), localLens: lens(4) }))
    expect(kinds(pages, 0, 3)).toEqual(['full', 'reserved', 'reserved'])
  })

  it('is wrong without a page, with one outside of the pool, with one of another cell, and where there is no cell', () => {
    const pages = new PageTable(
      tableOf([[0, -1, 99, 3], [3], [1, 1]], { globalLens: lens(32, 16, 16), poolPages: 10, width: null }),
    )
    expect(kinds(pages, 0, 4)).toEqual(['full', 'missing', 'outside', 'double'])
    expect(kinds(pages, 1, 2)).toEqual(['double', 'cut'])
    expect(kinds(pages, 2, 2)).toEqual(['double', 'double'])
    expect(pages.usersOf(3)).toEqual([
      { request: 0, column: 3, kind: 'double' },
      { request: 1, column: 0, kind: 'double' },
    ])
  })

  it('follows how tokens are dealt out anew behind the prompt', () => {
    // Of 8 tokens rank 0 has 0, 2, 4 of the prompt of 5, then 5 and 7; rank 1 has 1, 3 and 6.
    const more = { globalLens: lens(8), prompts: [5], localLens: lens(5), width: 3 }
    const pages = new PageTable(tableOf([[7, 3, 9]], more))
    expect(kinds(pages, 0, 3)).toEqual(['full', 'partial', 'stale'])
    expect(pageChecks(pages).find(({ name }) => name === 'lengths')?.state).toBe('holds')
    const other = new PageTable(tableOf([[7, 3, 9]], { ...more, rank: 1, localLens: lens(3) }))
    expect(kinds(other, 0, 3)).toEqual(['partial', 'reserved', 'stale'])
    const written = { newTokens: { request: [0], token: [7] }, slots: [12] }
    const slots = pageChecks(new PageTable(tableOf([[7, 3, 9]], { ...more, ...written })))
    expect(slots.find(({ name }) => name === 'slots')?.state).toBe('holds')
  })

  it('means nothing in a row that only pads the batch', () => {
    const pages = new PageTable(tableOf([[3], [3]], { batch: 1, globalLens: lens(8, 1), width: 1 }))
    expect([pages.kindOf(0, 0), pages.kindOf(1, 0)]).toEqual(['full', 'stale'])
  })
})

/** Tables as an engine makes them: requests of given lengths, pages in a shuffled order. */
const rightTables = pagings.chain((paging) =>
  fc
    .record({
      lengths: fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 6 }),
      rank: fc.integer({ min: 0, max: paging.dcp - 1 }),
      stride: fc.constantFrom(1, 7, 11),
    })
    .map(({ lengths, rank, stride }) => {
      let next = 0
      const widths = lengths.map((length) => tableWidth(length, paging))
      const pool = widths.reduce((sum, own) => sum + own, 0) + 3
      // A stride that shares no factor with the pool visits each page once.
      const step = [stride, stride + 2, 1].find((one) => pool % one !== 0) ?? 1
      const rows = widths.map((own) => Array.from({ length: own }, () => (next++ * step) % pool))
      const table = tableOf(rows, {
        rank,
        sharding: { dcp: paging.dcp, interleave: paging.interleave },
        page: paging.page,
        globalLens: Float64Array.from(lengths),
        localLens: Float64Array.from(lengths, (length) => localLength(length, rank, paging)),
        poolPages: pool,
      })
      return { table, pool, unique: new Set(rows.flat()).size === rows.flat().length }
    }),
)

it('of what an engine makes every check holds, and keys of the cells add up to the local lengths', () => {
  fc.assert(
    fc.property(rightTables, ({ table, pool, unique }) => {
      fc.pre(unique)
      const pages = new PageTable(table)
      for (const { name, state } of pageChecks(pages))
        expect([name, state]).toEqual([name, name === 'slots' ? 'unknown' : 'holds'])
      const marks = Math.max(1, pages.widest)
      const { valid } = tableMarks(pages, {
        requestFrom: 0,
        requests: table.requests,
        columnFrom: 0,
        marks,
        perMark: 1,
      })
      const total = table.localLens?.reduce((sum, own) => sum + own, 0)
      expect(valid.reduce((sum, own) => sum + own, 0)).toBe(total)
      const map = poolMarks(pages, { from: 0, marks: pool, perMark: 1 })
      expect(map.valid.reduce((sum, own) => sum + own, 0)).toBe(total)
      expect(map.used.reduce((sum, own) => sum + own, 0)).toBe(pages.cells)
    }),
  )
})

describe('a part of the picture', () => {
  const pages = new PageTable(
    tableOf(
      [
        [0, 1, -1, 2],
        [4, 4],
      ],
      { globalLens: lens(32, 16), poolPages: 8, taken: Int32Array.of(0, 0, 0, 5, 1, 2) },
    ),
  )

  it('tells of several columns the one that matters most, and the sum of their keys', () => {
    const { kind, page, valid, taken } = tableMarks(pages, {
      requestFrom: 0,
      requests: 2,
      columnFrom: 0,
      marks: 2,
      perMark: 2,
    })
    expect([...kind].map((code) => CELL_KINDS[code])).toEqual(['full', 'missing', 'double', 'absent'])
    expect([...page]).toEqual([0, -1, 4, -1])
    expect([...valid]).toEqual([8, 8, 8, 0])
    expect([...taken]).toEqual([0, 0, 2, -1])
  })

  it('tells of several pages how many are in use, whose they are, and the worst', () => {
    const { request, used, kind, taken } = poolMarks(pages, { from: 0, marks: 3, perMark: 3 })
    expect([...request]).toEqual([0, 1, -1])
    expect([...used]).toEqual([3, 1, 0])
    expect([...kind].map((code) => CELL_KINDS[code])).toEqual(['full', 'double', 'absent'])
    expect([...taken]).toEqual([5, 2, -1])
    expect([...poolMarks(pages, { from: 0, marks: 1, perMark: 8 }).request]).toEqual([SEVERAL])
  })

  it('takes time for what is in view only', () => {
    const columns = 500_000
    const many = new PageTable(
      tableOf([Array.from({ length: columns }, (_, i) => columns - 1 - i)], {
        globalLens: lens(columns * 8),
      }),
    )
    let looked = 0
    many.eachUser(1000, 1010, () => looked++)
    expect(looked).toBe(10)
    expect(many.usersOf(0)).toEqual([{ request: 0, column: columns - 1, kind: 'full' }])
    expect(many.extent).toBe(columns)
  })
})

describe('what must hold of a block table', () => {
  const stateOf = (pages: PageTable) =>
    Object.fromEntries(
      pageChecks(pages).map(({ name, state, count, first }) => [name, { state, count, first }]),
    )

  it('names the first cell that breaks it and counts the others', () => {
    const checks = stateOf(
      new PageTable(
        tableOf([[0, -1, 99, 3], [3, -1], [7]], {
          globalLens: lens(32, 16, 16),
          poolPages: 10,
          localLens: lens(16, 8, 9),
        }),
      ),
    )
    expect(checks.double).toEqual({ state: 'broken', count: 2, first: { request: 0, column: 3 } })
    expect(checks.outside).toEqual({ state: 'broken', count: 1, first: { request: 0, column: 2 } })
    expect(checks.missing).toEqual({ state: 'broken', count: 4, first: { request: 0, column: 1 } })
    expect(checks.width).toEqual({ state: 'broken', count: 1, first: { request: 2, column: 1 } })
    expect(checks.lengths).toEqual({ state: 'broken', count: 1, first: { request: 2, column: 2 } })
  })

  it('says what both cells of a page are', () => {
    const [double] = pageChecks(new PageTable(tableOf([[6, 2], [2]], { globalLens: lens(16, 8) })))
    expect(double?.detail).toBe('page 2 is in column 1 of request 0 and in column 0 of request 1')
  })

  it('lets a table be wider than needed, and says by how much', () => {
    const pages = new PageTable(
      tableOf([[0, 1, -1, -1]], { globalLens: lens(16), localLens: lens(8), width: 4, maxLen: 24 }),
    )
    const width = pageChecks(pages).find(({ name }) => name === 'width')
    expect(width).toMatchObject({ state: 'holds', detail: '4 columns, 2 needed, 3 for max_len' })
  })

  it('says what is missing where it cannot tell', () => {
    const unknown = pageChecks(new PageTable(tableOf([[0, 1]], { page: null })))
    expect(unknown.map(({ state }) => state)).toEqual(Array(6).fill('unknown'))
    expect(unknown[0]?.detail).toBe('needs the page size')
    const noPool = pageChecks(new PageTable(tableOf([[0]], { globalLens: lens(8) })))
    expect(noPool.find(({ name }) => name === 'outside')).toMatchObject({
      state: 'unknown',
      detail: 'needs the size of the pool',
    })
  })

  it('finds new tokens that were written elsewhere than the table says', () => {
    // Token 16 is rank 0's, in column 2 at offset 0; token 8 of the other request is too, in its column 1.
    const newTokens = { request: [0, 1], token: [16, 8] }
    const rows = [
      [5, 6, 7],
      [8, 9],
    ]
    const written = (slots: number[], rank = 0) =>
      pageChecks(new PageTable(tableOf(rows, { globalLens: lens(17, 9), newTokens, slots, rank }))).find(
        ({ name }) => name === 'slots',
      )
    expect(written([28, 36])?.state).toBe('holds')
    expect(written([-1, -1], 1)?.state).toBe('holds')
    expect(written([28, 40])).toMatchObject({
      state: 'broken',
      count: 1,
      first: { request: 1, column: 1 },
      detail: 'request 1 was written to slot 40, 36 is right',
    })
  })
})
