import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rowKind } from '../../../app/events/row-kinds.ts'
import { type EventFilter, storeMethods } from '../../../app/protocol/store.ts'
import { EVENT_KINDS, type EventKind, SEVERITIES, type Severity } from '../../../app/trace/stages.ts'
import type { TraceChunk } from '../../../app/trace/tables.ts'
import { interruptible, openDuck, plainRows, withConnection } from '../../../main/store/duck.ts'
import { ROW_KIND_SQL } from '../../../main/store/event-queries.ts'
import type { Store } from '../../../main/store/store.ts'
import { freshStore } from './fresh-store.ts'
import { fakeEngine, type Scratch, stepChunk } from './sample.ts'

let scratch: Scratch
let store: Store
freshStore((opened, folder) => {
  store = opened
  scratch = folder
})

interface SampleRow {
  readonly step: number
  readonly layer?: number
  readonly request: number
  readonly keys?: number
  readonly nan?: number
  readonly lse?: number
}

const NEUTRAL = Number.NEGATIVE_INFINITY

/** Rows of a rank's partials; without keys they are neutral unless they say otherwise. */
const rowsChunk = (rank: number, rows: readonly SampleRow[]): TraceChunk => {
  const i32 = (of: (row: SampleRow) => number): Int32Array => Int32Array.from(rows, of)
  const f32 = (of: (row: SampleRow) => number): Float32Array => Float32Array.from(rows, of)
  const keys = ({ keys: given }: SampleRow): number => given ?? 10
  const lse = (row: SampleRow): number => row.lse ?? (keys(row) === 0 ? NEUTRAL : 3)
  return {
    table: 'rows',
    rank,
    rows: rows.length,
    columns: {
      step: i32(({ step }) => step),
      layer: i32(({ layer }) => layer ?? 0),
      request: i32(({ request }) => request),
      q_index: i32(() => 0),
      global_len: i32(() => 100),
      local_len: i32(keys),
      visible_keys: i32(keys),
      empty: Uint8Array.from(rows, (row) => (keys(row) === 0 ? 1 : 0)),
      out_nan: i32(({ nan }) => nan ?? 0),
      out_inf: i32(() => 0),
      out_absmax: f32((row) => (keys(row) === 0 ? 0 : 1.5)),
      lse_nan: i32(() => 0),
      lse_min: f32(lse),
      lse_max: f32(lse),
    },
  }
}

interface SampleEvent {
  readonly step: number
  readonly kind: EventKind
  readonly severity: Severity
  readonly rank?: number
  readonly layer?: number
  readonly request?: number
  readonly row?: number
  readonly value?: number
}

const eventsChunk = (events: readonly SampleEvent[]): TraceChunk => ({
  table: 'events',
  rank: -1,
  rows: events.length,
  columns: {
    step: Int32Array.from(events, ({ step }) => step),
    layer: Int32Array.from(events, ({ layer }) => layer ?? -1),
    rank: Int32Array.from(events, ({ rank }) => rank ?? -1),
    request: Int32Array.from(events, ({ request }) => request ?? -1),
    time_ns: BigInt64Array.from(events, ({ step }) => BigInt(step * 1_000_000)),
    kind: Uint8Array.from(events, ({ kind }) => EVENT_KINDS.indexOf(kind)),
    severity: Uint8Array.from(events, ({ severity }) => SEVERITIES.indexOf(severity)),
    message: events.map(({ kind, step }) => `${kind} of step ${step}.`),
    detail: events.map(({ row, value }) =>
      JSON.stringify({ ...(row === undefined ? {} : { row }), value: value ?? 1 }),
    ),
  },
})

const ALL: EventFilter = {
  level: 'events',
  kinds: [],
  rank: null,
  layer: null,
  request: null,
  fromStep: null,
  toStep: null,
}

const RUN = 'run-1'

/** A run of 100 steps in which rank 1 turns NaN in request 2 of layer 1 at step 40, and of both layers from 41 on. */
const written = async (): Promise<void> => {
  const engine = fakeEngine(RUN)
  store.attachEngine(engine.storeEnd)
  engine.begin(join(scratch.path, 'a.dcp'))
  engine.chunk(stepChunk(0, 100, () => 1e-4))
  const steps = Array.from({ length: 100 }, (_, step) => step)
  engine.chunk(
    rowsChunk(
      0,
      steps.flatMap((step) => [
        { step, request: 0 },
        { step, request: 1, keys: 0, lse: step < 10 ? Number.POSITIVE_INFINITY : NEUTRAL },
      ]),
    ),
  )
  engine.chunk(
    rowsChunk(
      1,
      steps.flatMap((step) =>
        [0, 1].map((layer) => ({
          step,
          layer,
          request: 2,
          nan: step > 40 || (step === 40 && layer === 1) ? 7 : 0,
        })),
      ),
    ),
  )
  engine.chunk(
    eventsChunk([
      { step: 0, kind: 'empty_rank', severity: 'info', rank: 0, request: 1 },
      ...steps
        .filter((step) => step >= 40)
        .flatMap((step): SampleEvent[] => [
          {
            step,
            kind: 'nan_in_partial',
            severity: 'error',
            rank: 1,
            layer: step === 40 ? 1 : 0,
            request: 2,
            row: 2,
          },
          {
            step,
            kind: 'nan_in_merged',
            severity: 'error',
            rank: 0,
            layer: step === 40 ? 1 : 0,
            request: 2,
            row: 2,
            value: 64,
          },
        ]),
    ]),
  )
  engine.end()
  await engine.reply('closed')
}

describe('events of a run', () => {
  it('are grouped with counts and the steps that they lie in', async () => {
    await written()
    const groups = storeMethods.eventGroups.result.parse(
      await store.request('eventGroups', { run: RUN, filter: ALL, by: 'kind' }),
    )
    expect(groups).toEqual({
      total: 121,
      groups: 3,
      list: [
        { key: 'nan_in_merged', severity: 'error', count: 60, steps: 60, firstStep: 40, lastStep: 99 },
        { key: 'nan_in_partial', severity: 'error', count: 60, steps: 60, firstStep: 40, lastStep: 99 },
        { key: 'empty_rank', severity: 'info', count: 1, steps: 1, firstStep: 0, lastStep: 0 },
      ],
    })
    const layers = await store.request('eventGroups', { run: RUN, filter: ALL, by: 'layer' })
    expect(layers.list.map(({ key, count }) => [key, count])).toEqual([
      [-1, 1],
      [0, 118],
      [1, 2],
    ])
  })

  it('are filtered by kind, place and steps', async () => {
    await written()
    const count = async (filter: Partial<EventFilter>): Promise<number> =>
      (await store.request('eventGroups', { run: RUN, filter: { ...ALL, ...filter }, by: 'step' })).total
    expect(await count({ kinds: ['nan_in_merged'] })).toBe(60)
    expect(await count({ rank: 1 })).toBe(60)
    expect(await count({ layer: -1 })).toBe(1)
    expect(await count({ request: 2, layer: 1 })).toBe(2)
    expect(await count({ fromStep: 50, toStep: 59 })).toBe(20)
    expect(await count({ kinds: ["'; DROP TABLE events"] })).toBe(0)
  })

  it('are read in pages, in order, with the query row that they name', async () => {
    await written()
    const page = storeMethods.eventRows.result.parse(
      await store.request('eventRows', {
        run: RUN,
        filter: { ...ALL, kinds: ['nan_in_merged'] },
        from: 10,
        max: 2,
      }),
    )
    expect(page.map(({ step, qIndex, request }) => [step, qIndex, request])).toEqual([
      [50, 0, 2],
      [51, 0, 2],
    ])
    expect(page[0]).toMatchObject({
      message: 'nan_in_merged of step 50.',
      timeNs: 50_000_000,
      severity: 'error',
    })
  })

  it('lie in parts of the steps, whatever steps the filter names', async () => {
    await written()
    const density = storeMethods.eventDensity.result.parse(
      await store.request('eventDensity', { run: RUN, filter: { ...ALL, fromStep: 99 }, buckets: 10 }),
    )
    expect(density).toMatchObject({ steps: 100, perBucket: 10 })
    expect([...density.error]).toEqual([0, 0, 0, 0, 20, 20, 20, 20, 20, 20])
    expect([...density.info]).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  })

  it('are nothing, and no error, of a run without any', async () => {
    const engine = fakeEngine(RUN)
    store.attachEngine(engine.storeEnd)
    engine.begin(join(scratch.path, 'b.dcp'))
    engine.end()
    await engine.reply('closed')
    expect(await store.request('eventGroups', { run: RUN, filter: ALL, by: 'rank' })).toEqual({
      total: 0,
      groups: 0,
      list: [],
    })
    expect((await store.request('eventDensity', { run: RUN, filter: ALL, buckets: 9 })).error).toHaveLength(0)
    expect((await store.request('firstCause', { run: RUN, buckets: 9 })).cause).toEqual({ kind: 'none' })
  })

  it('stop being looked for when nobody waits any more', async () => {
    const duck = await openDuck()
    const unwanted = new AbortController()
    const looked = withConnection(duck, (connection) =>
      interruptible(connection, unwanted.signal, () =>
        plainRows(connection, 'SELECT sum(a.range * b.range) AS n FROM range(1000000) a, range(1000000) b'),
      ),
    )
    setTimeout(() => unwanted.abort(), 100)
    await expect(looked).rejects.toThrow(/interrupt/i)
    duck.closeSync()
  })
})

describe('rows of partials', () => {
  const rows = (over: Partial<EventFilter> = {}): EventFilter => ({ ...ALL, level: 'rows', ...over })

  it('are those that are bad or empty, by what they are', async () => {
    await written()
    const { list } = await store.request('eventGroups', { run: RUN, filter: rows(), by: 'kind' })
    expect(list.map(({ key, severity, count }) => [key, severity, count])).toEqual([
      ['nan_in_row', 'error', 119],
      ['empty_row_left', 'warning', 10],
      ['empty_row', 'info', 90],
    ])
  })

  it('say their numbers in a sentence and in JSON', async () => {
    await written()
    const [bad] = await store.request('eventRows', {
      run: RUN,
      filter: rows({ kinds: ['nan_in_row'] }),
      from: 0,
      max: 1,
    })
    expect(bad).toMatchObject({ step: 40, layer: 1, rank: 1, request: 2, qIndex: 0, timeNs: null })
    expect(bad?.message).toBe('10 keys: 7 NaN values, largest |out| 1.5, lse 3.')
    const [left] = await store.request('eventRows', {
      run: RUN,
      filter: rows({ kinds: ['empty_row_left'] }),
      from: 0,
      max: 1,
    })
    expect(left?.message).toBe('No keys: largest |out| 0, lse ∞.')
    expect(JSON.parse(left?.detail ?? '')).toMatchObject({ visibleKeys: 0, lseMax: 'Infinity' })
  })

  it('have a kind that SQL and the app agree on', async () => {
    const duck = await openDuck()
    const value = fc.constantFrom(0, 0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)
    const stats = fc.record({
      empty: fc.boolean(),
      outNan: fc.nat(1),
      outInf: fc.nat(1),
      outAbsmax: fc.constantFrom(0, 1.5),
      lseNan: fc.nat(1),
      lseMax: value,
    })
    const sql = (x: number): string => `'${Number.isNaN(x) ? 'nan' : String(x)}'::FLOAT`
    try {
      await withConnection(duck, (connection) =>
        fc.assert(
          fc.asyncProperty(fc.array(stats, { minLength: 1, maxLength: 40 }), async (all) => {
            const values = all.map(
              (row, i) =>
                `(${i}, ${row.empty}, ${row.outNan}, ${row.outInf}, ${sql(row.outAbsmax)}, ${row.lseNan}, ${sql(row.lseMax)})`,
            )
            const found = await plainRows(
              connection,
              `SELECT ${ROW_KIND_SQL} AS kind FROM (VALUES ${values.join(', ')})
                 AS t(i, "empty", out_nan, out_inf, out_absmax, lse_nan, lse_max) ORDER BY i`,
            )
            expect(found.map(({ kind }) => kind)).toEqual(all.map(rowKind))
          }),
          { numRuns: 50 },
        ),
      )
    } finally {
      duck.closeSync()
    }
  })
})

describe('the first cause of a run', () => {
  it('is the partial that the first NaN row came from, with where else there are such', async () => {
    await written()
    const found = storeMethods.firstCause.result.parse(
      await store.request('firstCause', { run: RUN, buckets: 10 }),
    )
    expect(found.cause).toMatchObject({
      kind: 'partial',
      partials: [{ step: 40, layer: 1, rank: 1, request: 2, kind: 'nan_in_row', odd: 7 }],
      merged: { step: 40, layer: 1, kind: 'nan_in_merged', value: 64 },
      before: { step: 0, rank: 0, kind: 'empty_row_left' },
    })
    expect([...found.layers.layer]).toEqual([1])
    expect([...found.layers.mergedLayers]).toEqual([1])
    expect(found.layers.step).toBe(40)
    const { steps } = found
    expect(
      [...steps.bucket].map((bucket, i) => [bucket, steps.rank[i], steps.rows[i], steps.kind[i]]),
    ).toEqual([[0, 0, 10, 3], [4, 1, 19, 0], ...[5, 6, 7, 8, 9].map((bucket) => [bucket, 1, 20, 0])])
    expect([...steps.nanMerged]).toEqual([0, 0, 0, 0, 10, 10, 10, 10, 10, 10])
    expect(found.totals).toMatchObject({
      rows: 129,
      steps: 70,
      layers: 2,
      requests: 2,
      nanSteps: 60,
      offSteps: 0,
    })
    expect([...found.totals.ranks]).toEqual([0, 1])
  })
})
