import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Dtype, encodeHeader } from '../../../app/dump/safetensors.ts'
import { DUMP_FORMAT } from '../../../app/dump/schema.ts'
import { storeMethods } from '../../../app/protocol/store.ts'
import { readManifest } from '../../../main/store/manifest-file.ts'
import type { Store } from '../../../main/store/store.ts'
import { freshStore } from './fresh-store.ts'
import { fakeEngine, rowChunk, type Scratch, sampleConfig, sampleManifest, stepChunk } from './sample.ts'

const [T, H, W, RANKS] = [3, 4, 8, 2]

let scratch: Scratch
let store: Store
freshStore((opened, folder) => {
  store = opened
  scratch = folder
})
const bundle = (): string => join(scratch.path, 'run.dcp')

interface Tensor {
  readonly name: string
  readonly shape: readonly number[]
  readonly values: readonly number[]
  readonly dtype: Extract<Dtype, 'F32' | 'F64' | 'BF16'>
}

const dataOf = ({ dtype, values }: Tensor): Uint8Array => {
  if (dtype === 'F64') return new Uint8Array(Float64Array.from(values).buffer)
  const f32 = Float32Array.from(values)
  if (dtype === 'F32') return new Uint8Array(f32.buffer)
  // The upper half of each float32.
  const halves = new Uint16Array(f32.buffer).filter((_, i) => i % 2 === 1)
  return new Uint8Array(halves.buffer)
}

const file = (rank: number | 'reference', tensors: readonly Tensor[]): Uint8Array => {
  const header = encodeHeader(tensors, {
    format: DUMP_FORMAT,
    rank: String(rank),
    dcp_size: String(RANKS),
    step: '5',
    layer: '1',
  })
  return Buffer.concat([header, ...tensors.map(dataOf)])
}

/** A value that tells where it is from and that bf16 holds exactly. */
const partial = (rank: number, t: number, h: number, w: number): number =>
  rank * 64 + t * 16 + h * 4 + (w % 4)
const merged = (t: number, h: number, w: number): number => t * 32 + h * 8 + w
const grid = (rows: number, heads: number, value: (t: number, h: number, w: number) => number): number[] =>
  Array.from({ length: rows * heads * W }, (_, i) =>
    value(Math.floor(i / (heads * W)), Math.floor(i / W) % heads, i % W),
  )

const rankFile = (rank: number): Uint8Array =>
  file(rank, [
    { name: 'out', dtype: 'BF16', shape: [T, H, W], values: grid(T, H, (t, h, w) => partial(rank, t, h, w)) },
    {
      name: 'lse',
      dtype: 'F32',
      shape: [T, H],
      values: Array.from({ length: T * H }, (_, i) =>
        rank === 1 && i === 0 ? Number.NEGATIVE_INFINITY : rank + i,
      ),
    },
    {
      name: 'merged',
      dtype: 'F32',
      shape: [T, H / RANKS, W],
      values: grid(T, H / RANKS, (t, h, w) => merged(t, (rank * H) / RANKS + h, w)),
    },
  ])

const referenceFile = (): Uint8Array =>
  file('reference', [
    // Row 2 is twice what was merged: a relative error of one half.
    {
      name: 'out',
      dtype: 'F64',
      shape: [T, H, W],
      values: grid(T, H, (t, h, w) => merged(t, h, w) * (t === 2 ? 2 : 1)),
    },
    { name: 'lse', dtype: 'F64', shape: [T, H], values: Array.from({ length: T * H }, (_, i) => i / 3) },
  ])

type Engine = ReturnType<typeof fakeEngine>

const begun = (): Engine => {
  const engine = fakeEngine()
  store.attachEngine(engine.storeEnd)
  engine.begin(bundle(), sampleManifest(sampleConfig({ engine: { lseBase: '2' } })))
  for (let rank = 0; rank < RANKS; rank++) engine.chunk(rowChunk(rank, 5, 1, T))
  return engine
}

/** Sends a file in pieces of 100 bytes; without the last when `whole` is false. */
const sendFile = (engine: Engine, name: string, bytes: Uint8Array, whole = true): void => {
  for (let offset = 0; offset < bytes.length; offset += 100) {
    const data = bytes.slice(offset, offset + 100)
    const last = offset + data.length === bytes.length
    if (last && !whole) return
    engine.send({
      type: 'file',
      runId: 'run-1',
      bytes: data.length,
      file: `tensors/step=5/layer=1/${name}.safetensors`,
      offset,
      data,
      last,
    })
  }
}

const captured = async (reference: boolean): Promise<void> => {
  const engine = begun()
  for (let rank = 0; rank < RANKS; rank++) sendFile(engine, `rank=${rank}`, rankFile(rank))
  if (reference) sendFile(engine, 'reference', referenceFile())
  engine.end()
  await engine.reply('closed')
}

const ref = { run: 'run-1', step: 5, layer: 1 }

describe('a captured step and layer', () => {
  it('is listed and told with its shape and errors', async () => {
    await captured(true)
    expect(await store.request('runInfo', { run: 'run-1' })).toMatchObject({
      captures: [{ step: 5, layer: 1 }],
    })
    const capture = storeMethods.capture.result.parse(await store.request('capture', ref))
    expect(capture).toMatchObject({
      rows: T,
      heads: H,
      ranks: RANKS,
      width: W,
      lseBase: '2',
      hasReference: true,
    })
    expect([...capture.request]).toEqual([0, 1, 2])
    expect([...capture.visibleKeys]).toEqual([0, 50, 100, 0, 50, 100])
    expect([...capture.relErr].map((e) => Math.round(e * 1000))).toEqual([
      ...Array(2 * H).fill(0),
      ...Array(H).fill(500),
    ])
  })

  it('is listed during the run only when it is whole and its step is written', async () => {
    const engine = begun()
    const captures = async () => (await store.request('runInfo', { run: 'run-1' })).captures
    sendFile(engine, 'rank=0', rankFile(0))
    sendFile(engine, 'rank=1', rankFile(1))
    engine.chunk(stepChunk(0, 6, () => 0))
    const stepsWritten = async () => (await store.request('runInfo', { run: 'run-1' })).steps
    await expect.poll(stepsWritten, { timeout: 20_000 }).toBe(6)
    expect(await captures()).toEqual([])
    sendFile(engine, 'reference', referenceFile())
    await expect.poll(captures).toEqual([{ step: 5, layer: 1 }])
  })

  it('gives everything that the merge of one row and head saw', async () => {
    await captured(true)
    const row = storeMethods.mergeRow.result.parse(
      await store.request('mergeRow', { ...ref, row: 1, head: 3 }),
    )
    expect([...row.lse]).toEqual([7, 8])
    expect([...row.out]).toEqual(
      [0, 1].flatMap((rank) => Array.from({ length: W }, (_, w) => partial(rank, 1, 3, w))),
    )
    expect([...row.merged]).toEqual(Array.from({ length: W }, (_, w) => merged(1, 3, w)))
    expect(row.mergedRank).toBe(1)
    expect([...(row.reference ?? [])]).toEqual(Array.from({ length: W }, (_, w) => merged(1, 3, w)))
    expect(row.referenceLse).toBeCloseTo(7 / 3)
    const first = await store.request('mergeRow', { ...ref, row: 0, head: 0 })
    expect(first.lse[1]).toBe(Number.NEGATIVE_INFINITY)
    expect(first.mergedRank).toBe(0)
  })

  it('gives the lse of every rank, row and head', async () => {
    await captured(true)
    const { lse } = storeMethods.captureLse.result.parse(await store.request('captureLse', ref))
    const { rows, heads, ranks } = await store.request('capture', ref)
    expect(lse).toHaveLength(ranks * rows * heads)
    for (let row = 0; row < rows; row++)
      for (let head = 0; head < heads; head++) {
        const one = await store.request('mergeRow', { ...ref, row, head })
        expect([...one.lse]).toEqual([0, 1].map((rank) => lse[(rank * rows + row) * heads + head]))
      }
  })

  it('is whole without a reference', async () => {
    await captured(false)
    const capture = await store.request('capture', ref)
    expect(capture.hasReference).toBe(false)
    expect(capture.relErr.every(Number.isNaN)).toBe(true)
    expect(await store.request('mergeRow', { ...ref, row: 0, head: 0 })).toMatchObject({
      reference: null,
      referenceLse: null,
    })
  })

  it('refuses a row or head that is not there', async () => {
    await captured(false)
    await expect(store.request('mergeRow', { ...ref, row: 3, head: 0 })).rejects.toThrow(
      'row must be 0 to 2, got 3',
    )
    await expect(store.request('mergeRow', { ...ref, row: 0, head: -1 })).rejects.toThrow(
      'head must be 0 to 3, got -1',
    )
    await expect(store.request('capture', { ...ref, layer: 0 })).rejects.toThrow(
      'step 5, layer 0 was not captured',
    )
  })

  it('says which rank is missing', async () => {
    const engine = begun()
    sendFile(engine, 'rank=0', rankFile(0))
    engine.end()
    await engine.reply('closed')
    await expect(store.request('capture', ref)).rejects.toThrow('the capture of step 5, layer 1 lacks rank 1')
  })
})

describe('a file whose last piece never came', () => {
  it('is left out, and the manifest says so', async () => {
    const engine = begun()
    sendFile(engine, 'rank=0', rankFile(0), false)
    engine.end()
    await engine.reply('closed')
    expect(readdirSync(join(bundle(), 'tensors', 'step=5', 'layer=1'))).toEqual([])
    expect(readManifest(bundle()).captureNotes).toEqual([
      'tensors/step=5/layer=1/rank=0.safetensors: its last piece never came',
    ])
  })
})

describe('a piece of a file', () => {
  it('that does not follow the last one fails the run', async () => {
    const engine = begun()
    const piece = {
      type: 'file',
      runId: 'run-1',
      bytes: 1,
      file: 'tensors/step=5/layer=1/rank=0.safetensors',
      data: new Uint8Array(1),
      last: false,
    }
    engine.send({ ...piece, offset: 0 })
    engine.send({ ...piece, offset: 7 })
    expect((await engine.reply('failed')).error).toContain('is at 7 instead of 1')
  })

  it('cannot name a place outside of the tensors', async () => {
    const engine = begun()
    engine.send({
      type: 'file',
      runId: 'run-1',
      bytes: 1,
      file: '../../evil.safetensors',
      offset: 0,
      data: new Uint8Array(1),
      last: true,
    })
    await engine.reply('failed')
    expect(existsSync(join(scratch.path, '..', 'evil.safetensors'))).toBe(false)
  })
})
