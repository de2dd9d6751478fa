import type { Scenario } from '../../../app/scenarios/scenario.ts'
import { scenarioConfigs } from '../../../app/scenarios/scenario.ts'
import { sourceAddress } from '../../controls/source-address.ts'
import { formatSci } from '../../drawing/format.ts'
import { type InspectorRow, useInspector } from '../../shell/Inspector.tsx'
import { backendOf } from './model.ts'
import type { SideState } from './use-side.ts'

type Ran = Pick<SideState, 'info'>

const errorRow = (label: string, { info }: Ran): InspectorRow[] => {
  const error = info?.manifest.summary?.check.maxRelErr
  return error == null ? [] : [{ label: `${label}, error`, value: formatSci(error), copy: String(error) }]
}

/** What the inspector says of a scenario and its runs. */
export const inspectorRows = (scenario: Scenario, broken: Ran, fixed: Ran): InspectorRow[] => {
  const configs = scenarioConfigs(scenario)
  return [
    { label: 'name', value: scenario.name },
    { label: 'fault', value: scenario.fault },
    { label: 'back-end', value: backendOf(scenario) },
    { label: 'source', value: scenario.source, copy: sourceAddress(scenario.source) },
    { label: 'differ', value: scenario.shows.join(', '), note: 'tensors' },
    ...errorRow('broken', broken),
    ...errorRow('fixed', fixed),
    { label: 'faults', value: 'as JSON', copy: JSON.stringify(configs.broken.faults, null, 2) },
    { label: 'broken', value: 'configuration', copy: JSON.stringify(configs.broken, null, 2) },
    { label: 'fixed', value: 'configuration', copy: JSON.stringify(configs.fixed, null, 2) },
    { label: 'command', value: `dcpscope run --scenario ${scenario.name} --out DIR` },
  ]
}

/** Puts the shown scenario into the inspector. */
export const useScenarioInspector = (scenario: Scenario, broken: Ran, fixed: Ran): void =>
  useInspector(
    {
      view: 'scenarios',
      title: 'Scenario',
      rows: inspectorRows(scenario, broken, fixed),
      about: [],
    },
    [scenario, broken.info, fixed.info],
  )
