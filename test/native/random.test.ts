import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EVENT_KINDS } from '../../app/trace/stages.ts'
import { configs } from './arbitraries.ts'
import { column, finish, worst } from './engine.ts'

describe('runs of random shape', () => {
  it('agree with the reference in every row and head, without a NaN', async () => {
    await fc.assert(
      fc.asyncProperty(configs, async (config) => {
        const run = await finish(config)
        const limit = config.lseType === 'bf16' ? 1e-1 : config.kvDtype === 'fp32' ? 1e-5 : 1e-2
        expect(worst(column(run.chunks, 'steps', -1, 'max_rel_err'))).toBeLessThan(limit)
        const checked = config.contextLens.length * config.qLen * config.heads
        expect(column(run.chunks, 'steps', -1, 'checked_rows')).toEqual([checked, checked])
        // Within 1e-2, which an lse in bf16 does not keep.
        if (config.draft && config.lseType !== 'bf16') {
          const proposed = config.contextLens.length * config.qLen
          expect(column(run.chunks, 'steps', -1, 'draft_accepted')).toEqual([proposed, proposed])
        }
        expect(column(run.chunks, 'events', -1, 'kind')).not.toContain(EVENT_KINDS.indexOf('nan_in_merged'))
        expect(run.dropped).toBe(0)
      }),
      { numRuns: 150 },
    )
  }, 120_000)
})
