import { describe, expect, it } from 'vitest'
import { engineGaps } from '../../app/backends/gaps.ts'
import { PROFILES } from '../../app/backends/index.ts'
import { checkTolerance, engineConfig } from '../../app/run/engine-config.ts'
import { configOf } from '../unit/backends/judge.ts'
import { column, finish, worst } from './engine.ts'

/** Each profile with each of its transports, as far as the engine computes it: short requests, some empty on most ranks. */
const CASES = PROFILES.flatMap(({ name, semantics }) =>
  semantics.transports.flatMap((comm) =>
    (semantics.queryRows === 'single' ? [1] : [1, 3]).map((qLen) => {
      const contexts = [0, 1, 70, 600].map((contextLen) => ({ contextLen }))
      const workload = { requests: contexts, qLen, steps: 2, warmup: 0, data: 'needles' }
      const model = { layers: 1, softmaxScale: 0.1 }
      return [name, comm, qLen, configOf(name, { model, parallel: { comm }, workload })] as const
    }),
  ),
).filter(([, , , config]) => engineGaps(config).length === 0)

describe('the back-ends that the engine computes', () => {
  it('are all but one, of which the base of the lse is unverified', () => {
    expect(PROFILES.map(({ name }) => name).filter((name) => !CASES.some(([of]) => of === name))).toEqual([
      'sglang-tokenspeed-mla',
    ])
  })

  it.each(CASES)('%s by %s with q_len %i stays within the tolerance of its check', async (...given) => {
    const config = given[3]
    const run = await finish({ ...engineConfig(config, 'cpu'), checkRows: -2, captureSteps: [] })
    const errors = column(run.chunks, 'steps', -1, 'max_rel_err')
    expect(errors).toHaveLength(2)
    expect(worst(errors)).toBeLessThan(checkTolerance(config))
    expect(run.dropped).toBe(0)
  })
})
