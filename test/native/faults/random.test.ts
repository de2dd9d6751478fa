import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EngineFault } from '../../../app/faults/engine.ts'
import { FAULTS } from '../../../app/faults/index.ts'
import type { EngineConfig } from '../../../app/run/engine-config.ts'
import { configs } from '../arbitraries.ts'
import { column, finish } from '../engine.ts'

/** Faults that do nothing where the configuration has no place for them, also such as no configuration file may name. */
const injected = FAULTS.filter(({ injection }) => injection !== undefined).map(({ name }) => name)

const faultsOf = (config: EngineConfig): fc.Arbitrary<EngineFault[]> =>
  fc
    .array(
      fc.record({
        fault: fc.constantFrom(
          ...injected.filter((name) => name !== 'kv-layout-mismatch' || config.kvLoraRank === 512),
        ),
        ranks: fc.uniqueArray(fc.nat(config.ranks - 1), { minLength: 1 }),
        layers: fc.constantFrom([], [0]),
        steps: fc.constantFrom([], [0], [1]),
        draft: config.draft ? fc.boolean() : fc.constant(false),
        variant: fc.nat(2),
        amount: fc.constantFrom(1, config.pageSize),
      }),
      { minLength: 1, maxLength: 4 },
    )
    .map((faults) => faults.map((fault) => (fault.draft ? { ...fault, layers: [] } : fault)))

const faulty = configs.chain((config) =>
  fc.tuple(faultsOf(config), fc.nat(3), fc.nat(1)).map(
    ([faults, padRequests, padLength]): EngineConfig => ({
      ...config,
      contextLens: [...config.contextLens, ...new Array<number>(padRequests).fill(0)],
      padRequests,
      padLength,
      captureSteps: [0, 1],
      captureLayers: config.draft ? [0, 1] : [0],
      faults,
    }),
  ),
)

describe('runs with any faults together', () => {
  it('come to their end with all that is captured, the same again', async () => {
    await fc.assert(
      fc.asyncProperty(faulty, async (config) => {
        const once = await finish(config)
        const again = await finish(config)
        expect(column(once.chunks, 'steps', -1, 'step')).toEqual([0, 1])
        expect(once.captures).toHaveLength(2 * (config.ranks + 1) * config.captureLayers.length)
        expect(again.captures).toEqual(once.captures)
      }),
      { numRuns: 100 },
    )
  }, 120_000)
})
