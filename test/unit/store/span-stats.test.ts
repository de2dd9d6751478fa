import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sharesOf } from '../../../app/trace/span-stats.ts'
import { STAGES } from '../../../app/trace/stages.ts'
import type { Store } from '../../../main/store/store.ts'
import { freshStore } from './fresh-store.ts'
import { fakeEngine, kernelChunk, type SampleSpan, type Scratch, spanChunk } from './sample.ts'

let scratch: Scratch
let store: Store
freshStore((opened, folder) => {
  store = opened
  scratch = folder
})

const run = 'run-1'
const ATTENTION = STAGES.indexOf('decode_attn')
const GATHER = STAGES.indexOf('lse_all_gather')
const REPLAY = STAGES.indexOf('graph_replay')

/** Two ranks: rank 1 has attention of twice the time; a replay contains the spans of rank 0. */
const RANK_0: readonly SampleSpan[] = [
  { start: 0, dur: 400, stage: REPLAY, layer: -1 },
  { start: 0, dur: 100, stage: ATTENTION },
  { start: 100, dur: 50, stage: GATHER, collective: 0 },
  { start: 200, dur: 200, stage: ATTENTION, provenance: 'scaled' },
]
const RANK_1: readonly SampleSpan[] = [
  { start: 0, dur: 200, stage: ATTENTION },
  { start: 200, dur: 400, stage: ATTENTION },
]

const written = async (): Promise<void> => {
  const engine = fakeEngine()
  store.attachEngine(engine.storeEnd)
  engine.begin(join(scratch.path, 'run.dcp'))
  engine.chunk(spanChunk(0, RANK_0))
  engine.chunk(spanChunk(1, RANK_1))
  engine.chunk(
    kernelChunk(0, [
      { start: 0, dur: 60, name: 'attend', stage: 'decode_attn', step: 0, layer: 0 },
      { start: 200, dur: 120, name: 'attend', stage: 'decode_attn', step: 0, layer: 0 },
      { start: 60, dur: 10, name: 'memset', stage: 'kv_append', step: 0, layer: 0, bytes: 8 },
    ]),
  )
  engine.end()
  await engine.reply('closed')
}

describe('statistics of spans', () => {
  it('count whole spans and sum the parts inside, by stage', async () => {
    await written()
    const { rows, groups } = await store.request('spanStats', {
      run,
      startNs: 50,
      endNs: 300,
      ranks: [0],
      by: 'stage',
    })
    expect(groups).toBe(3)
    expect(new Map(rows.map((row) => [row.key, row]))).toEqual(
      new Map([
        [
          'graph_replay',
          expect.objectContaining({ count: 1, sumNs: 250, minNs: 400, maxNs: 400, waitNs: 0 }),
        ],
        [
          'decode_attn',
          {
            key: 'decode_attn',
            count: 2,
            sumNs: 50 + 100,
            waitNs: 0,
            causedNs: null,
            minNs: 100,
            p50Ns: 150,
            p95Ns: 195,
            maxNs: 200,
            longest: { rank: 0, startNs: 200 },
            sources: ['measured', 'scaled'],
          },
        ],
        ['lse_all_gather', expect.objectContaining({ count: 1, sumNs: 50, waitNs: 5 })],
      ]),
    )
  })

  it('tell the slow rank by what it works, without what contains its spans', async () => {
    await written()
    const { rows } = await store.request('spanStats', {
      run,
      startNs: 0,
      endNs: 1000,
      ranks: [0, 1],
      by: 'rank',
    })
    expect(rows.map(({ key, sumNs, waitNs }) => [key, sumNs - waitNs])).toEqual([
      [1, 600],
      [0, 345],
    ])
  })

  it('tell the rank that made the others wait, by what they waited in collectives that it entered last', async () => {
    const engine = fakeEngine()
    store.attachEngine(engine.storeEnd)
    engine.begin(join(scratch.path, 'late.dcp'))
    const gather = (start: number, collective: number, lastEnter: number): SampleSpan => ({
      start,
      dur: lastEnter + 10 - start,
      stage: GATHER,
      collective,
      lastEnter,
    })
    engine.chunk(spanChunk(0, [gather(100, 0, 300), gather(500, 1, 500)]))
    engine.chunk(spanChunk(1, [gather(300, 0, 300), gather(450, 1, 500)]))
    engine.end()
    await engine.reply('closed')
    const asked = { run, startNs: 0, endNs: 1000, by: 'rank' } as const
    const { rows } = await store.request('spanStats', { ...asked, ranks: [0, 1] })
    expect(new Map(rows.map(({ key, causedNs }) => [key, causedNs]))).toEqual(
      new Map([
        [0, 50],
        [1, 200],
      ]),
    )
    // A rank that waited for one that is not asked for is not to blame for it.
    const alone = await store.request('spanStats', { ...asked, endNs: 400, ranks: [0] })
    expect(alone.rows.map(({ waitNs, causedNs }) => [waitNs, causedNs])).toEqual([[200, 0]])
  })

  it('are of recorded kernels by their names', async () => {
    await written()
    const asked = { run, startNs: 0, endNs: 1000, by: 'kernel' } as const
    const { rows } = await store.request('spanStats', { ...asked, ranks: [0, 1] })
    expect(rows.map(({ key, count, sumNs }) => [key, count, sumNs])).toEqual([
      ['attend', 2, 180],
      ['memset', 1, 10],
    ])
    expect(await store.request('spanStats', { ...asked, ranks: [1] })).toEqual({ rows: [], groups: 0 })
  })

  it('of nothing are nothing', async () => {
    await written()
    const none = { rows: [], groups: 0 }
    expect(await store.request('spanStats', { run, startNs: 5, endNs: 5, ranks: [0], by: 'stage' })).toEqual(
      none,
    )
    expect(await store.request('spanStats', { run, startNs: 0, endNs: 5, ranks: [], by: 'stage' })).toEqual(
      none,
    )
  })

  it('of parts that follow each other sum to that of the whole', async () => {
    await written()
    const sum = async (startNs: number, endNs: number): Promise<number> => {
      const { rows } = await store.request('spanStats', { run, startNs, endNs, ranks: [0, 1], by: 'rank' })
      return rows.reduce((total, row) => total + row.sumNs, 0)
    }
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 600 }), async (border) => {
        expect((await sum(0, border)) + (await sum(border, 600))).toBe(await sum(0, 600))
      }),
      { numRuns: 20 },
    )
  })
})

describe('shares', () => {
  const row = (key: string, sumNs: number) => ({
    key,
    count: 1,
    sumNs,
    waitNs: 0,
    causedNs: null,
    minNs: 0,
    p50Ns: 0,
    p95Ns: 0,
    maxNs: 0,
    longest: { rank: 0, startNs: 0 },
    sources: [],
  })
  it('add up to one without what contains others', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 1e9 }), { minLength: 1 }), (sums) => {
        const rows = [row('outer', 1e9), ...sums.map((sum, i) => row(`s${i}`, sum))]
        const [outer, ...others] = sharesOf(rows, (key) => key === 'outer')
        expect(outer).toBeNull()
        expect(others.reduce<number>((a, b) => a + (b ?? 0), 0)).toBeCloseTo(1, 9)
      }),
    )
  })
})
