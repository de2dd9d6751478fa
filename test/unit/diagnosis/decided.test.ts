import { describe, expect, it } from 'vitest'
import type { Finding } from '../../../app/diagnosis/result.ts'
import type { RunConfigInput } from '../../../app/run/config.ts'
import type { Change } from '../../bench/diagnosis/engine-dumps.ts'
import { altered, diagnosed, healthyRun, without } from './altered.ts'

/** Faults that tensors decide although the one that shows them best is not there. */

const only = (fault: string) => ({ fault, ambiguousWith: [] })

const firstOf = async (over: RunConfigInput, change?: Change): Promise<Finding | undefined> =>
  (await diagnosed(await healthyRun(over), change)).findings[0]

const requests = (...lengths: readonly number[]): RunConfigInput => ({
  workload: { requests: lengths.map((contextLen) => ({ contextLen })), steps: 1, warmup: 0 },
})

describe('without a page table, places within pages tell', () => {
  const over = requests(200, 1, 77, 130, 41, 62)
  it.each([
    ['slot-map-ignores-dcp', { fault: 'slot-map-ignores-dcp' }],
    ['interleave-mismatch', { fault: 'interleave-mismatch', params: { of: 'cache', interleave: 4 } }],
    ['coverage-overlap', { fault: 'coverage-overlap' }],
  ] as const)('%s from the others', async (fault, injected) => {
    for (const ranks of ['all' as const, [2]]) {
      const finding = await firstOf(
        { ...over, faults: [{ ...injected, ranks }] },
        without('block_table', 'seq_lens_local'),
      )
      expect(finding).toMatchObject(only(fault))
    }
  })
})

describe('without queries and keys, rows without keys tell', () => {
  it('attention to pages of zeros from memory that nobody wrote', async () => {
    const over = requests(200, 2, 6)
    const hidden = without('q', 'kv')
    expect(await firstOf({ ...over, faults: [{ fault: 'page-table-not-local' }] }, hidden)).toMatchObject(
      only('page-table-not-local'),
    )
    const left = { engine: { emptyRow: 'unwritten' }, faults: [{ fault: 'empty-row-not-neutralised' }] }
    expect(await firstOf({ ...over, ...left } as RunConfigInput, hidden)).toMatchObject(
      only('empty-row-not-neutralised'),
    )
  })
})

describe('the lse', () => {
  it('that lands from rows without keys is seen to have moved', async () => {
    const over = {
      ...requests(500, 1),
      parallel: { interleave: 16 },
      engine: { emptyRow: 'unwritten' },
      faults: [{ fault: 'lse-layout-transposed', ranks: [3] }],
    } as RunConfigInput
    expect(await firstOf(over, without('q', 'kv', 'merged'))).toMatchObject({
      ...only('lse-layout-transposed'),
      ranks: [3],
    })
  })

  it('of heads that only pad is no row without keys', async () => {
    const over = {
      ...requests(1, 1, 217, 16, 21, 181, 1, 122, 4144, 93),
      engine: { paddedHeads: 128 },
      faults: [{ fault: 'lse-head-misaligned', ranks: [3] }],
    } as RunConfigInput
    expect(await firstOf(over)).toMatchObject({ ...only('lse-head-misaligned'), ranks: [3] })
  })

  it('shows a layout also where neither that of the kernel nor the base is dumped', async () => {
    const over = { ...requests(200, 30, 77), faults: [{ fault: 'lse-layout-transposed' }] } as RunConfigInput
    for (const lseBase of ['e', '2'] as const) {
      const change = { ...without('lse_kernel', 'merged'), metadata: { lse_base: undefined } }
      expect(await firstOf({ ...over, engine: { lseBase } }, change)).toMatchObject(
        only('lse-layout-transposed'),
      )
    }
  })

  it('alone shows keys twice, which out does not', async () => {
    // As many pages in the pool as the request has: those behind them are the same again.
    const over = { ...requests(830), parallel: { tpSize: 2, dcpSize: 2 } } as RunConfigInput
    const finding = await firstOf({ ...over, faults: [{ fault: 'page-table-not-local' }] })
    expect(finding).toMatchObject(only('page-table-not-local'))
  })

  it('of a kernel that no known fault explains is not healthy', async () => {
    const names = ['lse', 'lse_kernel']
    const off = names.reduce(
      (captured, name) => altered(captured, name, (values) => values.map((v) => v + 0.4)),
      await healthyRun(requests(200, 90)),
    )
    const { verdict, findings, information } = await diagnosed(off)
    expect({ verdict, findings }).toEqual({ verdict: 'undetermined', findings: [] })
    expect(information.map(({ message }) => message).join()).toMatch(/the lse_kernel of rank \d, row/)
  })

  it('is not needed where partials were merged without it', async () => {
    for (const fault of ['merge-missing', 'lse-dropped', 'head-order-permuted'] as const)
      expect(await firstOf({ ...requests(200, 60, 77), faults: [{ fault }] }, without('lse'))).toMatchObject(
        only(fault),
      )
  })
})

describe('rows of several query tokens', () => {
  it('that are left without keys by a wrong bound are of that bound', async () => {
    const over = {
      ...requests(101, 4, 30, 14),
      workload: { ...requests(101, 4, 30, 14).workload, qLen: 7 },
      engine: { emptyRow: 'unwritten' },
      faults: [{ fault: 'causal-end-aligned', params: { rows: 'hides' } }],
    } as RunConfigInput
    expect(await firstOf(over)).toMatchObject(only('causal-end-aligned'))
  })
})

describe('chosen keys', () => {
  it('are compared as the kernel was told them, where the choice itself is not dumped', async () => {
    const over = {
      ...requests(300, 452, 46),
      model: { heads: 16, kvLoraRank: 512, ropeDim: 64, layers: 1 },
      cache: { pageSize: 64, kvDtype: 'fp8_ds_mla' },
      workload: { ...requests(300, 452, 46).workload, topk: 64 },
      faults: [{ fault: 'kv-layout-mismatch' }],
    } as RunConfigInput
    const { findings } = await diagnosed(await healthyRun(over), without('topk'))
    expect(findings[0]?.fault).toBe('kv-layout-mismatch')
    expect((await diagnosed(await healthyRun({ ...over, faults: [] }), without('topk'))).verdict).toBe(
      'healthy',
    )
  })
})
