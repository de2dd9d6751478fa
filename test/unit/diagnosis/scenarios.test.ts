import { describe, expect, it } from 'vitest'
import { SCENARIOS } from '../../../app/scenarios/index.ts'
import { scenarioConfigs } from '../../../app/scenarios/scenario.ts'
import { capturedRun } from '../../bench/diagnosis/engine-dumps.ts'
import { addon } from '../../native/engine.ts'
import { diagnosed } from './altered.ts'

describe('the captures of a scenario', () => {
  it.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    '%s: broken, the diagnosis finds what the scenario says; fixed, nothing',
    async (_, scenario) => {
      const { broken, fixed } = scenarioConfigs(scenario)
      const { findings } = await diagnosed(await capturedRun(addon, broken))
      expect(findings[0]?.fault ?? null).toBe(scenario.diagnosis)
      expect((await diagnosed(await capturedRun(addon, fixed))).findings).toEqual([])
    },
  )
})
