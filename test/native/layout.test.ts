import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { localIndex, localLengths, owner } from '../../app/dcp/ownership.ts'
import { columnOf, pageOffset, pagesNeeded, slotOf, validInColumn } from '../../app/dcp/pages.ts'
import { visibleKeys } from '../../app/dcp/visible.ts'
import { addon, at, captureOf, finish, rowsOf, smallConfig, thrown, valuesOf } from './engine.ts'

const paging = fc
  .record({ dcp: fc.integer({ min: 1, max: 16 }), interleave: fc.integer({ min: 1, max: 64 }) })
  .chain(({ dcp, interleave }) =>
    fc
      .integer({ min: 1, max: 4 })
      .map((pages) => ({ dcp, interleave, page: Math.min(interleave * pages, 1024) })),
  )

describe('the layout of the native engine against app/dcp', () => {
  it('agrees on owner, local index, column and offset of every token', () => {
    fc.assert(
      fc.property(paging, fc.integer({ min: 0, max: 3000 }), (p, len) => {
        const native = addon.layout(len, p.dcp, p.interleave, p.page, 1)
        const tokens = Array.from({ length: len }, (_, t) => t)
        expect([...native.owner]).toEqual(tokens.map((t) => owner(t, p)))
        expect([...native.localIndex]).toEqual(tokens.map((t) => localIndex(t, p)))
        expect([...native.column]).toEqual(tokens.map((t) => columnOf(t, p)))
        expect([...native.offset]).toEqual(tokens.map((t) => pageOffset(t, p)))
      }),
      { numRuns: 60 },
    )
  })

  it('agrees on local lengths, columns and the visible keys of every query row', () => {
    fc.assert(
      fc.property(
        paging,
        fc.integer({ min: 0, max: 10_000 }),
        fc.integer({ min: 1, max: 8 }),
        (p, len, qLen) => {
          const native = addon.layout(len, p.dcp, p.interleave, p.page, qLen)
          expect([...native.localLens]).toEqual(localLengths(len, p))
          expect(native.columns).toBe(pagesNeeded(len, p))
          const expected = Array.from({ length: p.dcp * qLen }, (_, i) =>
            visibleKeys(len, qLen, i % qLen, Math.floor(i / qLen), p),
          )
          expect([...native.visibleKeys]).toEqual(expected)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('refuses what is out of range by the name of the argument', () => {
    expect(thrown(() => addon.layout(10, 0, 1, 8, 1))).toMatch(
      /^ERR_CONFIG: ranks: must be 1 to 1024, got 0$/,
    )
    expect(thrown(() => addon.layout(1.5, 1, 1, 8, 1))).toMatch(/^ERR_CONFIG: len: must be a whole number$/)
  })
})

describe('pages and slots of a run', () => {
  const config = smallConfig({ ranks: 3, heads: 3, interleave: 2, qLen: 3, acceptedPerStep: 2, steps: 12 })
  const p = { dcp: config.ranks, interleave: config.interleave, page: config.pageSize }
  const length = (request: number, step: number): number =>
    at(config.contextLens, request) + step * config.acceptedPerStep + config.qLen

  it('tells after every step how many tokens each page holds, in changes only', async () => {
    const run = await finish({ ...config, shuffledPages: true })
    const ids = new Map<string, number>()
    for (let rank = 0; rank < config.ranks; rank++) {
      const changes = rowsOf(run.chunks, 'pages', rank)
      const cells = new Map<string, number>()
      for (let step = 0; step < config.steps; step++) {
        for (const row of changes.filter((r) => r.step === step)) {
          const cell = `${row.request}/${row.column}`
          expect(cells.get(cell)).not.toBe(row.valid)
          cells.set(cell, row.valid ?? -1)
          expect(ids.get(cell) ?? row.page).toBe(row.page)
          ids.set(cell, row.page ?? -1)
        }
        config.contextLens.forEach((_, request) => {
          const len = length(request, step)
          for (let column = 0; column < pagesNeeded(len, p); column++)
            expect(cells.get(`${request}/${column}`)).toBe(validInColumn(len, rank, column, p))
        })
      }
    }
    expect(new Set(ids.values()).size).toBe(ids.size)
  })

  it('takes pages in order or shuffled, from a pool of the size that the run needs', async () => {
    const pages = async (shuffledPages: boolean): Promise<number[]> => {
      const run = await finish({ ...config, shuffledPages })
      return rowsOf(run.chunks, 'pages', 0)
        .filter((row) => row.step === 0)
        .map((row) => row.page ?? -1)
    }
    const [ordered, shuffled] = [await pages(false), await pages(true)]
    expect(ordered).not.toEqual(shuffled)
    expect(Math.max(...shuffled)).toBeLessThan(
      config.contextLens.reduce((n, _, r) => n + pagesNeeded(length(r, config.steps - 1), p), 0),
    )
  })

  it('captures slots that the new tokens went to, -1 on other ranks', async () => {
    const run = await finish({ ...config, captureSteps: [7], captureLayers: [1] })
    for (let rank = 0; rank < config.ranks; rank++) {
      const capture = captureOf(run, rank)
      const table = valuesOf(capture, 'block_table')
      const columns = table.length / config.contextLens.length
      const expected = config.contextLens.flatMap((_, request) =>
        [0, 1, 2].map((q) => {
          const t = length(request, 7) - config.qLen + q
          return slotOf(t, rank, at(table, request * columns + columnOf(t, p)), p)
        }),
      )
      expect([...valuesOf(capture, 'slot_mapping')]).toEqual(expected)
      const lengths = config.contextLens.map((_, request) => length(request, 7))
      expect([...valuesOf(capture, 'seq_lens_global')]).toEqual(lengths)
      expect([...valuesOf(capture, 'seq_lens_local')]).toEqual(
        lengths.map((len) => at(localLengths(len, p), rank)),
      )
    }
  })
})
