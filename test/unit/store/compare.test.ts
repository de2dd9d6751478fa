import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { storeMethods } from '../../../app/protocol/store.ts'
import type { Store } from '../../../main/store/store.ts'
import { dumpBytes } from '../dump/dump-file.ts'
import { type ComparedRun, noise, writeComparedRun } from './compared-run.ts'
import { freshStore } from './fresh-store.ts'
import type { Scratch } from './sample.ts'

let store: Store
let scratch: Scratch
freshStore((fresh, folder) => {
  store = fresh
  scratch = folder
})

const jitter = (salt: number) => (step: number, rank: number) => 50_000 + 1000 * noise(salt + step * 2 + rank)

/** Writes runs into the folder of runs; their ids are their names. */
const write = async (...runs: readonly ComparedRun[]): Promise<void> => {
  for (const run of runs) await writeComparedRun(store, join(scratch.path, `${run.name}.dcp`), run)
  await store.handle({ type: 'runsFolder', folder: scratch.path })
}

describe('times of two runs', () => {
  it('are told apart by stage and rank, with medians as the bundles have them', async () => {
    const slow = (step: number, rank: number) => jitter(500)(step, rank) + (rank === 1 ? 20_000 : 0)
    await write({ name: 'a', attention: jitter(0) }, { name: 'b', attention: slow })
    const answer = await store.request('compareTimes', { a: 'a', b: 'b' })
    expect(storeMethods.compareTimes.result.safeParse(answer).error).toBeUndefined()
    expect(answer).toMatchObject({ steps: 24, firstStep: 0, lastStep: 23, perPart: 1 })
    const row = (measure: string, rank: number | null) =>
      [...answer.rows, ...answer.ranks].find((one) => one.measure === measure && one.rank === rank)
    expect(row('decode_attn', null)?.verdict).toBe('slower')
    expect(row('decode_attn', 0)?.verdict).toBe('even')
    expect(row('decode_attn', 1)?.verdict).toBe('slower')
    // Of two layers, and of the collective without the 5 ns of waiting.
    expect(row('kv_append', 0)).toMatchObject({ aNs: 6000, bNs: 6000, verdict: 'even' })
    expect(row('lse_all_gather', 1)).toMatchObject({ aNs: 2 * 8995, verdict: 'even' })
    expect(row('waiting', null)).toMatchObject({ aNs: 10, bNs: 10 })
    expect(row('step', null)).toMatchObject({ aNs: 1_000_000, bNs: 1_000_000 })
    const [median] = (
      await store.request('query', {
        run: 'b',
        sql: `SELECT median(t) FROM (SELECT sum(dur_ns) AS t FROM spans WHERE stage = 'decode_attn' AND rank = 1 GROUP BY step)`,
        limit: 1,
      })
    ).rows
    expect(row('decode_attn', 1)?.bNs).toBe(median?.[0])
    expect(answer.sources.find(({ measure }) => measure === 'decode_attn')).toEqual({
      measure: 'decode_attn',
      a: ['measured'],
      b: ['measured'],
    })
  })

  it('take repeats of both runs for what differs from run to run', async () => {
    const b = { config: { cache: { kvDtype: 'fp8' as const } } }
    const drifted = (of: number) => (step: number, rank: number) => jitter(of)(step, rank) * (1 + of / 1000)
    await write(
      { name: 'a1', attention: drifted(1) },
      { name: 'a2', attention: drifted(60) },
      { name: 'a3', attention: drifted(30) },
      { name: 'b1', ...b, attention: drifted(45) },
      { name: 'b2', ...b, attention: drifted(10) },
      { name: 'elsewhere', ...b, manifest: { devices: [{ name: 'other', kind: 'cpu', detail: '' }] } },
    )
    mkdirSync(join(scratch.path, 'broken.dcp'))
    writeFileSync(join(scratch.path, 'broken.dcp', 'run.json'), '{')
    const answer = await store.request('compareTimes', { a: 'a1', b: 'b1' })
    expect(answer.repeatsOf).toEqual({ a: 3, b: 2 })
    const attention = answer.repeats.find(({ measure }) => measure === 'decode_attn')
    expect(attention).toMatchObject({ a: 3, b: 2 })
    // From step to step B is slower; from run to run that happens anyway.
    expect(answer.rows.find(({ measure }) => measure === 'decode_attn')?.verdict).toBe('slower')
    expect(attention?.low).toBeLessThan(1)
    expect(attention?.high).toBeGreaterThan(1)
    const alike = await store.request('compareTimes', { a: 'a1', b: 'a2' })
    expect([alike.repeatsOf, alike.repeats]).toEqual([null, []])
  })

  it('are refused of what is no run', async () => {
    await write({ name: 'a' })
    await expect(store.request('compareTimes', { a: 'a', b: 'none' })).rejects.toThrow('no such run')
  })
})

describe('rows of two runs', () => {
  it('differ first where the first value is beyond rounding', async () => {
    await write(
      { name: 'a', lse: (step) => 3 + step / 100 },
      {
        name: 'b',
        lse: (step, layer, rank, request) =>
          3 + step / 100 + 0.005 + (step >= 7 && layer === 1 && rank === 1 && request === 2 ? 0.5 : 0),
        error: (step) => (step >= 9 ? 0.3 : 1e-3),
      },
    )
    const answer = await store.request('compareRows', { a: 'a', b: 'b' })
    expect(storeMethods.compareRows.result.safeParse(answer).error).toBeUndefined()
    expect(answer).toMatchObject({
      unlike: null,
      rows: 24 * 2 * 2 * 3,
      differing: { keys: 0, empty: 0, nan: 0, lse: 17, out: 0 },
      first: { step: 7, layer: 1, rank: 1, request: 2, qIndex: 0, kind: 'lse' },
      checks: {
        a: { failedSteps: 0, firstFailed: null, worst: 1e-3, tolerance: 1e-2 },
        b: { failedSteps: 15, firstFailed: 9, worst: 0.3 },
      },
    })
    expect([answer.first?.a, answer.first?.b].map((v) => v?.toFixed(2))).toEqual(['3.07', '3.58'])
  })

  it('are in one base, and what has no number on both sides is no difference', async () => {
    const nothing = (request: number, value: number): number => (request === 1 ? Number.NaN : value)
    await write(
      { name: 'a', lse: (_step, _layer, _rank, request) => nothing(request, 3) },
      {
        name: 'b',
        config: { engine: { lseBase: '2' } },
        lse: (_step, _layer, _rank, request) => nothing(request, 3 * Math.LOG2E),
      },
    )
    const { first, differing } = await store.request('compareRows', { a: 'a', b: 'b' })
    expect([first, differing.lse]).toEqual([null, 0])
  })

  it('of ranks that hold other tokens are not compared, and it is said why', async () => {
    await write({ name: 'a' }, { name: 'b', config: { parallel: { tpSize: 2, dcpSize: 2, interleave: 16 } } })
    const answer = await store.request('compareRows', { a: 'a', b: 'b' })
    expect(answer).toMatchObject({ rows: 0, first: null })
    expect(answer.unlike).toContain('parallel.interleave is 1 and 16')
  })
})

describe('tensors of two dumps', () => {
  const dump = async (id: string, value: number): Promise<void> => {
    const folder = join(scratch.path, id)
    mkdirSync(folder)
    for (const rank of [0, 1])
      writeFileSync(
        join(folder, `rank${rank}.safetensors`),
        dumpBytes(
          { lse: { shape: [2, 2], values: [1, 2, 3, rank === 1 ? value : 4] } },
          { rank: String(rank) },
        ),
      )
    await store.handle({ type: 'dump', id, paths: [folder] })
  }

  it('are compared down to the cell, and files are closed again', async () => {
    await dump('dump-a', 4)
    await dump('dump-b', 5)
    const answer = await store.request('compareTensors', { a: 'dump-a', b: 'dump-b' })
    expect(storeMethods.compareTensors.result.safeParse(answer).error).toBeUndefined()
    expect(answer.tensors).toMatchObject([
      { tensor: 'lse', cells: 8, diverging: 1, first: { step: 3, rank: 1, row: 1, head: 1, a: 4, b: 5 } },
    ])
    const same = await store.request('compareTensors', { a: 'dump-a', b: 'dump-a' })
    expect(same.tensors[0]).toMatchObject({ diverging: 0, first: null })
  })

  it('are none of a run that captured nothing, and refused of what is not there', async () => {
    await write({ name: 'a' })
    await dump('dump-a', 4)
    expect(await store.request('compareTensors', { a: 'a', b: 'dump-a' })).toMatchObject({
      groups: 0,
      unmatched: 1,
      tensors: [],
    })
    await expect(store.request('compareTensors', { a: 'a', b: 'dump-x' })).rejects.toThrow('no such dump')
  })
})
