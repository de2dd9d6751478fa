import '../../controls/controls.css'
import './scenarios.css'
import { useMemo, useRef } from 'react'
import { SCENARIOS } from '../../../app/scenarios/index.ts'
import { pairOf, useScenarios } from '../../state/scenarios.ts'
import { useSession } from '../../state/session.ts'
import { Detail } from './Detail.tsx'
import { Gallery } from './Gallery.tsx'
import { matching } from './model.ts'
import { useScenarioKeys } from './use-scenario-keys.ts'

/** Known failures: what each is, and how it looks broken and fixed on our own engine. */
export const ScenariosView = () => {
  const { picked, words, run, running } = useScenarios()
  const runs = useSession((s) => s.runs)
  const filter = useRef<HTMLInputElement>(null)
  const shown = useMemo(() => matching(SCENARIOS, words), [words])
  const scenario = shown.find(({ name }) => name === picked) ?? shown[0] ?? null
  useScenarioKeys({
    shown,
    scenario,
    focusFilter: () => filter.current?.focus(),
    run: () => {
      if (scenario !== null && running === null) void run(scenario)
    },
  })
  return (
    <section className="scenarios" aria-label="Scenarios">
      <Gallery shown={shown} picked={scenario?.name ?? null} filter={filter} />
      {scenario === null ? (
        <div className="empty-state">
          <p>No scenario has all of these words.</p>
          <button type="button" className="button" onClick={() => useScenarios.getState().filter('')}>
            Show all
          </button>
        </div>
      ) : (
        <Detail key={scenario.name} scenario={scenario} pair={pairOf(runs, scenario.name)} />
      )}
    </section>
  )
}
