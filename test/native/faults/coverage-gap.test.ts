import { describe, expect, it } from 'vitest'
import { localLength } from '../../../app/dcp/ownership.ts'
import { vectorError } from '../../../app/lse/error.ts'
import { at } from '../engine.ts'
import { attend, keysOf } from '../recompute.ts'
import { capturedConfig, EXACT, faultOf, observe } from './observe.ts'

const config = capturedConfig({ qLen: 2, acceptedPerStep: 2, interleave: 4 })
const sharding = { dcp: config.ranks, interleave: config.interleave }

describe('coverage-gap', () => {
  it('shortens the local lengths of its ranks, which then do not sum to the global one', async () => {
    const run = await observe(config, faultOf('coverage-gap', { ranks: [1], amount: 3 }))
    config.contextLens.forEach((length, request) => {
      const global = length + config.steps * config.qLen
      const own = (rank: number) => localLength(global, rank, sharding)
      expect(at(run.values(0, 'seq_lens_local'), request)).toBe(own(0))
      expect(at(run.values(1, 'seq_lens_local'), request)).toBe(Math.max(own(1) - 3, 0))
    })
  })

  it('leaves the newest tokens of its ranks out of the result and all others in it', async () => {
    const last = { ...config, captureSteps: [2], captureLayers: [0] }
    const run = await observe(last, faultOf('coverage-gap', { ranks: [1], amount: 3 }))
    const request = 5
    const global = at(config.contextLens, request) + config.steps * config.qLen
    const keys = keysOf(run.run, config, request, global)
    // Tokens that rank 1 owns, without the last three.
    const lost = keys.map((_, g) => g).filter((g) => Math.floor(g / 4) % 2 === 1)
    const rest = keys.filter((_, g) => !lost.slice(-3).includes(g))
    const t = request * config.qLen + 1
    const q = run.values(0, 'q').subarray(t * 4 * 48, t * 4 * 48 + 48)
    expect(vectorError(run.merged(t, 0), attend(q, rest, config).out).relative).toBeLessThan(EXACT)
    expect(run.error(t, 0)).toBeGreaterThan(1e-3)
  })

  it('acts in the steps that it names', async () => {
    const run = await observe(config, faultOf('coverage-gap', { steps: [1], amount: 1 }))
    expect(run.worst({ step: 0 })).toBeLessThan(EXACT)
    expect(run.worst({ step: 1 })).toBeGreaterThan(1e-3)
    expect(run.worst({ step: 2 })).toBeLessThan(EXACT)
  })

  it('acts together with other faults', async () => {
    const run = await observe(
      { ...config, needles: true, softmaxScale: 0.6 },
      faultOf('coverage-gap', { ranks: [1], amount: 1 }),
      faultOf('lse-base-mismatch'),
    )
    expect(at(run.values(1, 'seq_lens_local'), 5)).toBe(localLength(46, 1, sharding) - 1)
    for (const [t, h] of run.rows())
      expect(vectorError(run.merged(t, h), run.remerged(t, h, '2')).relative).toBeLessThan(EXACT)
  })
})
