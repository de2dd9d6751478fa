import { create } from 'zustand'
import type { RunRef } from '../../app/protocol/store.ts'
import { type Scenario, scenarioConfigs } from '../../app/scenarios/scenario.ts'
import { desktop } from '../bridge/bridge.ts'
import { tell } from './messages.ts'
import { endOf } from './run-end.ts'
import { useSession } from './session.ts'

export const SIDES = ['broken', 'fixed'] as const
export type Side = (typeof SIDES)[number]

/** Ids of the runs of a scenario; null where there is none. */
export type Pair = Readonly<Record<Side, string | null>>

/** What a run of a scenario is called, by which it is found again. */
export const runName = (scenario: string, side: Side): string => `${scenario} (${side})`

/** The newest complete run of each side; `runs` newest first. */
export const pairOf = (runs: readonly RunRef[], scenario: string): Pair => {
  const newest = (side: Side): string | null =>
    runs.find(({ name, status }) => name === runName(scenario, side) && status === 'complete')?.id ?? null
  return { broken: newest('broken'), fixed: newest('fixed') }
}

interface ScenarioStore {
  /** Name of the scenario that is shown. */
  readonly picked: string | null
  readonly words: string
  /** What runs now. */
  readonly running: { readonly scenario: string; readonly side: Side } | null
  readonly pick: (scenario: string | null) => void
  readonly filter: (words: string) => void
  /** Runs it broken, then fixed; both bundles are kept. What goes wrong is told. */
  readonly run: (scenario: Scenario) => Promise<void>
}

/** The scenarios of the gallery and their runs. */
export const useScenarios = create<ScenarioStore>((set) => ({
  picked: null,
  words: '',
  running: null,
  pick: (picked) => set({ picked }),
  filter: (words) => set({ words }),
  run: async (scenario) => {
    const configs = scenarioConfigs(scenario)
    try {
      for (const side of SIDES) {
        set({ running: { scenario: scenario.name, side } })
        const result = await desktop().invoke('startRun', {
          config: configs[side],
          name: runName(scenario.name, side),
        })
        if (!result.ok) throw new Error(result.message)
        if (result.run === undefined || (await endOf(result.run)) !== 'complete') break
      }
      await useSession.getState().refreshRuns()
    } catch (error) {
      tell('error', error instanceof Error ? error.message : String(error))
    } finally {
      set({ running: null })
    }
  },
}))
