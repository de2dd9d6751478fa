import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { StoreParams, StoreResult } from '../../../app/protocol/store.ts'
import type { Store } from '../../../main/store/store.ts'
import { freshStore } from './fresh-store.ts'
import { eventChunk, fakeEngine, pageChunk, type Scratch, spanChunk, stepChunk } from './sample.ts'

let scratch: Scratch
let store: Store
freshStore((opened, folder) => {
  store = opened
  scratch = folder
})

const METADATA = 0
const DECODE = 3
const REPLAY = 12

beforeEach(async () => {
  const engine = fakeEngine()
  store.attachEngine(engine.storeEnd)
  engine.begin(join(scratch.path, "it's [1].dcp"))
  for (const rank of [0, 1])
    engine.chunk(
      spanChunk(rank, [
        { start: 0, dur: 5, stage: METADATA, step: 0, layer: -1 },
        { start: 10, dur: 20 + rank, stage: DECODE, step: 0, layer: 0 },
        { start: 40, dur: 30 + rank, stage: DECODE, step: 1, layer: 1 },
        { start: 40, dur: 90, stage: REPLAY, step: 1, layer: -1 },
      ]),
    )
  for (const rank of [0, 1])
    engine.chunk(
      pageChunk(rank, [
        { step: 0, request: 1, column: 0, page: 5 },
        { step: 3, request: 1, column: 0, page: 5 },
        { step: 2, request: 0, column: 7, page: 5 },
        { step: 2, request: 0, column: 8, page: 6 },
      ]),
    )
  engine.chunk(stepChunk(0, 4, () => 0))
  engine.chunk(eventChunk(['Rank 1 holds no key', "It's NaN, 100 % of it", 'Rank 1 again']))
  engine.end()
  await engine.reply('closed')
})

const NOTHING: Omit<StoreParams<'find'>, 'run'> = {
  stages: [],
  page: null,
  words: [],
  step: null,
  layer: null,
  rank: null,
  request: null,
  limit: 30,
}

const find = (params: Partial<Omit<StoreParams<'find'>, 'run'>>): Promise<StoreResult<'find'>> =>
  store.request('find', { run: 'run-1', ...NOTHING, ...params })

describe('spans', () => {
  const durations = async (params: Parameters<typeof find>[0]): Promise<number[]> =>
    (await find(params)).spans.map(({ durNs }) => durNs)

  it('are those of the stages, the longest first, and no more than are wanted', async () => {
    expect(await durations({ stages: ['decode_attn'] })).toEqual([31, 30, 21, 20])
    expect(await durations({ stages: ['decode_attn', 'metadata'], limit: 5 })).toEqual([31, 30, 21, 20, 5])
    expect((await find({ stages: ['metadata'], rank: 1 })).spans).toEqual([
      { rank: 1, step: 0, layer: -1, stage: 'metadata', startNs: 0, durNs: 5, provenance: 'measured' },
    ])
  })

  it('are only those of the named step, layer and rank', async () => {
    expect(await durations({ stages: ['decode_attn'], step: 0 })).toEqual([21, 20])
    expect(await durations({ stages: ['decode_attn'], layer: 1, rank: 0 })).toEqual([30])
    expect(await durations({ stages: ['decode_attn'], rank: 7 })).toEqual([])
  })
})

describe('pages', () => {
  it('are the cells that ever had the page, by the step from which on, once for all ranks', async () => {
    expect((await find({ page: 5 })).pages).toEqual([
      { request: 1, column: 0, step: 0 },
      { request: 0, column: 7, step: 2 },
    ])
  })

  it('are those of the named request, and up to the named step', async () => {
    expect((await find({ page: 5, step: 1 })).pages).toHaveLength(1)
    expect((await find({ page: 5, request: 0 })).pages).toEqual([{ request: 0, column: 7, step: 2 }])
    expect((await find({ page: 99 })).pages).toEqual([])
  })
})

describe('events', () => {
  const messages = async (params: Parameters<typeof find>[0]): Promise<string[]> =>
    (await find(params)).events.map(({ message }) => message)

  it('are those that have all the words, whatever their case and characters', async () => {
    expect(await messages({ words: ['nan'] })).toEqual(["It's NaN, 100 % of it"])
    expect(await messages({ words: ["it's", '%'] })).toEqual(["It's NaN, 100 % of it"])
    expect(await messages({ words: ['%nan'] })).toEqual([])
    expect(await messages({ words: ['rank', 'AGAIN'] })).toEqual(['Rank 1 again'])
    expect(await messages({ words: ["' OR '1'='1"] })).toEqual([])
  })

  it('are found by kind and severity too, and all of them by their name', async () => {
    expect(await messages({ words: ['empty_rank'] })).toHaveLength(3)
    expect(await messages({ words: ['info'] })).toHaveLength(3)
    expect(await messages({ words: ['events'], step: 1 })).toEqual(["It's NaN, 100 % of it"])
    expect(await messages({ words: ['event'], request: 2 })).toEqual(['Rank 1 again'])
  })
})

it('nothing is found of what was not asked for, and what is not valid is refused', async () => {
  expect(await find({})).toEqual({ spans: [], pages: [], events: [], notes: [] })
  expect(await find({ step: 1, rank: 0 })).toEqual({ spans: [], pages: [], events: [], notes: [] })
  await expect(find({ page: -1 })).rejects.toThrow('find: page')
  await expect(find({ limit: 1e9 })).rejects.toThrow('find: limit')
})
