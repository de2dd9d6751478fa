import type { Scenario } from '../../../app/scenarios/scenario.ts'
import { useViewKeys } from '../../controls/use-view-keys.ts'
import { useScenarios } from '../../state/scenarios.ts'

interface Keys {
  readonly shown: readonly Scenario[]
  readonly scenario: Scenario | null
  readonly focusFilter: () => void
  readonly run: () => void
}

/** Moves through the gallery by keys; see shell/view-keys.ts. */
export const useScenarioKeys = ({ shown, scenario, focusFilter, run }: Keys): void =>
  useViewKeys((event) => {
    switch (event.code) {
      case 'ArrowUp':
      case 'ArrowDown': {
        const at = scenario === null ? -1 : shown.indexOf(scenario)
        const next = shown[at + (event.code === 'ArrowUp' ? -1 : 1)]
        if (next !== undefined) useScenarios.getState().pick(next.name)
        return true
      }
      case 'KeyR':
        run()
        return true
      case 'Slash':
        if (event.shiftKey) return false
        focusFilter()
        return true
      default:
        return false
    }
  })
