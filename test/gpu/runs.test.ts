import { describe, expect, it } from 'vitest'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { addon, at, captureOf, column, finish, rowsOf, thrown, valuesOf } from '../native/engine.ts'
import { bytesOf, countsOf, exactOf, expectAgreement } from './agreement.ts'
import { gpuConfig } from './config.ts'
import { skipReason } from './program.ts'

const SUITE = 'the tests of whole runs on a GPU'
const skipped = skipReason(SUITE) !== undefined

const STEPS = 3
/** Lengths around the borders of pages and tiles, and one that is split over the GPU. */
const CONTEXTS = [0, 1, 3, 31, 63, 64, 65, 130, 5000]

const onGpu = (over: Partial<EngineConfig> = {}): EngineConfig =>
  gpuConfig({
    contextLens: CONTEXTS,
    shuffledPages: true,
    steps: STEPS,
    acceptedPerStep: over.qLen ?? 1,
    checkRows: 4,
    captureSteps: [STEPS - 1],
    captureLayers: [1],
    ...over,
  })

const CASES: readonly Partial<EngineConfig>[] = [
  {},
  { ranks: 1 },
  { ranks: 2, qLen: 2, interleave: 16, comm: 'a2a', heads: 128, lseBase: '2', contextLens: [70, 900] },
  { ranks: 8, qLen: 3, interleave: 4, pageSize: 16, needles: true, wireFp32: true },
  { ranks: 16, comm: 'a2a', pageSize: 128, emptyRow: 'nan', replicateQ: true },
  { ranks: 4, pageSize: 32, emptyRow: 'unwritten', zeroWeight: 'multiplied' },
  { ranks: 4, emptyRow: 'plusInf', comm: 'a2a', lseBase: '2', zeroWeight: 'multiplied', allEmpty: 'nan' },
  { kvDtype: 'fp8', needles: true },
  { kvDtype: 'fp8', ranks: 2, qLen: 2, comm: 'a2a', interleave: 4, heads: 20 },
  { kvDtype: 'fp8_ds_mla' },
  { kvDtype: 'fp8_ds_mla', ranks: 8, qLen: 2, comm: 'a2a', needles: true, lseBase: '2', heads: 64 },
  { kvDtype: 'bf16', topk: 64, qLen: 2, interleave: 2 },
  { kvDtype: 'fp8_ds_mla', topk: 128, comm: 'a2a' },
  { kvDtype: 'fp8', topk: 1, emptyRow: 'nan' },
  { kvLoraRank: 128, ropeDim: 32, pageSize: 8, qLen: 2 },
  { kvLoraRank: 64, ropeDim: 0, pageSize: 7, kvDtype: 'fp8', heads: 12 },
  { comm: 'p2p' },
  {
    comm: 'p2p',
    ranks: 16,
    qLen: 2,
    replicateQ: true,
    lseBase: '2',
    emptyRow: 'nan',
    zeroWeight: 'multiplied',
  },
  { comm: 'p2p', ranks: 8, kvDtype: 'fp8_ds_mla', topk: 64, interleave: 4, heads: 64 },
  { comm: 'p2p', ranks: 2, kvLoraRank: 128, ropeDim: 32, pageSize: 8, kvDtype: 'fp8', emptyRow: 'plusInf' },
]

const nameOf = (c: EngineConfig): string =>
  `${c.kvDtype}, dcp ${c.ranks}, interleave ${c.interleave}, ${c.comm}, ${c.heads} heads of ${c.kvLoraRank}+${c.ropeDim}, q_len ${c.qLen}, page ${c.pageSize}, topk ${c.topk}, ${c.emptyRow}`

describe.skipIf(skipped)(SUITE, () => {
  it('have a device', () => {
    expect(addon.cuda()).toMatchObject({ available: true })
  })

  for (const over of CASES) {
    const config = onGpu(over)
    it(`agree with those on the CPU (${nameOf(config)})`, async () => {
      const cuda = await finish(config)
      const cpu = await finish({ ...config, device: 'cpu' })
      expect(cuda.dropped).toBe(0)
      expectAgreement(cuda, cpu, config)
      for (let rank = 0; rank < config.ranks; rank++)
        expect(countsOf(cuda, rank)).toEqual(countsOf(cpu, rank))
      for (const row of rowsOf(cuda.chunks, 'steps', -1)) {
        expect(row.checked_rows).toBeGreaterThan(0)
        expect(row.max_rel_err).toBeLessThan(1e-2)
      }
    })
  }

  const graphs: readonly Partial<EngineConfig>[] = [
    { steps: 6 },
    { steps: 6, kvDtype: 'fp8_ds_mla', qLen: 2, comm: 'a2a' },
    { steps: 6, topk: 64 },
    { steps: 6, comm: 'p2p', qLen: 2 },
    { steps: 6, contextLens: [63, 64, 127, 300, 0], acceptedPerStep: 1, qLen: 2 },
  ]
  for (const over of graphs) {
    const config = onGpu({ ...over, captureSteps: [5] })
    it(`give the same bits eager and as replayed graphs (${nameOf(config)})`, async () => {
      const eager = await finish(config)
      const replayed = await finish({ ...config, graph: true })
      expect(column(eager.chunks, 'steps', -1, 'graph_replayed')).not.toContain(1)
      expect(column(replayed.chunks, 'steps', -1, 'graph_replayed')).toContain(1)
      for (let rank = 0; rank < config.ranks; rank++) {
        expect(countsOf(replayed, rank)).toEqual(countsOf(eager, rank))
        const [own, other] = [captureOf(replayed, rank), captureOf(eager, rank)]
        for (const name of [...exactOf(config), 'out', 'lse', 'merged'])
          expect(bytesOf(own, name).equals(bytesOf(other, name)), `${name} of rank ${rank}`).toBe(true)
      }
    })
  }

  it('give the same bits again', async () => {
    const config = onGpu({ qLen: 2 })
    const [once, again] = [await finish(config), await finish(config)]
    for (let rank = 0; rank < config.ranks; rank++)
      for (const name of ['out', 'lse', 'merged'])
        expect(bytesOf(captureOf(once, rank), name).equals(bytesOf(captureOf(again, rank), name))).toBe(true)
  })

  it('leave in rows without keys what the profile says', async () => {
    const kernelOf = async (emptyRow: EngineConfig['emptyRow']): Promise<[number, number]> => {
      const run = await finish(onGpu({ contextLens: [0, 5], emptyRow }))
      const capture = captureOf(run, 3)
      return [at(valuesOf(capture, 'out_kernel'), 0), at(valuesOf(capture, 'lse_kernel'), 0)]
    }
    expect(await kernelOf('neutral')).toEqual([0, Number.NEGATIVE_INFINITY])
    expect(await kernelOf('plusInf')).toEqual([0, Number.POSITIVE_INFINITY])
    expect(await kernelOf('nan')).toEqual([Number.NaN, Number.NEGATIVE_INFINITY])
  })

  it('refuse what the kernels cannot do, in one line', () => {
    const refused = thrown(() => addon.createRun(onGpu({ kvDtype: 'fp32' })))
    expect(refused).toMatch(/^ERR_CONFIG: [^\n]*fp32[^\n]*$/)
  })
})
