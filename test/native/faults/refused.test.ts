import { describe, expect, it } from 'vitest'
import type { EngineConfig } from '../../../app/run/engine-config.ts'
import { addon, smallConfig, thrown } from '../engine.ts'
import { faultOf } from './observe.ts'

describe('the engine refuses faults', () => {
  const refused = (over: Partial<EngineConfig>): string => thrown(() => addon.createRun(smallConfig(over)))

  it.each([
    ['that it does not know', { fault: 'x' as never }, 'faults: this engine cannot inject x'],
    ['of ranks that are not there', { ranks: [2] }, 'faults: must name ranks below ranks (2)'],
    ['of no rank', { ranks: [] }, 'faults: must name a rank'],
    ['of ranks beyond any', { ranks: [64] }, 'faults: must be of ranks from 0 to 63'],
    ['of layers that are not there', { layers: [2] }, 'faults: must be 0 to 1, got 2'],
    ['of a draft that is not there', { draft: true }, 'faults: can act on a draft only where there is one'],
    ['of steps that are not there', { steps: [3] }, 'faults: must be 0 to 2, got 3'],
  ])('%s', (_, over, says) => {
    expect(refused({ faults: [faultOf('coverage-gap', over)] })).toBe(`ERR_CONFIG: ${says}`)
  })
})
