import { beforeEach, describe, expect, it } from 'vitest'
import type { RunConfig } from '../../../app/run/config.ts'
import { TimeEstimate } from '../../../app/sweep/estimate.ts'
import type { PointRow } from '../../../app/sweep/point-rows.ts'
import { predictionsOf } from '../../../app/sweep/predictions.ts'
import type { SweepBundle } from '../../../main/store/sweep-bundle.ts'
import { type Loop, measurePoints } from '../../../main/sweep/loop.ts'
import type { PointOutcome, SweepEngine } from '../../../main/sweep/sweep-engine.ts'
import { pointsOf, RATES, single, sweepOf } from '../sweep/sample.ts'

const INPUT = single({ context: [1024, 4096, 16_384, 65_536], concurrency: [1], repeats: 2 })
const POINTS = pointsOf(INPUT)

type Missing = { key: string; why: string; reason: string }

/** What a loop asks of engine and bundle, without either. */
interface Fakes {
  readonly loop: Loop
  readonly runs: number[]
  readonly missing: Missing[]
}

const measured = (): PointOutcome => ({
  kind: 'measured',
  meter: {
    steps: 8,
    tokensPerSecond: 10,
    provenance: 'measured',
    stepMs: { p50: 1, p95: 1 },
    attnMs: 1,
    commMs: 0,
    waitMs: 0,
    stages: {},
  },
  manifest: {} as never,
})

const fakes = (outcome: (context: number) => PointOutcome, over: Partial<Loop> = {}): Fakes => {
  const runs: number[] = []
  const missing: Missing[] = []
  const engine: Pick<SweepEngine, 'run'> = {
    run: async ({ workload }: RunConfig) => {
      const context = workload.requests[0]?.contextLen ?? 0
      runs.push(context)
      return outcome(context)
    },
  }
  const bundle: Pick<SweepBundle, 'add' | 'note' | 'manifest'> = {
    manifest: { sweep: { missing } } as never,
    add: () => {},
    note: (sweep) => {
      missing.splice(0, missing.length, ...sweep.missing)
    },
  }
  const predictions = predictionsOf(POINTS, RATES)
  const loop: Loop = {
    config: sweepOf(INPUT),
    points: POINTS,
    labels: { gpu: 'GPU', model: 'model' },
    predictions,
    estimate: new TimeEstimate('cuda', predictions),
    engine: engine as SweepEngine,
    asked: () => false,
    bundle: bundle as SweepBundle,
    rows: [],
    seconds: Number.POSITIVE_INFINITY,
    show: () => {},
    ...over,
  }
  return { loop, runs, missing }
}

describe('the loop over the points of a sweep', () => {
  let rows: PointRow[]
  beforeEach(() => {
    rows = []
  })

  it('measures every repeat once, and nothing that is there', async () => {
    const first = fakes(measured, { rows })
    expect(await measurePoints(first.loop)).toEqual({ kind: 'complete' })
    expect(first.runs).toEqual([1024, 1024, 4096, 4096, 16_384, 16_384, 65_536, 65_536])
    expect(rows.map(({ repeat }) => repeat)).toEqual([0, 1, 0, 1, 0, 1, 0, 1])
    const again = fakes(measured, { rows: rows.filter((_, i) => i !== 3) })
    expect(await measurePoints(again.loop)).toEqual({ kind: 'complete' })
    expect(again.runs).toEqual([4096])
  })

  it('goes on behind a point that does not fit or fails, whose other repeats it leaves', async () => {
    const { loop, runs, missing } = fakes((context) =>
      context === 4096
        ? { kind: 'memory', reason: 'too large' }
        : context === 16_384
          ? { kind: 'failed', reason: 'the engine died' }
          : measured(),
    )
    expect(await measurePoints(loop)).toEqual({ kind: 'complete' })
    expect(runs).toEqual([1024, 1024, 4096, 16_384, 65_536, 65_536])
    expect(missing.map(({ why, reason }) => [why, reason])).toEqual([
      ['memory', 'too large'],
      ['failed', 'the engine died'],
    ])
  })

  it('gives up behind three failures in a row, but never for want of memory', async () => {
    const failing = fakes(() => ({ kind: 'failed', reason: 'the device failed' }))
    expect(await measurePoints(failing.loop)).toEqual({ kind: 'broken', reason: 'the device failed' })
    expect(failing.runs).toHaveLength(3)
    const small = fakes(() => ({ kind: 'memory', reason: 'too large' }))
    expect(await measurePoints(small.loop)).toEqual({ kind: 'complete' })
  })

  it('stops where it is asked to, and where the engine was', async () => {
    expect(await measurePoints(fakes(measured, { asked: () => true }).loop)).toEqual({ kind: 'stopped' })
    const { loop, runs, missing } = fakes(() => ({ kind: 'stopped' }))
    expect(await measurePoints(loop)).toEqual({ kind: 'stopped' })
    expect([runs.length, missing]).toEqual([1, []])
  })

  it('begins nothing that would probably end too late, but one repeat at least', async () => {
    const { loop, runs } = fakes(measured, { seconds: 0 })
    expect(await measurePoints(loop)).toEqual({ kind: 'out of time' })
    expect(runs).toEqual([1024])
  })

  it('gets on in short slices also behind points that do not fit', async () => {
    const { loop, runs } = fakes(
      (context) => (context < 16_384 ? { kind: 'memory', reason: 'too large' } : measured()),
      { seconds: 0 },
    )
    expect(await measurePoints(loop)).toEqual({ kind: 'out of time' })
    expect(runs).toEqual([1024, 4096, 16_384])
  })

  it('ends with the problem of a bundle that cannot be written', async () => {
    const { loop } = fakes(measured)
    const full = {
      ...loop.bundle,
      manifest: loop.bundle.manifest,
      add: () => {
        throw new Error('the disk is full')
      },
    }
    await expect(measurePoints({ ...loop, bundle: full as never })).rejects.toThrow('the disk is full')
  })
})
