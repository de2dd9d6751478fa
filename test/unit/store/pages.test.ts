import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CELL_KINDS } from '../../../app/pages/page-table.ts'
import {
  MAX_PAGE_USERS,
  type PageSource,
  type StoreParams,
  type StoreResult,
  storeMethods,
} from '../../../app/protocol/store.ts'
import type { TraceChunk } from '../../../app/trace/tables.ts'
import type { Store } from '../../../main/store/store.ts'
import { dumpBytes, ints, type Tensors } from '../dump/dump-file.ts'
import { freshStore } from './fresh-store.ts'
import { fakeEngine, type Scratch, sampleConfig, sampleManifest, stepChunk } from './sample.ts'

let scratch: Scratch
let store: Store
freshStore((opened, folder) => {
  store = opened
  scratch = folder
})

const summary = async (source: PageSource): Promise<StoreResult<'pageSummary'>> =>
  storeMethods.pageSummary.result.parse(await store.request('pageSummary', { source }))

const cells = async (
  source: PageSource,
  window: Partial<StoreParams<'pageCells'>> = {},
): Promise<StoreResult<'pageCells'>> =>
  storeMethods.pageCells.result.parse(
    await store.request('pageCells', {
      source,
      requestFrom: 0,
      requests: 8,
      columnFrom: 0,
      marks: 4,
      perMark: 1,
      ...window,
    }),
  )

const kinds = ({ kind }: { readonly kind: Uint8Array }): string[] =>
  [...kind].map((code) => CELL_KINDS[code] ?? '?')

const states = ({ checks }: StoreResult<'pageSummary'>): Record<string, string> =>
  Object.fromEntries(checks.map(({ name, state }) => [name, state]))

/** Requests of 30 and 5 tokens on two ranks, in pages of 8: the first takes a third column at its second step, and the fourth. */
const CONFIG = sampleConfig({
  parallel: { tpSize: 2, dcpSize: 2 },
  cache: { pageSize: 8 },
  workload: { requests: [{ contextLen: 30 }, { contextLen: 5 }], steps: 4 },
})

const pagesChunk = (rank: number, rows: readonly (readonly number[])[]): TraceChunk => ({
  table: 'pages',
  rank,
  rows: rows.length,
  columns: Object.fromEntries(
    ['step', 'request', 'column', 'page', 'valid'].map((name, i) => [
      name,
      Int32Array.from(rows, (row) => row[i] ?? 0),
    ]),
  ),
})

const recordedRun = async (): Promise<void> => {
  const engine = fakeEngine()
  store.attachEngine(engine.storeEnd)
  engine.begin(join(scratch.path, 'a.dcp'), sampleManifest(CONFIG))
  engine.chunk(
    pagesChunk(0, [
      [0, 0, 0, 3, 8],
      [0, 0, 1, 0, 8],
      [0, 1, 0, 2, 3],
      [1, 1, 0, 2, 4],
      [2, 0, 2, 1, 1],
      [3, 1, 0, 2, 5],
    ]),
  )
  engine.chunk(
    pagesChunk(1, [
      [0, 0, 0, 3, 8],
      [0, 0, 1, 0, 7],
      [0, 1, 0, 2, 3],
      [1, 0, 1, 0, 8],
      [2, 0, 2, 1, 0],
      [2, 1, 0, 2, 4],
      [3, 0, 2, 1, 1],
    ]),
  )
  engine.chunk(stepChunk(0, 4, () => 0))
  engine.end()
  await engine.reply('closed')
}

describe('the block table of a run', () => {
  it('is the one of the step, with the pages that were taken until then', async () => {
    await recordedRun()
    const at = (step: number, rank: number): PageSource => ({ run: 'run-1', step, rank })
    const early = await summary(at(1, 0))
    expect([early.requests, early.widest, early.extent, early.poolPages, early.usedPages]).toEqual([
      2, 2, 4, 4, 3,
    ])
    expect(states(early)).toEqual({
      double: 'holds',
      outside: 'holds',
      missing: 'holds',
      width: 'holds',
      lengths: 'holds',
      slots: 'unknown',
    })
    expect(kinds(await cells(at(1, 0), { marks: 3 }))).toEqual([
      'full',
      'full',
      'absent',
      'partial',
      'absent',
      'absent',
    ])
    const late = await cells(at(2, 1), { marks: 3 })
    expect(kinds(late)).toEqual(['full', 'full', 'reserved', 'partial', 'absent', 'absent'])
    expect([...late.page]).toEqual([3, 0, 1, 2, -1, -1])
    expect([...late.taken]).toEqual([0, 0, 2, 0, -1, -1])
    expect([[...late.globalLen], [...late.localLen]]).toEqual([
      [33, 8],
      [16, 4],
    ])
    // Token 32 is rank 0's; token 7 is rank 1's, the fourth of page 2.
    expect([[...late.newest], [...late.newestSlot]]).toEqual([
      [32, 7],
      [-1, 19],
    ])
    expect((await summary(at(2, 1))).taken).toEqual([0, 2])
  })

  it('lies in the pool with owners, keys and ages', async () => {
    await recordedRun()
    const source: PageSource = { run: 'run-1', step: 3, rank: 0 }
    const map = storeMethods.poolMarks.result.parse(
      await store.request('poolMarks', { source, from: 0, marks: 4, perMark: 1 }),
    )
    expect([[...map.request], [...map.valid], [...map.taken]]).toEqual([
      [0, 0, 1, 0],
      [8, 1, 5, 8],
      [0, 2, 0, 0],
    ])
    expect(await store.request('pageUsers', { source, page: 2 })).toEqual({
      users: [{ request: 1, column: 0, kind: 'partial' }],
      more: 0,
    })
    expect(await store.request('pageUsers', { source, page: 77 })).toEqual({ users: [], more: 0 })
  })

  it('is refused for a rank or a run that is not there', async () => {
    await recordedRun()
    await expect(summary({ run: 'run-1', step: 0, rank: 2 })).rejects.toThrow(
      'the run has no rank 2, it has 2',
    )
    await expect(summary({ run: 'other', step: 0, rank: 0 })).rejects.toThrow('no such run')
  })
})

const folder = (): string => join(scratch.path, 'dump')

/** Two ranks, requests of 20 and 9 tokens in pages of 4, tables of five columns; what is behind the keys is stale. */
const rankTensors = (table: readonly number[], slots: readonly number[] | undefined): Tensors => ({
  lse: { shape: [2, 1] },
  seq_lens_global: ints([20, 9]),
  block_table: ints(table, [2, 5]),
  ...(slots === undefined ? {} : { slot_mapping: { shape: [2], dtype: 'I64', values: slots } }),
})

const dumped = async (
  ranks: readonly Tensors[],
  more: Readonly<Record<string, string>> = {},
): Promise<void> => {
  mkdirSync(folder())
  for (const [rank, tensors] of ranks.entries())
    writeFileSync(
      join(folder(), `rank${rank}.safetensors`),
      dumpBytes(tensors, { rank: String(rank), page_size: '4', ...more }),
    )
  await store.handle({ type: 'dump', id: 'd', paths: [folder()] })
}

const ofDump = (rank: number): PageSource => ({ dump: 'd', step: 3, layer: 0, rank })

describe('the block table of a dump', () => {
  it('has stale columns behind its keys, and the slots of new tokens', async () => {
    const table = [7, 5, 3, 9, -1, 4, 6, 4, 7, 7]
    await dumped([rankTensors(table, [-1, 24]), rankTensors(table, [13, -1])])
    const right = await summary(ofDump(1))
    expect([right.columns, right.poolPages, right.extent]).toEqual([5, null, 8])
    expect(states(right)).toMatchObject({
      double: 'holds',
      outside: 'unknown',
      missing: 'holds',
      width: 'holds',
      lengths: 'unknown',
      slots: 'holds',
    })
    expect(kinds(await cells(ofDump(0), { marks: 5 }))).toEqual([
      'full',
      'full',
      'partial',
      'stale',
      'unused',
      'full',
      'partial',
      'stale',
      'stale',
      'stale',
    ])
    const { newest, newestSlot, writtenSlot } = await cells(ofDump(0), { marks: 1 })
    expect([[...newest], [...newestSlot], [...writtenSlot]]).toEqual([
      [19, 8],
      [-1, 24],
      [-1, 24],
    ])
  })

  it('shows pages that two requests have, that are missing, and tokens that were written elsewhere', async () => {
    await dumped([
      rankTensors([7, 5, 3, 9, -1, 5, -1, 4, 7, 7], [-1, 24]),
      rankTensors([7, 5, 3, 9, -1, 4, 6, 4, 7, 7], [12, -1]),
    ])
    const { checks } = await summary(ofDump(0))
    expect(checks.filter(({ state }) => state === 'broken')).toMatchObject([
      { name: 'double', count: 2, first: { request: 0, column: 1 } },
      { name: 'missing', count: 1, first: { request: 1, column: 1 } },
    ])
    expect(kinds(await cells(ofDump(0), { marks: 5 })).slice(5, 7)).toEqual(['double', 'missing'])
    expect((await summary(ofDump(1))).checks.at(-1)).toMatchObject({
      name: 'slots',
      state: 'broken',
      detail: 'request 0 was written to slot 12, 13 is right',
    })
  })

  it('knows the pool where the cache is dumped as a whole', async () => {
    const table = [7, 5, 3, 9, -1, 4, 12, 4, 7, 7]
    await dumped([
      { ...rankTensors(table, undefined), kv: { shape: [10, 4, 2], dtype: 'F32' } },
      rankTensors(table, undefined),
    ])
    const { poolPages, extent, checks } = await summary(ofDump(0))
    expect([poolPages, extent]).toEqual([10, 10])
    // Without a slot mapping lengths say which token is the newest.
    const { newest, newestSlot, writtenSlot } = await cells(ofDump(0), { marks: 1 })
    expect([[...newest], [...newestSlot], [...writtenSlot]]).toEqual([
      [19, 8],
      [-1, 48],
      [Number.NaN, Number.NaN],
    ])
    expect(checks.find(({ name }) => name === 'outside')).toMatchObject({
      state: 'broken',
      count: 1,
      detail: 'request 1 has page 12 in column 1; the pool has 10 pages',
    })
  })

  it('bears ids that no pool can have', async () => {
    const huge = [7, 2 ** 31 - 1, 3, 9, -1, 4, 6, 4, 7, 7]
    await dumped([rankTensors(huge, undefined), rankTensors(huge, undefined)])
    const { extent } = await summary(ofDump(0))
    expect(extent).toBe(2 ** 31)
    const map = await store.request('poolMarks', { source: ofDump(0), from: 0, marks: 2, perMark: 2 ** 30 })
    expect([...map.used]).toEqual([4, 1])
    expect((await store.request('pageUsers', { source: ofDump(0), page: 2 ** 31 - 1 })).users).toHaveLength(1)
  })

  it('says in one line what is missing', async () => {
    await dumped([rankTensors([7, 5, 3, 9, -1, 4, 6, 4, 7, 7], undefined), { lse: { shape: [2, 1] } }])
    await expect(summary(ofDump(1))).rejects.toThrow(
      'the file of rank 1 has no block_table; record it, with seq_lens_global, to see pages',
    )
    await expect(summary({ ...ofDump(0), layer: 5 })).rejects.toThrow('the dump has no step 3, layer 5')
  })

  it('is not told with more marks than a picture has', async () => {
    const requests = 64
    await dumped([0, 1].map(() => ({ block_table: ints(Array(requests).fill(2), [requests, 1]) })))
    await expect(cells(ofDump(0), { requests, marks: 4096 })).rejects.toThrow(
      'pageCells: at most 131072 marks, asked for 64 rows of 4096',
    )
  })

  it('is read anew when the dump is', async () => {
    const table = [7, 5, 3, 9, -1, 4, 6, 4, 7, 7]
    await dumped([rankTensors(table, undefined), rankTensors(table, undefined)])
    expect((await cells(ofDump(0))).page[0]).toBe(7)
    writeFileSync(
      join(folder(), 'rank0.safetensors'),
      dumpBytes(rankTensors([1, ...table.slice(1)], undefined), { rank: '0', page_size: '4' }),
    )
    await store.request('dumpInfo', { dump: 'd' })
    expect((await cells(ofDump(0))).page[0]).toBe(1)
  })

  it('tells at most so many cells of one page', async () => {
    const columns = 100
    await dumped(
      [0, 1].map(() => ({
        seq_lens_global: ints([columns * 8]),
        block_table: ints(Array(columns).fill(2), [1, columns]),
      })),
    )
    const { users, more } = await store.request('pageUsers', { source: ofDump(0), page: 2 })
    expect([users.length, more]).toEqual([MAX_PAGE_USERS, columns - MAX_PAGE_USERS])
  })
})
