import { describe, expect, it } from 'vitest'
import { FAULTS } from '../../app/faults/index.ts'
import { cpuOnly, engineConfig } from '../../app/run/engine-config.ts'
import { unsupported } from '../../app/run/support.ts'
import { SCENARIOS } from '../../app/scenarios/index.ts'
import { scenarioConfigs } from '../../app/scenarios/scenario.ts'
import { captureOf, column, type Finished, finish, tensorOf, worst } from './engine.ts'

/** Tensors that differ in their bytes or shapes on some rank. */
const differing = (broken: Finished, fixed: Finished, ranks: number): string[] => {
  const names = captureOf(fixed, 0).tensors.map(({ name }) => name)
  const bytes = (run: Finished, rank: number, name: string): string => {
    const { shape, data } = tensorOf(captureOf(run, rank), name)
    return `${shape} ${Buffer.from(data).toString('base64')}`
  }
  return names.filter((name) =>
    Array.from({ length: ranks }, (_, rank) => rank).some(
      (rank) => bytes(broken, rank, name) !== bytes(fixed, rank, name),
    ),
  )
}

describe('the scenario library', () => {
  it('has every fault that can be injected', () => {
    const shown = new Set(SCENARIOS.map(({ fault }) => fault))
    expect(FAULTS.filter(({ injection, name }) => injection !== undefined && !shown.has(name))).toEqual([])
  })

  it('has nothing that a GPU refuses', () => {
    for (const scenario of SCENARIOS)
      expect(cpuOnly(scenarioConfigs(scenario).broken), scenario.name).toEqual([])
  })

  it('names each scenario once, by its fault', () => {
    expect(new Set(SCENARIOS.map(({ name }) => name)).size).toBe(SCENARIOS.length)
    for (const { name, fault, faults } of SCENARIOS) {
      expect(name.startsWith(fault)).toBe(true)
      expect(faults.map((entry) => entry.fault)).toContain(fault)
    }
  })
})

describe.each(SCENARIOS)('scenario $name', (scenario) => {
  const { broken, fixed } = scenarioConfigs(scenario)

  it('is what its back-end and the engine accept', () => {
    expect([...unsupported(broken), ...unsupported(fixed)]).toEqual([])
  })

  it('differs from the fixed run in the tensors that it names, and the fixed one is right', async () => {
    const runs = { broken: await finish(engineConfig(broken)), fixed: await finish(engineConfig(fixed)) }
    const error = (run: Finished): number => worst(column(run.chunks, 'steps', -1, 'max_rel_err'))
    expect(error(runs.fixed)).toBeLessThan(1e-2)
    const accepted = (run: Finished): number =>
      column(run.chunks, 'steps', -1, 'draft_accepted').reduce((sum, tokens) => sum + tokens)
    const proposed = column(runs.fixed.chunks, 'steps', -1, 'draft_proposed')
    if (scenario.onDraft) {
      expect(accepted(runs.fixed)).toBe(proposed.reduce((sum, tokens) => sum + tokens))
      expect(accepted(runs.broken)).toBeLessThan(accepted(runs.fixed) * 0.9)
    }
    if (scenario.harmless || scenario.onDraft) expect(error(runs.broken)).toBeLessThan(1e-2)
    else expect(error(runs.broken)).toBeGreaterThan(1e-2)
    expect(differing(runs.broken, runs.fixed, fixed.parallel.dcpSize).sort()).toEqual(
      [...scenario.shows].sort(),
    )
  })
})
