import { describe, expect, it } from 'vitest'
import { PRESET_NAMES } from '../../../app/run/config.ts'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { baseOf, isBaseField } from '../../../app/sweep/base.ts'
import { forecastOf } from '../../../app/sweep/forecast.ts'
import { sweepMachine } from '../../../app/sweep/machine.ts'
import { isUnfinished } from '../../../app/sweep/manifest.ts'
import { parseSweepConfig, parseSweepInWindow } from '../../../app/sweep/parse.ts'
import { H200, RATES, single, sweepOf } from './sample.ts'

describe('the base of a sweep', () => {
  it.each(PRESET_NAMES)('written out whole is the same sweep of %s again', (name) => {
    const parsed = parseSweepConfig({}, name)
    if (!parsed.ok) throw new Error('the preset is refused')
    const again = parseSweepConfig({ ...parsed.config, base: baseOf(parsed.config.base) })
    expect(again).toEqual(parsed)
  })

  it('has nothing of a run that a sweep gives or has no place for', () => {
    const run = parseRunConfig({ serving: { backend: 'vllm-flashmla' } }, 'tiny')
    if (!run.ok) throw new Error('the run is refused')
    const base = baseOf(run.config)
    expect(parseSweepConfig({ base }).ok).toBe(true)
    expect(Object.keys(base)).not.toContain('serving')
    for (const path of ['workload.steps', 'parallel.mode', 'check', 'capture.steps', 'faults'])
      expect(isBaseField(path)).toBe(false)
    for (const path of ['workload', 'workload.seed', 'parallel.tpSize', 'model.heads'])
      expect(isBaseField(path)).toBe(true)
  })
})

describe('a sweep in a window', () => {
  it('is refused where only the command line can measure it, and where the machine lacks what it asks for', () => {
    const processes = parseSweepInWindow({ base: { engine: { ranks: 'processes' } } })
    expect(processes).toEqual({
      ok: false,
      issues: [{ path: 'base.engine.ranks', message: expect.stringContaining('command line') }],
    })
    const none = { available: false, reason: 'there is no driver', devices: [] }
    const gpu = { base: { engine: { device: 'cuda' } } }
    expect(parseSweepInWindow(gpu, none)).toMatchObject({
      ok: false,
      issues: [{ path: 'base.engine.device' }],
    })
    expect(parseSweepInWindow(gpu).ok).toBe(true)
  })
})

describe('a forecast', () => {
  const config = sweepOf(single({ mode: ['tp', 'dcp'], dcp: [3, 8], concurrency: [4, 100_000 / 25] }))

  it('counts points and runs, and says what is left out and why', () => {
    const { points, runs, leftOut, limited } = forecastOf(config, H200)
    expect(points).toBe(4)
    expect(leftOut.map(({ key }) => key)).toEqual(expect.arrayContaining(['dcp3-a2a-bf16-q1-c65536-n4']))
    expect(leftOut[0]?.reason).toContain('parallel')
    expect(limited).toBeGreaterThan(0)
    expect(runs).toBeLessThanOrEqual(points * config.repeats)
  })

  it('knows the time of steps only with the rates of the device', () => {
    const without = forecastOf(config, H200)
    const withRates = forecastOf(config, H200, RATES)
    expect([without.whole, withRates.whole]).toEqual([false, true])
    expect(withRates.seconds).toBeGreaterThan(without.seconds)
    // Rates of another type of cache say nothing of this one.
    expect(forecastOf({ ...config, kvDtype: ['fp8'] }, H200, RATES).whole).toBe(false)
  })

  it('is of the device that would measure', () => {
    const auto = sweepOf({})
    const gpu = { name: 'GPU', memoryBytes: 80e9 } as never
    const cuda = { available: true, devices: [gpu] }
    expect(sweepMachine(auto, { memoryAvailableBytes: 8e9 })).toMatchObject({
      device: 'cpu',
      memoryBytes: 8e9,
    })
    expect(sweepMachine(auto, { memoryAvailableBytes: 8e9, cuda })).toMatchObject({
      device: 'cuda',
      memoryBytes: 80e9,
      gpus: undefined,
    })
    const wide = sweepOf({ base: { engine: { ranks: 'processes' } }, dcp: [2] })
    expect(sweepMachine(wide, { memoryAvailableBytes: 8e9, cuda }).device).toBe('cpu')
  })
})

describe('a sweep of a bundle', () => {
  it('can be gone on with unless it is measured, or complete without failures', () => {
    const sweep = (missing: object[]): never => ({ missing }) as never
    const failed = sweep([{ key: 'a', why: 'failed', reason: 'r' }])
    expect(isUnfinished({ status: 'stopped' })).toBe(false)
    expect(isUnfinished({ status: 'running', sweep: failed })).toBe(false)
    for (const status of ['stopped', 'interrupted', 'failed'] as const)
      expect(isUnfinished({ status, sweep: sweep([]) })).toBe(true)
    expect(
      isUnfinished({ status: 'complete', sweep: sweep([{ key: 'a', why: 'memory', reason: 'r' }]) }),
    ).toBe(false)
    expect(isUnfinished({ status: 'complete', sweep: failed })).toBe(true)
  })
})
