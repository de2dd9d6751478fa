import { describe, expect, it } from 'vitest'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { at, captureOf, column, type Finished, finish, smallConfig, valuesOf, worst } from './engine.ts'

const config = smallConfig({
  ranks: 4,
  heads: 8,
  qLen: 3,
  acceptedPerStep: 2,
  interleave: 2,
  needles: true,
  emptyRow: 'unwritten',
  captureSteps: [2],
  captureLayers: [1],
})

const TENSORS = ['out_kernel', 'lse_kernel', 'out', 'lse', 'merged'] as const

const tensors = (run: Finished): Float64Array[] =>
  [0, 1, 2, 3].flatMap((rank) => TENSORS.map((name) => valuesOf(captureOf(run, rank), name)))

const errorOf = (run: Finished): number => worst(column(run.chunks, 'steps', -1, 'max_rel_err'))

describe('what the kernel returns in another layout or with padded heads', () => {
  const cases: Partial<EngineConfig>[] = [
    { lseLayout: '[B,H,q]' },
    { lseLayout: '[H,T]' },
    { paddedHeads: 64 },
    { paddedHeads: 128, lseLayout: '[H,T]' },
    { paddedHeads: 9, lseLayout: '[B,H,q]' },
    { paddedHeads: 8 },
  ]
  for (const over of cases)
    for (const comm of ['ag_rs', 'a2a', 'p2p'] as const)
      it(`gives the same partials and merged rows, byte by byte (${JSON.stringify(over)}, ${comm})`, async () => {
        const run = await finish({ ...config, comm, ...over })
        expect(tensors(run)).toEqual(tensors(await finish({ ...config, comm })))
        expect(errorOf(run)).toBeLessThan(1e-5)
      })

  it('holds with one rank, where the kernel writes what is merged', async () => {
    const single = { ...config, ranks: 1, paddedHeads: 64, lseLayout: '[H,T]' } as const
    expect(errorOf(await finish(single))).toBeLessThan(1e-5)
  })
})

describe('an lse in bf16', () => {
  const rounded = (value: number): number => {
    const bits = Math.fround(value)
    const raw = at(new Uint32Array(new Float32Array([bits]).buffer), 0)
    return at(new Float32Array(Uint32Array.of((raw + 0x7fff + ((raw >>> 16) & 1)) & 0xffff0000).buffer), 0)
  }

  for (const lseBase of ['e', '2'] as const)
    it(`is the fp32 one rounded, and all that it costs is weights (base ${lseBase})`, async () => {
      const fine = await finish({ ...config, lseBase, emptyRow: 'neutral' })
      const coarse = await finish({ ...config, lseBase, emptyRow: 'neutral', lseType: 'bf16' })
      for (let rank = 0; rank < config.ranks; rank++) {
        const exact = valuesOf(captureOf(fine, rank), 'lse_kernel')
        expect([...valuesOf(captureOf(coarse, rank), 'lse_kernel')]).toEqual([...exact].map(rounded))
        expect(valuesOf(captureOf(coarse, rank), 'out')).toEqual(valuesOf(captureOf(fine, rank), 'out'))
      }
      // Half a unit in the last place of magnitudes up to 16 is 2^-5; weights go with its power.
      expect(errorOf(coarse)).toBeGreaterThan(1e-4)
      expect(errorOf(coarse)).toBeLessThan(0.05)
    })

  it('goes with every layout and padding', async () => {
    const plain = await finish({ ...config, lseType: 'bf16' })
    for (const lseLayout of ['[B,H,q]', '[H,T]'] as const) {
      const other = await finish({ ...config, lseType: 'bf16', lseLayout, paddedHeads: 64 })
      expect(tensors(other)).toEqual(tensors(plain))
    }
  })
})
