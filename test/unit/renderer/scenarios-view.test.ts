import { describe, expect, test } from 'vitest'
import type { RunRef } from '../../../app/protocol/store.ts'
import { SCENARIOS } from '../../../app/scenarios/index.ts'
import { scenarioConfigs } from '../../../app/scenarios/scenario.ts'
import { pairOf, runName } from '../../../renderer/state/scenarios.ts'
import {
  backendOf,
  eventKinds,
  matching,
  pictureOf,
  sharedRange,
  sideModel,
  worstCell,
} from '../../../renderer/views/scenarios/model.ts'
import { inspectorRows } from '../../../renderer/views/scenarios/use-inspector.ts'

const scenario = (name: string) => {
  const found = SCENARIOS.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no ${name}`)
  return found
}

describe('the gallery', () => {
  test('is filtered by every word, in name, title, back-end, fault and source', () => {
    expect(matching(SCENARIOS, '')).toEqual(SCENARIOS)
    const { backend, source } = {
      backend: backendOf(scenario('lse-base-mismatch')),
      source: scenario('lse-base-mismatch').source,
    }
    expect(matching(SCENARIOS, `LSE-BASE ${backend} ${source}`).map(({ name }) => name)).toContain(
      'lse-base-mismatch',
    )
    expect(matching(SCENARIOS, 'lse nothing-like-it')).toEqual([])
  })
})

describe('the picture of a scenario', () => {
  test('marks for every one of them where the engine goes wrong, on ranks that there are', () => {
    for (const one of SCENARIOS) {
      const { ranks, stations, marks } = pictureOf(one)
      expect(ranks).toBe(scenarioConfigs(one).broken.parallel.dcpSize)
      expect(marks.length, one.name).toBeGreaterThan(0)
      for (const mark of marks) {
        expect(
          stations.map(({ id }) => id),
          one.name,
        ).toContain(mark.station)
        for (const rank of mark.ranks) expect(rank).toBeLessThan(ranks)
      }
    }
  })
  test('names one rank where the fault is on one', () => {
    expect(pictureOf(scenario('coverage-gap-rank')).marks[0]?.ranks).toEqual([1])
    expect(pictureOf(scenario('lse-base-mismatch')).marks[0]).toMatchObject({
      station: 'merge',
      point: 'merge.base',
      ranks: [0, 1, 2, 3],
    })
  })
})

describe('the runs of a scenario', () => {
  const ref = (id: string, name: string, status: RunRef['status'] = 'complete'): RunRef => ({
    id,
    name,
    status,
    createdAt: '',
    title: '',
  })
  test('are the newest complete ones of its two names', () => {
    const runs = [
      ref('a', runName('x', 'broken'), 'stopped'),
      ref('b', runName('x', 'broken')),
      ref('c', runName('x', 'broken')),
      ref('d', runName('x-y', 'fixed')),
    ]
    expect(pairOf(runs, 'x')).toEqual({ broken: 'b', fixed: null })
    expect(pairOf(runs, 'x-y')).toEqual({ broken: null, fixed: 'd' })
  })
})

describe('what is compared', () => {
  test('begins at the worst row and head; NaN is the worst', () => {
    expect(worstCell({ relErr: Float32Array.of(0.1, 3, 0.2, 1), heads: 2 })).toEqual({ row: 0, head: 1 })
    expect(worstCell({ relErr: Float32Array.of(9, 3, Number.NaN, 1), heads: 2 })).toEqual({ row: 1, head: 0 })
    expect(worstCell({ relErr: new Float32Array(), heads: 0 })).toEqual({ row: 0, head: 0 })
  })
  test('has one range of errors for both sides', () => {
    const range = sharedRange([{ relErr: Float32Array.of(1e-7) }, null, { relErr: Float32Array.of(0.5) }])
    expect(range.from).toBeLessThanOrEqual(-7)
    expect(range.to).toBeCloseTo(0)
  })
  test('has each rank with its lse, weight and norm, and the error of what was merged', () => {
    const model = sideModel(
      {
        lse: Float32Array.of(Math.log(1), Math.log(3), Number.NEGATIVE_INFINITY),
        out: Float32Array.of(3, 4, 1, 0, 0, 0),
        lseKernel: new Float32Array(3),
        outKernel: new Float32Array(6),
        merged: Float32Array.of(1.5, 1),
        mergedRank: 0,
        reference: Float64Array.of(1.5, 1),
        referenceLse: null,
      },
      2,
      'e',
    )
    expect(model.ranks.map(({ weight }) => weight)).toEqual([expect.closeTo(0.25), expect.closeTo(0.75), 0])
    expect(model.ranks.map(({ norm }) => norm)).toEqual([5, 1, 0])
    expect(model.error?.relative).toBe(0)
  })
  test('counts events by kind, the most frequent first', () => {
    const event = (kind: string, message: string) => ({
      step: 0,
      layer: 0,
      rank: null,
      request: null,
      timeNs: 0,
      kind,
      severity: 'warning',
      message,
      detail: '',
    })
    expect(eventKinds([event('a', 'one'), event('b', 'two'), event('b', 'three')])).toEqual([
      { kind: 'b', count: 2, message: 'two' },
      { kind: 'a', count: 1, message: 'one' },
    ])
  })
})

test('the inspector has both configurations to copy; the fixed one has no fault', () => {
  const rows = inspectorRows(scenario('lse-base-mismatch'), { info: null }, { info: null })
  const copied = (label: string): unknown =>
    JSON.parse(rows.find((row) => row.label === label)?.copy ?? 'null')
  expect(copied('broken')).toMatchObject({ faults: [{ fault: 'lse-base-mismatch' }] })
  expect(copied('fixed')).toMatchObject({ faults: [] })
})
