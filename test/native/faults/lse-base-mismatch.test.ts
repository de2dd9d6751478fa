import { describe, expect, it } from 'vitest'
import { vectorError } from '../../../app/lse/error.ts'
import { capturedConfig, EXACT, faultOf, observe } from './observe.ts'

const config = capturedConfig({ needles: true, softmaxScale: 0.6 })

describe.each(['ag_rs', 'a2a', 'p2p'] as const)('lse-base-mismatch over %s', (comm) => {
  it.each(['e', '2'] as const)('merges an lse of base %s in the other base', async (lseBase) => {
    const run = await observe({ ...config, comm, lseBase }, faultOf('lse-base-mismatch'))
    const other = lseBase === 'e' ? '2' : 'e'
    for (const [t, h] of run.rows()) {
      expect(vectorError(run.merged(t, h), run.remerged(t, h, other)).relative).toBeLessThan(EXACT)
      // What the kernels wrote is right: merged in its own base it is the reference.
      expect(vectorError(run.remerged(t, h, lseBase), run.out(-1, t, h)).relative).toBeLessThan(EXACT)
    }
    expect(run.worst()).toBeGreaterThan(0.01)
  })
})

describe('lse-base-mismatch', () => {
  it('acts on the ranks, layers and steps that it names', async () => {
    const run = await observe(
      { ...config, comm: 'a2a' },
      faultOf('lse-base-mismatch', { ranks: [1], layers: [1], steps: [2] }),
    )
    const wrong = (step: number, layer: number, rank: number): boolean =>
      run
        .rows()
        .filter(([, h]) => Math.floor(h / 2) === rank)
        .some(([t, h]) => run.error(t, h, { step, layer }) > EXACT)
    for (const step of [0, 1, 2])
      for (const layer of [0, 1])
        for (const rank of [0, 1])
          expect(wrong(step, layer, rank)).toBe(step === 2 && layer === 1 && rank === 1)
  })
})
