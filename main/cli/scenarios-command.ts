import { profileNamed } from '../../app/backends/index.ts'
import { SCENARIOS } from '../../app/scenarios/index.ts'
import type { Scenario } from '../../app/scenarios/scenario.ts'
import { textTable } from './text-table.ts'

/** The library of known failures. */
export const scenariosCommand = (json: boolean): string => {
  const all = SCENARIOS.map((scenario) => ({
    name: scenario.name,
    title: scenario.title,
    backend: backendOf(scenario),
    fault: scenario.fault,
    source: scenario.source,
  }))
  if (json) return JSON.stringify(all)
  return textTable(
    ['name', 'back-end', 'source', 'title'],
    all.map(({ name, backend, source, title }) => [name, backend, source, title]),
  )
}

/** What a person reads of a scenario above its two runs. */
export const scenarioText = (scenario: Scenario): string =>
  [
    `${scenario.name}: ${scenario.title}`,
    ...wrapped(scenario.explanation, 100).map((line) => `  ${line}`),
    `  Back-end ${backendOf(scenario)}, fault ${scenario.fault}, seen in ${scenario.source}.`,
  ].join('\n')

const backendOf = ({ config }: Scenario): string => profileNamed(config.serving?.backend).name

const wrapped = (text: string, width: number): string[] => {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}
