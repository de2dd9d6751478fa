import { describe, expect, it } from 'vitest'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { captureOf, column, type Finished, finish, rowsOf, valuesOf } from '../native/engine.ts'
import { bytesOf, countsOf, exactOf, expectAgreement } from './agreement.ts'
import { gpuConfig } from './config.ts'
import { skipReason } from './program.ts'

const SUITE = 'the tests of KV heads and of what kernels return on a GPU'
const skipped = skipReason(SUITE) !== undefined

const STEPS = 3
const PARTIALS = ['out_kernel', 'lse_kernel', 'out', 'lse', 'merged'] as const

/** Lengths around the borders of pages, and one that is split over the GPU. */
const onGpu = (over: Partial<EngineConfig> = {}): EngineConfig =>
  gpuConfig({
    contextLens: [0, 1, 15, 64, 65, 3000],
    shuffledPages: true,
    steps: STEPS,
    acceptedPerStep: over.qLen ?? 1,
    captureSteps: [STEPS - 1],
    captureLayers: [1],
    ...over,
  })

const nameOf = (over: Partial<EngineConfig>): string =>
  Object.entries(over)
    .map(([field, value]) => `${field} ${value}`)
    .join(', ')

const expectSameBits = (
  run: Finished,
  other: Finished,
  config: EngineConfig,
  names: readonly string[],
): void => {
  for (let rank = 0; rank < config.ranks; rank++)
    for (const name of names) {
      const same = bytesOf(captureOf(run, rank), name).equals(bytesOf(captureOf(other, rank), name))
      expect(same, `${name} of rank ${rank}`).toBe(true)
    }
}

/** Largest relative error of a step that rounding alone makes. */
const tolerance = ({ lseType }: EngineConfig): number => (lseType === 'bf16' ? 1e-1 : 1e-2)

const expectSameAsCpu = async (config: EngineConfig): Promise<void> => {
  const cuda = await finish(config)
  const cpu = await finish({ ...config, device: 'cpu', graph: false })
  expect(cuda.dropped).toBe(0)
  expectAgreement(cuda, cpu, config)
  for (let rank = 0; rank < config.ranks; rank++) expect(countsOf(cuda, rank)).toEqual(countsOf(cpu, rank))
  for (const row of rowsOf(cuda.chunks, 'steps', -1)) {
    expect(row.checked_rows).toBeGreaterThan(0)
    expect(row.max_rel_err).toBeLessThan(tolerance(config))
  }
}

const expectSameAsGraph = async (config: EngineConfig): Promise<void> => {
  const eager = await finish({ ...config, graph: false })
  const replayed = await finish({ ...config, graph: true })
  expect(column(replayed.chunks, 'steps', -1, 'graph_replayed')).toContain(1)
  expectSameBits(replayed, eager, config, [...exactOf(config), ...PARTIALS])
}

/** Two heads a rank: what is laid out is small, and its rows are no multiple of anything. */
const small = (over: Partial<EngineConfig> = {}): EngineConfig =>
  onGpu({ heads: 8, kvLoraRank: 64, ropeDim: 16, qLen: 3, emptyRow: 'nan', ...over })

const APART: readonly Partial<EngineConfig>[] = [
  { lseLayout: '[B,H,q]' },
  { lseLayout: '[H,T]' },
  { paddedHeads: 64 },
  { paddedHeads: 9, lseLayout: '[B,H,q]' },
  { paddedHeads: 128, lseLayout: '[H,T]' },
]

describe.skipIf(skipped)(`${SUITE}: lse in a layout or with padding of its own`, () => {
  for (const over of APART)
    for (const comm of ['ag_rs', 'a2a', 'p2p'] as const)
      it(`changes no bit of partials and merged rows (${nameOf(over)}, ${comm})`, async () => {
        const config = small({ comm, ...over })
        const [run, plain] = [await finish(config), await finish(small({ comm }))]
        expectSameBits(run, plain, config, PARTIALS)
        for (let rank = 0; rank < config.ranks; rank++)
          expect(rowsOf(run.chunks, 'rows', rank)).toEqual(rowsOf(plain.chunks, 'rows', rank))
      })

  it('goes with the fastest kernel and with one rank', async () => {
    for (const over of [{}, { ranks: 1 }]) {
      const config = onGpu({ qLen: 2, ...over, lseLayout: '[H,T]', paddedHeads: 128 })
      const plain = onGpu({ qLen: 2, ...over })
      expectSameBits(await finish(config), await finish(plain), config, PARTIALS)
    }
  })

  it('is the same eager and as replayed graphs', () =>
    expectSameAsGraph(small({ lseLayout: '[B,H,q]', paddedHeads: 16, contextLens: [0, 5, 200] })))
})

describe.skipIf(skipped)(`${SUITE}: lse in bf16`, () => {
  const bf16 = (value: number): number => {
    const [bits = 0] = new Uint32Array(Float32Array.of(value).buffer)
    const [rounded = 0] = new Float32Array(
      Uint32Array.of((bits + 0x7fff + ((bits >>> 16) & 1)) & 0xffff0000).buffer,
    )
    return rounded
  }

  it('is the fp32 one rounded', async () => {
    const config = onGpu({ qLen: 2 })
    const [fine, coarse] = [await finish(config), await finish({ ...config, lseType: 'bf16' })]
    for (let rank = 0; rank < config.ranks; rank++) {
      const exact = valuesOf(captureOf(fine, rank), 'lse_kernel')
      expect([...valuesOf(captureOf(coarse, rank), 'lse_kernel')]).toEqual([...exact].map(bf16))
      const most = column(coarse.chunks, 'rows', rank, 'lse_max').filter(Number.isFinite)
      expect(most).toEqual(most.map(bf16))
    }
    expectSameBits(coarse, fine, config, ['out_kernel', 'out'])
  })

  for (const over of [
    {},
    { comm: 'a2a', lseLayout: '[H,T]', lseBase: '2' },
    { comm: 'p2p', lseLayout: '[B,H,q]', paddedHeads: 32, qLen: 2 },
    { graph: true, paddedHeads: 64 },
  ] satisfies Partial<EngineConfig>[])
    it(`agrees with the CPU (${nameOf(over)})`, () => expectSameAsCpu(onGpu({ ...over, lseType: 'bf16' })))
})

const GROUPED: readonly Partial<EngineConfig>[] = [
  { heads: 16, kvHeads: 2, headDim: 128 },
  { heads: 28, kvHeads: 4, headDim: 128, qLen: 3, interleave: 4, comm: 'a2a', needles: true, lseBase: '2' },
  { heads: 32, kvHeads: 1, headDim: 256, kvDtype: 'fp8', comm: 'p2p', emptyRow: 'unwritten', ranks: 8 },
  { heads: 12, kvHeads: 12, headDim: 64, qLen: 2, pageSize: 7, replicateQ: true },
  { heads: 12, kvHeads: 12, headDim: 96, kvDtype: 'fp8', needles: true, wireFp32: true },
  { heads: 8, kvHeads: 2, headDim: 64, ranks: 1, qLen: 8 },
  { heads: 16, kvHeads: 4, headDim: 128, lseLayout: '[H,T]', paddedHeads: 64, qLen: 2, emptyRow: 'plusInf' },
]

describe.skipIf(skipped)(`${SUITE}: grouped-query and multi-head attention`, () => {
  for (const over of GROUPED)
    it(`agrees with the CPU (${nameOf(over)})`, () => expectSameAsCpu(onGpu({ softmaxScale: 0.09, ...over })))

  for (const comm of ['ag_rs', 'a2a', 'p2p'] as const)
    it(`is the same eager and as replayed graphs (${comm})`, () =>
      expectSameAsGraph(
        onGpu({ heads: 16, kvHeads: 4, headDim: 64, qLen: 2, comm, steps: 4, captureSteps: [3] }),
      ))
})
