import { describe, expect, it } from 'vitest'
import { EVENT_KINDS } from '../../app/trace/stages.ts'
import { addon, captureOf, column, finish, rowsOf, smallConfig, tensorOf, valuesOf } from './engine.ts'

describe('the check against the reference', () => {
  const config = smallConfig({ contextLens: [50, 3], layers: 3, heads: 40, ranks: 2, steps: 6 })

  it('compares every row and head when told all', async () => {
    const run = await finish({ ...config, checkRows: -2 })
    expect(column(run.chunks, 'steps', -1, 'checked_rows')).toEqual(new Array<number>(6).fill(3 * 2 * 40))
  })

  it('compares so many query rows with all heads when told a number', async () => {
    const run = await finish({ ...config, checkRows: 2 })
    expect(column(run.chunks, 'steps', -1, 'checked_rows')).toEqual(new Array<number>(6).fill(2 * 40))
  })

  it('compares nothing when told none, and says so by NaN errors', async () => {
    const run = await finish({ ...config, checkRows: 0 })
    expect(column(run.chunks, 'steps', -1, 'checked_rows')).toEqual(new Array<number>(6).fill(0))
    for (const name of ['max_abs_err', 'max_rel_err'])
      expect(column(run.chunks, 'steps', -1, name)).toEqual(new Array<number>(6).fill(Number.NaN))
  })

  it('compares something at the latest in the last step when it chooses itself', async () => {
    for (const contextLens of [[1], [3000], [50, 3]]) {
      const run = await finish({ ...config, layers: 1, steps: 1, contextLens, checkRows: -1 })
      expect(column(run.chunks, 'steps', -1, 'checked_rows')[0]).toBeGreaterThan(0)
    }
  })

  it('chooses the same rows again', async () => {
    const once = await finish({ ...config, checkRows: -1, steps: 40 })
    const again = await finish({ ...config, checkRows: -1, steps: 40 })
    for (const name of ['checked_rows', 'max_rel_err', 'max_abs_err'])
      expect(column(again.chunks, 'steps', -1, name)).toEqual(column(once.chunks, 'steps', -1, name))
  })

  it('reports an error above the tolerance by an event with row, value and limit', async () => {
    // Scores far beyond what fp32 resolves: the kernel must differ from the fp64 reference.
    const run = await finish({ ...config, softmaxScale: 100, contextLens: [3000], steps: 1, checkRows: -2 })
    const failed = rowsOf(run.chunks, 'events', -1).filter(
      (row) => row.kind === EVENT_KINDS.indexOf('check_failed'),
    )
    expect(failed).toHaveLength(1)
    expect(failed[0]?.value).toBe(column(run.chunks, 'steps', -1, 'max_rel_err')[0])
    expect(failed[0]?.value).toBeGreaterThan(1e-5)
    expect(failed[0]).toMatchObject({ step: 0, limit: 1e-5 })
  })
})

describe('captures', () => {
  it('leave pages out above 64 MiB, with a reason and an event', async () => {
    const config = smallConfig({ contextLens: [40_000], kvLoraRank: 512, ropeDim: 64, steps: 1, layers: 1 })
    const run = await finish({ ...config, captureSteps: [0], captureLayers: [0], checkRows: 0 })
    const capture = captureOf(run, 1)
    expect(capture.leftOut).toMatch(/^kv: the pages of all ranks are \d+ MiB, above the limit of 64 MiB$/)
    expect(capture.tensors.map((t) => t.name)).not.toContain('kv')
    expect(column(run.chunks, 'events', -1, 'kind')).toContain(EVENT_KINDS.indexOf('capture_incomplete'))
  })

  it('have the names, types and shapes of the dump format', async () => {
    const config = smallConfig({
      kvDtype: 'bf16',
      qLen: 2,
      steps: 2,
      captureSteps: [0, 1],
      captureLayers: [1, 0, 1],
    })
    const run = await finish(config)
    expect(run.captures.map((c) => [c.step, c.layer, c.rank])).toEqual(
      [0, 1].flatMap((step) => [
        ...[0, 1].flatMap((rank) => [0, 1].map((layer) => [step, layer, rank])),
        ...[0, 1].map((layer) => [step, layer, -1]),
      ]),
    )
    const shapes = Object.fromEntries(
      captureOf(run, 0, 0, 0).tensors.map((t) => [t.name, `${t.dtype} ${t.shape.join('x')}`]),
    )
    const pages = captureOf(run, 0, 0, 0).tensors.find((t) => t.name === 'page_ids')?.shape[0]
    expect(shapes).toEqual({
      q: 'BF16 12x4x48',
      out: 'BF16 12x4x32',
      out_kernel: 'BF16 12x4x32',
      lse: 'F32 12x4',
      lse_kernel: 'F32 12x4',
      merged: 'BF16 12x2x32',
      seq_lens_global: 'I32 6',
      seq_lens_local: 'I32 6',
      block_table: 'I32 6x3',
      slot_mapping: 'I64 12',
      page_ids: `I32 ${pages}`,
      kv: `BF16 ${pages}x8x48`,
    })
    const reference = captureOf(run, -1, 0, 0)
    expect(tensorOf(reference, 'out')).toMatchObject({ dtype: 'F64', shape: [12, 4, 32] })
    expect(tensorOf(reference, 'lse')).toMatchObject({ dtype: 'F64', shape: [12, 4] })
    expect(valuesOf(reference, 'out').some(Number.isNaN)).toBe(false)
  })

  it('are handed over once, and hold the run up while nobody takes them', async () => {
    const run = addon.createRun(smallConfig({ steps: 3, captureSteps: [0, 1], captureLayers: [0] }))
    while ((await run.fill(1000)) < 1);
    expect(await run.advance(9, 1000, 0)).toEqual({ stepsDone: 1, finished: false, ringsFull: false })
    expect(await run.advance(9, 1000, 0)).toEqual({ stepsDone: 1, finished: false, ringsFull: true })
    expect(run.takeCaptures()).toHaveLength(3)
    expect(run.takeCaptures()).toHaveLength(0)
    expect((await run.advance(9, 1000, 0)).stepsDone).toBe(2)
    run.dispose()
  })
})

describe('the machine', () => {
  it('has cores, memory and a read bandwidth', async () => {
    const cpu = addon.cpu()
    expect(cpu.cores).toBeGreaterThan(0)
    expect(cpu.memoryAvailableBytes).toBeGreaterThan(0)
    expect(cpu.memoryAvailableBytes).toBeLessThanOrEqual(cpu.memoryTotalBytes)
    expect(await addon.measureReadBandwidth()).toBeGreaterThan(1e8)
  }, 60_000)
})
