import { describe, expect, it } from 'vitest'
import { owner } from '../../../app/dcp/ownership.ts'
import { vectorError } from '../../../app/lse/error.ts'
import { at } from '../engine.ts'
import { attend, keysOf } from '../recompute.ts'
import { capturedConfig, EXACT, faultOf, observe } from './observe.ts'

const config = {
  ...capturedConfig({ heads: 8, kvHeads: 2, headDim: 32, needles: true, contextLens: [17, 40] }),
  captureSteps: [2],
  captureLayers: [0],
}

/** With 4 local heads and 2 KV heads: two query heads to a KV head, in place of four. */
const LOCAL = [0, 0, 1, 1, 0, 0, 1, 1]
const RIGHT = [0, 0, 0, 0, 1, 1, 1, 1]

describe.each(['ag_rs', 'a2a', 'p2p'] as const)('gqa-head-map-local over %s', (comm) => {
  it('attends with the KV head that local counts give, on its ranks', async () => {
    const run = await observe({ ...config, comm }, faultOf('gqa-head-map-local', { ranks: [1] }))
    config.contextLens.forEach((context, request) => {
      const len = context + config.steps
      for (let h = 0; h < config.heads; h++)
        for (const rank of [0, 1]) {
          const kvHead = at(rank === 1 ? LOCAL : RIGHT, h)
          const own = (of: 'kv_k' | 'kv_v'): Float64Array[] =>
            keysOf(run.run, config, request, len, { of, kvHead }).filter(
              (_, t) => owner(t, { dcp: 2, interleave: 1 }) === rank,
            )
          const q = run.out(0, request, h, {}, 'q')
          const truth = attend(q, own('kv_k'), config, own('kv_v'))
          expect(vectorError(run.out(rank, request, h), truth.out).relative).toBeLessThan(EXACT)
        }
    })
    for (const [t, h] of run.rows()) {
      const wrong = at(LOCAL, h) !== at(RIGHT, h)
      if (wrong) expect(run.error(t, h)).toBeGreaterThan(0.01)
      else expect(run.error(t, h)).toBeLessThan(EXACT)
    }
  })

  it('holds for counts that do not divide each other', async () => {
    const odd = { ...config, comm, heads: 10, kvHeads: 2 }
    expect((await observe(odd, faultOf('gqa-head-map-local'))).worst()).toBeGreaterThan(0.01)
    expect((await observe(odd)).worst()).toBeLessThan(EXACT)
    const many = { ...config, comm, heads: 8, kvHeads: 8 }
    expect((await observe(many, faultOf('gqa-head-map-local'))).worst()).toBeLessThan(EXACT)
  })
})
