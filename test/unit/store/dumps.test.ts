import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { storeMethods } from '../../../app/protocol/store.ts'
import { portPair } from '../../../main/process/port.ts'
import type { Store } from '../../../main/store/store.ts'
import { dumpBytes, ints, type Tensors } from '../dump/dump-file.ts'
import { freshStore } from './fresh-store.ts'
import type { Scratch } from './sample.ts'

let scratch: Scratch
let store: Store
freshStore((opened, folder) => {
  store = opened
  scratch = folder
})

const [T, H, W, C] = [4, 4, 6, 2]

const tensorsOf = (rank: number): Tensors => ({
  out: { shape: [T, H, W], values: Array.from({ length: T * H * W }, (_, i) => rank * 1000 + i) },
  lse: {
    shape: [T, H],
    values: Array.from({ length: T * H }, (_, i) => (rank === 1 && i === 0 ? Number.NEGATIVE_INFINITY : i)),
  },
  merged: { shape: [T, H / C, W], values: Array.from({ length: (T * H * W) / C }, (_, i) => i - rank) },
  seq_lens_global: ints([9, 20]),
})

const folder = (): string => join(scratch.path, 'dump')

/** A dump of two ranks, and what is registered as `d`. */
const written = async (more: () => void = () => {}): Promise<void> => {
  mkdirSync(folder())
  for (const rank of [0, 1])
    writeFileSync(
      join(folder(), `rank${rank}.safetensors`),
      dumpBytes(tensorsOf(rank), { rank: String(rank), q_len: '2', page_size: '4', lse_base: 'e' }),
    )
  more()
  await store.handle({ type: 'dump', id: 'd', paths: [folder()] })
}

const REF = { dump: 'd', step: 3, layer: 0 }

describe('a dump in the store', () => {
  it('has its groups, and every file that cannot be used with its sentence, named from its folder', async () => {
    await written(() => writeFileSync(join(folder(), 'half.safetensors'), 'no dump'))
    const info = await store.request('dumpInfo', { dump: 'd' })
    expect(storeMethods.dumpInfo.result.safeParse(info).error).toBeUndefined()
    expect(info.groups).toMatchObject([{ step: 3, layer: 0, dcpSize: 2, hasReference: false }])
    expect([...(info.groups[0]?.ranks ?? [])]).toEqual([0, 1])
    expect(info.problems).toMatchObject([{ file: 'half.safetensors', refused: true }])
  })

  it('tells its files, questions, rows and lengths', async () => {
    await written()
    const group = await store.request('dumpGroup', REF)
    expect(storeMethods.dumpGroup.result.safeParse(group).error).toBeUndefined()
    expect(group.files.map(({ rank, firstKeptHead, file }) => [rank, firstKeptHead, file])).toEqual([
      [0, 0, 'rank0.safetensors'],
      [1, 2, 'rank1.safetensors'],
    ])
    expect([group.rows, group.heads]).toEqual([T, H])
    expect([...group.request]).toEqual([0, 0, 1, 1])
    expect([...(group.globalLens ?? [])]).toEqual([9, 20])
    const merge = group.questions.find(({ name }) => name === 'merge')
    const reference = group.questions.find(({ name }) => name === 'reference')
    expect([merge?.lacks, reference?.lacks]).toEqual(['', 'q, kv or kv_k + kv_v, block_table'])
  })

  it('tells little of what a header has in excess', async () => {
    const many = Array.from({ length: 500 }, (_, i) => [`other_${i}`, { shape: [1] }] as const)
    mkdirSync(folder())
    writeFileSync(
      join(folder(), 'a.safetensors'),
      dumpBytes(
        { ...Object.fromEntries(many), ['x'.repeat(5000)]: { shape: [1] }, lse: { shape: [1, 1] } },
        { note: 'y'.repeat(100_000) },
      ),
    )
    await store.handle({ type: 'dump', id: 'd', paths: [folder()] })
    const [file] = (await store.request('dumpGroup', REF)).files
    expect(file?.tensors[0]?.name).toBe('lse')
    expect([file?.tensors.length, file?.moreTensors]).toEqual([201, 301])
    expect(JSON.stringify(file).length).toBeLessThan(50_000)
  })

  it('gives maps, histograms and the values of a cell of every rank', async () => {
    await written()
    const map = await store.request('tensorMap', {
      ...REF,
      rank: 1,
      tensor: 'out',
      measure: 'absmax',
      all: false,
    })
    expect(storeMethods.tensorMap.result.safeParse(map).error).toBeUndefined()
    expect([map.mapRows, map.mapColumns, map.cells[5]]).toEqual([T, H, 1000 + 6 * W - 1])
    const histogram = await store.request('tensorHistogram', { ...REF, rank: 1, tensor: 'lse', all: false })
    expect(storeMethods.tensorHistogram.result.safeParse(histogram).error).toBeUndefined()
    expect(histogram.counts).toMatchObject({ values: T * H, minusInf: 1 })
    const vector = await store.request('tensorVector', {
      ...REF,
      tensor: 'out',
      cells: [
        { rank: 0, row: 1, column: 2 },
        { rank: 1, row: 1, column: 2 },
      ],
      from: 1,
      max: 3,
    })
    expect(storeMethods.tensorVector.result.safeParse(vector).error).toBeUndefined()
    const first = (1 * H + 2) * W + 1
    expect([vector.total, vector.count, vector.each]).toEqual([W, 3, 'value'])
    expect([...vector.values]).toEqual([
      first,
      first + 1,
      first + 2,
      1000 + first,
      1001 + first,
      1002 + first,
    ])
  })

  it.each([
    [{ rank: 0, row: T, column: 0 }, 'out of rank 0 has no row 4, head 0'],
    [{ rank: 5, row: 0, column: 0 }, 'step 3, layer 0 has no out of rank 5'],
    [{ rank: 'reference' as const, row: 0, column: 0 }, 'step 3, layer 0 has no out of the reference'],
  ])('refuses a cell that is not there: %j', async (cell, sentence) => {
    await written()
    await expect(
      store.request('tensorVector', { ...REF, tensor: 'out', cells: [cell], from: 0, max: 10 }),
    ).rejects.toThrow(sentence)
  })

  it('that nobody opened, or whose files are gone, is one sentence', async () => {
    await expect(store.request('dumpInfo', { dump: 'none' })).rejects.toThrow('no such dump')
    await written()
    await store.request('dumpInfo', { dump: 'd' })
    await expect(store.request('dumpGroup', { ...REF, step: 4 })).rejects.toThrow(
      'the dump has no step 4, layer 0',
    )
    rmSync(folder(), { recursive: true })
    await expect(
      store.request('tensorMap', { ...REF, rank: 0, tensor: 'out', measure: 'norm', all: false }),
    ).rejects.toThrow('a file of the dump was moved or removed; open the dump again')
    const info = await store.request('dumpInfo', { dump: 'd' })
    expect(info).toMatchObject({ groups: [], problems: [{ rule: 'there is no such file or folder' }] })
  })

  it('is read by many questions at once, each of which closes nothing under another', async () => {
    await written()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        store.request('tensorMap', {
          ...REF,
          rank: i % 2,
          tensor: i % 3 === 0 ? 'out' : 'lse',
          measure: 'nan',
          all: false,
        }),
      ),
    )
    expect(answers.every(({ counts }) => counts.nan === 0)).toBe(true)
  })
})

it('a question that is taken back ends with an answer that says so, and the line serves others', async () => {
  const [ours, theirs] = portPair()
  store.attachClient(theirs)
  await written()
  const replies: unknown[] = []
  const answered = new Promise<void>((done) => {
    ours.onMessage((message) => {
      replies.push(message)
      if (replies.length === 2) done()
    })
  })
  ours.post({ id: 1, method: 'dumpInfo', params: { dump: 'd' } })
  ours.post({ cancel: 1 })
  ours.post({ cancel: 77 })
  ours.post({ id: 2, method: 'listRuns', params: {} })
  await answered
  expect(replies).toContainEqual({ type: 'result', id: 2, result: [] })
  expect(replies).toContainEqual({ type: 'error', id: 1, message: expect.stringMatching(/abort/i) })
})
