import { beforeAll, describe, expect, it, vi } from 'vitest'
import { INJECTABLE } from '../../bench/diagnosis/draw.ts'
import { runCases } from '../../bench/diagnosis/run.ts'
import { summary } from '../../bench/diagnosis/summary.ts'
import type { Trial } from '../../bench/diagnosis/trial.ts'
import { addonPath } from '../../native/engine.ts'

/** The short form of the benchmark: every fault twice, and as many healthy runs, of fixed seeds. */
const CASES = 2 * INJECTABLE.length
const HEALTHY = 24
vi.setConfig({ hookTimeout: 180_000 })

const trials: Trial[] = []
beforeAll(async () => {
  const of = { first: 0, stride: 1, seed: 300 }
  const tell = (trial: Trial): unknown => trials.push(trial)
  await runCases(addonPath, { ...of, kind: 'faults', count: CASES }, tell)
  await runCases(addonPath, { ...of, kind: 'healthy', count: HEALTHY }, tell)
})

describe('blind diagnosis of drawn runs', () => {
  it('raises no false alarm', () => {
    const { falseAlarms, healthyRuns } = summary(trials)
    expect(falseAlarms).toBe(0)
    expect(healthyRuns).toBeGreaterThanOrEqual(HEALTHY)
  })

  it('names the fault, or says which others look the same, wherever the tensors decide', () => {
    const { decidable, wrong, missed, seeds } = summary(trials)
    expect(seeds).toEqual([])
    expect([wrong, missed]).toEqual([0, 0])
    expect(decidable).toBeGreaterThan(CASES / 3)
  })

  it('lists what it cannot check, and names no other fault instead', () => {
    const { undecidable, anotherNamed } = summary(trials)
    expect(anotherNamed).toBe(0)
    expect(undecidable).toBeGreaterThan(0)
  })

  it('meets every fault that the engine can inject', () => {
    const met = new Set(trials.map(({ fault }) => fault))
    for (const fault of INJECTABLE) expect(met).toContain(fault)
  })
})
