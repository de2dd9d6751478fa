import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StoreResult } from '../../app/protocol/store.ts'
import type { RunConfig } from '../../app/run/config.ts'
import { parseRunConfig } from '../../app/run/parse.ts'
import { scenarioNamed } from '../../app/scenarios/index.ts'
import { SMALL, scenarioConfigs } from '../../app/scenarios/scenario.ts'
import { startRun } from '../../main/engine/driver.ts'
import { portPair } from '../../main/process/port.ts'
import { Store } from '../../main/store/store.ts'
import { type Scratch, scratchFolder } from '../unit/store/sample.ts'
import { addon } from './engine.ts'

/** The first cause of real runs, from what their bundles hold. */

let store: Store
let scratch: Scratch
beforeEach(() => {
  store = new Store()
  scratch = scratchFolder()
})
afterEach(async () => {
  await store.close()
  scratch.remove()
})

let runs = 0

/** Runs a configuration into a bundle, and asks for its first cause. */
const causeOf = async (config: RunConfig): Promise<StoreResult<'firstCause'>> => {
  const runId = `run-${++runs}`
  const [engineEnd, storeEnd] = portPair()
  store.attachEngine(storeEnd)
  const driver = startRun(
    { runId, bundle: join(scratch.path, `${runId}.dcp`), name: runId, config, device: 'cpu' },
    { addon, post: (message) => engineEnd.post(message), report: () => {} },
  )
  engineEnd.onMessage((message) => driver.storeReply(message))
  await driver.done
  return store.request('firstCause', { run: runId, buckets: 100 })
}

const configsOf = (name: string): ReturnType<typeof scenarioConfigs> => {
  const scenario = scenarioNamed(name)
  if (scenario === undefined) throw new Error(`there is no scenario ${name}`)
  return scenarioConfigs(scenario)
}

const parsed = (input: unknown): RunConfig => {
  const result = parseRunConfig(input)
  if (!result.ok) throw new Error(JSON.stringify(result.issues))
  return result.config
}

describe('the first cause of a real run', () => {
  it('is the NaN that kernels left in a row without keys, and not what NaN it made of the merged row', async () => {
    const { broken, fixed } = configsOf('empty-row-not-neutralised-nan')
    const { cause, layers, steps, totals } = await causeOf(broken)
    // Request 1 has one token: it lies on rank 0.
    expect(cause).toMatchObject({
      kind: 'partial',
      merged: { kind: 'nan_in_merged', step: 0, layer: 0, request: 1 },
      before: null,
    })
    if (cause.kind === 'partial')
      expect(cause.partials.map(({ rank, kind }) => [rank, kind])).toEqual(
        [1, 2, 3].map((rank) => [rank, 'empty_row_left']),
      )
    expect([...layers.rank]).toEqual([1, 2, 3])
    expect([...layers.mergedLayers]).toEqual([0])
    expect([...steps.nanMerged]).toEqual([1, 1])
    // At the second step it has a token on rank 1 as well.
    expect(totals).toMatchObject({ rows: 5, steps: 2, layers: 1, requests: 1, nanSteps: 2 })
    expect((await causeOf(fixed)).cause).toMatchObject({ kind: 'harmless', first: { rank: 1, request: 1 } })
  })

  it('is the rank and step that a fault is confined to, although kernels leave NaN before', async () => {
    const config = parsed({
      ...SMALL,
      model: { ...SMALL.model, layers: 3 },
      engine: { ...SMALL.engine, emptyRow: 'nan', zeroWeight: 'multiplied' },
      workload: {
        ...SMALL.workload,
        requests: [{ contextLen: 300 }, { contextLen: 0 }],
        acceptedPerStep: 1,
        steps: 3,
      },
      faults: [{ fault: 'empty-row-not-neutralised', ranks: [3], layers: [1], steps: [1] }],
    })
    const { cause } = await causeOf(config)
    expect(cause).toMatchObject({
      kind: 'partial',
      merged: { step: 1, layer: 1, request: 1 },
      before: { step: 0, layer: 0, rank: 1 },
    })
    if (cause.kind === 'partial') expect(cause.partials.map(({ rank }) => rank)).toContain(3)
  })

  it('is known for sure, rank by rank, where the step was captured', async () => {
    const base = {
      ...SMALL,
      engine: { ...SMALL.engine, emptyRow: 'nan', zeroWeight: 'multiplied' },
      workload: { ...SMALL.workload, requests: [{ contextLen: 300 }, { contextLen: 0 }], steps: 2 },
      faults: [{ fault: 'empty-row-not-neutralised', ranks: [3], steps: [1] }],
    }
    const { cause } = await causeOf(parsed({ ...base, capture: { steps: [1], layers: [0] } }))
    expect(cause).toMatchObject({ kind: 'partial', merged: { step: 1 } })
    if (cause.kind === 'partial')
      expect(cause.partials.map(({ rank, merged }) => [rank, merged])).toEqual([[3, true]])
  })

  it('is not sure of what was in memory where a kernel writes nothing, until that step is captured', async () => {
    const { broken } = configsOf('empty-row-not-neutralised')
    const { cause } = await causeOf(broken)
    expect(cause).toMatchObject({ kind: 'finite', merged: { kind: 'check_failed', step: 0, request: 1 } })
    if (cause.kind === 'finite') expect(cause.suspects.map(({ rank }) => rank)).toEqual([1, 2, 3])
    const captured = await causeOf({ ...broken, capture: { ...broken.capture, steps: [0] } })
    expect(captured.cause).toMatchObject({
      kind: 'partial',
      partials: [{ rank: 1 }, { rank: 2 }, { rank: 3 }],
    })
  })

  it('is none of the leftovers that a capture shows made neutral', async () => {
    const { broken } = configsOf('coverage-gap')
    const { cause } = await causeOf({ ...broken, capture: { ...broken.capture, steps: [0] } })
    expect(cause).toMatchObject({ kind: 'finite', suspects: [] })
  })

  it.each(['lse-base-mismatch', 'coverage-gap', 'lse-dropped'])(
    '%s lies in finite values, and leftovers in other rows are not blamed',
    async (name) => {
      const { broken, fixed } = configsOf(name)
      expect((await causeOf(broken)).cause.kind).toBe('finite')
      expect(['none', 'harmless']).toContain((await causeOf(fixed)).cause.kind)
    },
  )
})
