import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, it } from 'vitest'
import { storeMethods } from '../../../app/protocol/store.ts'
import { readManifest } from '../../../main/store/manifest-file.ts'
import type { Store } from '../../../main/store/store.ts'
import { freshStore } from './fresh-store.ts'
import {
  evenSpans,
  eventChunk,
  fakeEngine,
  pageChunk,
  rowChunk,
  type Scratch,
  spanChunk,
  stepChunk,
} from './sample.ts'

let scratch: Scratch
let store: Store
freshStore((opened, folder) => {
  store = opened
  scratch = folder
})

const bundle = (): string => join(scratch.path, 'a=b', "it's [1].dcp")

const written = async (): Promise<ReturnType<typeof fakeEngine>> => {
  const engine = fakeEngine()
  store.attachEngine(engine.storeEnd)
  engine.begin(bundle())
  for (const rank of [0, 1]) {
    engine.chunk(spanChunk(rank, [...evenSpans(1000), { start: 20_000, dur: 50, stage: 6, collective: 7 }]))
    engine.chunk(rowChunk(rank, 0, 0, 4))
    engine.chunk(
      pageChunk(rank, [
        { step: 0, request: 1, column: 0, page: 5 },
        { step: 0, request: 1, column: 2, page: 6 },
        { step: 4, request: 1, column: 0, page: 9 },
      ]),
    )
  }
  engine.chunk(stepChunk(0, 20, (n) => (n === 3 ? Number.NaN : n / 10_000)))
  engine.chunk(eventChunk(['zero', 'one', 'two "quoted" — ünïcode']))
  return engine
}

const readBack = async (sql: string): Promise<unknown> => {
  const duck = await DuckDBInstance.create(':memory:')
  const connection = await duck.connect()
  const reader = await connection.runAndReadAll(sql)
  return reader.getRowsJson()
}

const parquet = (table: string): string =>
  `read_parquet([${readdirSync(join(bundle(), table), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.parquet'))
    .map((name) => `'${join(bundle(), table, name).replaceAll("'", "''")}'`)
    .join(', ')}])`

describe('a bundle that was written', () => {
  it('is read by another DuckDB with the same values, text for codes and NULL for none', async () => {
    const engine = await written()
    engine.end()
    await engine.reply('closed')
    expect(
      await readBack(
        `SELECT count(*), sum(dur_ns), min(stage), count(collective_seq), count(enter_ns), min(last_enter_ns) FROM ${parquet('spans')}`,
      ),
    ).toEqual([['2002', '20100', 'decode_attn', '2', '2', '20005']])
    expect(await readBack(`SELECT count(max_rel_err), max(max_rel_err) FROM ${parquet('steps')}`)).toEqual([
      ['19', 0.0019],
    ])
    expect(await readBack(`SELECT message, kind, rank FROM ${parquet('events')} ORDER BY time_ns`)).toEqual([
      ['zero', 'empty_rank', null],
      ['one', 'empty_rank', null],
      ['two "quoted" — ünïcode', 'empty_rank', null],
    ])
  })

  it('keeps the rank in the path only', async () => {
    const engine = await written()
    engine.end()
    await engine.reply('closed')
    const file = join(bundle(), 'spans', 'rank=1', 'part-000001.parquet').replaceAll("'", "''")
    const names = await readBack(
      `SELECT list(name) FROM parquet_schema('${file}') WHERE num_children IS NULL`,
    )
    expect(JSON.stringify(names)).not.toContain('"rank"')
    expect(readdirSync(join(bundle(), 'steps'))).toEqual(['part-000001.parquet'])
  })

  it('ends with a manifest that carries the summary', async () => {
    const engine = await written()
    engine.end({ captureNotes: ['kv left out'], uncertaintyNs: 1234 })
    expect(await engine.reply('closed')).toMatchObject({ status: 'complete' })
    const manifest = readManifest(bundle())
    expect(manifest).toMatchObject({
      status: 'complete',
      captureNotes: ['kv left out'],
      clock: { uncertaintyNs: 1234 },
    })
    expect(manifest.writer).toBeUndefined()
    expect(manifest.summary).toMatchObject({
      device: 'cpu',
      backend: 'native',
      ranks: 2,
      steps: 20,
      tokensPerSecond: expect.closeTo(4000, 6),
      stepMs: { p50: 1, p95: 1 },
      check: { checkedRows: 60, maxRelErr: 0.0019, nanRows: 2, emptyRows: 2, tolerance: 0.01, ok: true },
      dropped: 0,
    })
    expect(manifest.summary?.stages.kv_append).toEqual({ p50Us: 0.01, p95Us: 0.01 })
    expect(readdirSync(bundle()).sort()).toEqual(['events', 'pages', 'rows', 'run.json', 'spans', 'steps'])
  })

  it('answers every method in the shape of the protocol', async () => {
    const engine = await written()
    engine.end()
    await engine.reply('closed')
    const run = 'run-1'
    const info = storeMethods.runInfo.result.parse(await store.request('runInfo', { run }))
    expect(info).toMatchObject({
      steps: 20,
      ranks: 2,
      startNs: 0,
      endNs: 20_050,
      spanCount: 2002,
      captures: [],
    })
    const tile = storeMethods.spanTile.result.parse(
      await store.request('spanTile', { run, ranks: [1, 0, 1], startNs: 0, endNs: 1000, buckets: 10 }),
    )
    expect([...tile.rank]).toEqual([...Array(10).fill(0), ...Array(10).fill(1)])
    expect([...tile.count]).toEqual(Array(20).fill(10))
    expect([...tile.busy]).toEqual(Array(20).fill(100))
    const span = storeMethods.spanAt.result.parse(
      await store.request('spanAt', { run, rank: 1, atNs: 20_010 }),
    )
    expect(span).toEqual({
      step: 0,
      layer: 0,
      stage: 6,
      startNs: 20_000,
      durNs: 50,
      bytes: 500,
      flops: 5000,
      collectiveSeq: 7,
      enterNs: 20_000,
      lastEnterNs: 20_005,
      provenance: 'measured',
    })
    expect(await store.request('spanAt', { run, rank: 1, atNs: 15_000 })).toBeNull()
    const steps = storeMethods.steps.result.parse(await store.request('steps', { run, from: 0, max: 5 }))
    expect([...steps.step]).toEqual([0, 4, 8, 12, 16])
    const late = await store.request('steps', { run, from: 3, max: 100 })
    expect(late.step).toHaveLength(17)
    expect(late.maxRelErr[0]).toBeNaN()
    const stages = storeMethods.stages.result.parse(await store.request('stages', { run }))
    expect(stages.reduce((sum, s) => sum + s.share, 0)).toBeCloseTo(1)
    expect(stages.find((s) => s.stage === 'lse_all_gather')?.waitShare).toBeCloseTo(10 / 20_100)
    const table = async (step: number): Promise<number[]> => [
      ...storeMethods.blockTable.result.parse(await store.request('blockTable', { run, step, request: 1 }))
        .pages,
    ]
    expect(await table(3)).toEqual([5, -1, 6])
    expect(await table(4)).toEqual([9, -1, 6])
    expect(await store.request('blockTable', { run, step: 0, request: 0 })).toEqual({
      pages: new Int32Array(),
    })
    const rows = storeMethods.rows.result.parse(await store.request('rows', { run, step: 0, layer: 0 }))
    expect([...rows.rank]).toEqual([0, 0, 0, 0, 1, 1, 1, 1])
    expect([...rows.empty]).toEqual([1, 0, 0, 0, 1, 0, 0, 0])
    expect(rows.lseMin[0]).toBe(Number.NEGATIVE_INFINITY)
    const events = storeMethods.events.result.parse(await store.request('events', { run, limit: 2 }))
    expect(events.map((e) => e.message)).toEqual(['one', 'two "quoted" — ünïcode'])
    const query = storeMethods.query.result.parse(
      await store.request('query', {
        run,
        sql: 'SELECT rank, count(*) AS n FROM spans GROUP BY ALL ORDER BY 1',
        limit: 9,
      }),
    )
    expect(query).toEqual({
      columns: ['rank', 'n'],
      rows: [
        [0, 1001],
        [1, 1001],
      ],
      truncated: false,
    })
  })
})
