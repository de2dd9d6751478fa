import { describe, expect, it } from 'vitest'
import { vectorError } from '../../../app/lse/error.ts'
import type { EngineConfig } from '../../../app/run/engine-config.ts'
import { at } from '../engine.ts'
import { capturedConfig, EXACT, faultOf, type Observed, observe } from './observe.ts'

/** Faults between the kernel and the merge: what the kernel wrote is right, what the merge gets of its lse is not. */

const config = capturedConfig({ needles: true, softmaxScale: 0.6, qLen: 2, acceptedPerStep: 2 })

/** What was merged is what the ranks handed over, and the kernels wrote what is right. */
const mergedAsHandedOver = (run: Observed): void => {
  for (const [t, h] of run.rows()) {
    expect(vectorError(run.merged(t, h), run.remerged(t, h, 'e')).relative).toBeLessThan(EXACT)
    for (const rank of [0, 1]) expect(run.out(rank, t, h)).toEqual(run.out(rank, t, h, {}, 'out_kernel'))
  }
  expect(run.worst()).toBeGreaterThan(0.01)
}

/** lse as the merge of rank 1 gets it, and as its kernel returned it. */
const lses = (run: Observed): [got: number[], kernel: number[]] => [
  [...run.values(1, 'lse')],
  [...run.values(1, 'lse_kernel')],
]

const [T, H] = [config.contextLens.length * config.qLen, config.heads]

describe.each(['ag_rs', 'a2a', 'p2p'] as const)('over %s', (comm) => {
  it.each([
    // [T,H] is read as [H,T].
    ['[T,H]', (row: number) => (row % H) * T + Math.floor(row / H)],
    // Of a contiguous [H,T] or [B,H,q] the values come in their own order.
    ['[H,T]', (row: number) => row],
    ['[B,H,q]', (row: number) => row],
  ] as const)('lse-layout-transposed reads %s in another layout', async (lseLayout, indexOf) => {
    const run = await observe({ ...config, comm, lseLayout }, faultOf('lse-layout-transposed'))
    const [got, kernel] = lses(run)
    // The kernel's own memory, from what it returned in [T,H].
    const memory: number[] = []
    kernel.forEach((value, row) => {
      const [t, h] = [Math.floor(row / H), row % H]
      const index = {
        '[T,H]': row,
        '[H,T]': h * T + t,
        '[B,H,q]': ((t - (t % 2)) / 2) * H * 2 + h * 2 + (t % 2),
      }
      memory[index[lseLayout]] = value
    })
    // Rows that see no keys of the rank are made neutral afterwards.
    got.forEach((value, row) => {
      if (value !== Number.NEGATIVE_INFINITY) expect(value).toBe(at(memory, indexOf(row)))
    })
    mergedAsHandedOver(run)
  })

  it.each(['[T,H]', '[H,T]'] as const)(
    'lse-head-misaligned shifts the lse of padded heads (%s), from the second row on',
    async (lseLayout) => {
      const padded: EngineConfig = {
        ...config,
        comm,
        lseLayout,
        paddedHeads: 6,
        contextLens: [8, 15, 16, 17, 40],
      }
      const run = await observe(padded, faultOf('lse-head-misaligned'))
      const [got, kernel] = lses(run)
      got.forEach((value, row) => {
        const [t, h] = [Math.floor(row / 6), row % 6]
        expect(value).toBe(h < H ? at(kernel, t * H + h) : 64)
      })
      for (let h = 0; h < H; h++) expect(run.error(0, h)).toBeLessThan(EXACT)
      mergedAsHandedOver(run)
    },
  )

  it('lse-low-precision rounds the lse to bf16, which explains all of the error', async () => {
    const run = await observe({ ...config, comm }, faultOf('lse-low-precision'))
    const right = await observe({ ...config, comm })
    const bits = (value: number): number => at(new Uint32Array(new Float32Array([value]).buffer), 0)
    const [got, kernel] = lses(run)
    expect(got).toEqual(kernel)
    lses(right)[0].forEach((value, row) => {
      expect(bits(at(got, row)) & 0xffff).toBe(0)
      if (Number.isFinite(value))
        expect(Math.abs(at(got, row) - value)).toBeLessThanOrEqual(2 ** -8 * Math.abs(value))
    })
    for (const [t, h] of run.rows())
      expect(vectorError(run.merged(t, h), run.remerged(t, h, 'e')).relative).toBeLessThan(EXACT)
    expect(run.worst()).toBeGreaterThan(1e-3)
    expect(right.worst()).toBeLessThan(EXACT)
  })
})

describe('they act', () => {
  it.each(['lse-layout-transposed', 'lse-head-misaligned', 'lse-low-precision'] as const)(
    '%s, on the rank, layer and step that it names',
    async (fault) => {
      const run = await observe(
        { ...config, paddedHeads: 6 },
        faultOf(fault, { ranks: [1], layers: [1], steps: [2] }),
      )
      const right = await observe({ ...config, paddedHeads: 6 })
      for (const rank of [0, 1])
        for (const layer of [0, 1])
          for (const step of [0, 1, 2]) {
            const same = expect(run.values(rank, 'lse', { layer, step }))
            const expected = right.values(rank, 'lse', { layer, step })
            if (rank === 1 && layer === 1 && step === 2) same.not.toEqual(expected)
            else same.toEqual(expected)
          }
    },
  )
})
