import { describe, expect, it } from 'vitest'
import { dumpDifferences, runDifferences, unlikeness } from '../../../app/compare/configs.ts'
import { divergenceTolerance } from '../../../app/compare/tolerance.ts'
import type { RunConfigInput } from '../../../app/run/config.ts'
import type { Manifest } from '../../../app/trace/manifest.ts'
import { sampleConfig, sampleManifest } from '../store/sample.ts'

const manifest = (config: RunConfigInput, more: Partial<Manifest> = {}): Manifest => ({
  ...sampleManifest(sampleConfig(config)),
  ...more,
})

describe('differences of two runs', () => {
  it('are none between a run and itself, whatever it is called and when it was made', () => {
    const other = manifest({}, { name: 'other', createdAt: '2020-01-01T00:00:00.000Z', status: 'complete' })
    expect(runDifferences(manifest({}), other)).toEqual([])
    expect(unlikeness([])).toEqual([])
  })

  it('are listed with the work first, then the way, the place and what is watched', () => {
    const a = manifest({ workload: { steps: 8 } })
    const b = manifest(
      {
        parallel: { tpSize: 2, dcpSize: 2, comm: 'a2a' },
        workload: { steps: 9, requests: [{ contextLen: 7 }] },
        cache: { kvDtype: 'fp8' },
      },
      { devices: [{ name: 'NVIDIA H200', kind: 'cuda', detail: '' }] },
    )
    const found = runDifferences(a, b)
    expect(found.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'work workload.requests',
      'way parallel.comm',
      'way cache.kvDtype',
      'place device',
      'watch workload.steps',
    ])
    expect(found[1]).toMatchObject({ a: 'ag_rs', b: 'a2a' })
    expect(unlikeness(found)).toEqual([
      'They do not do the same work (workload.requests): times and numbers differ for that alone.',
      'They were not made in the same place (device): what of the times is due to that is not told apart.',
    ])
  })

  it('tell a field that one does not have, and numbers that are emulated', () => {
    const a = manifest({}, { emulated: 'Ranks take turns.' })
    const b = manifest({ workload: { topk: 64 } })
    expect(runDifferences(a, b)).toEqual([
      { kind: 'work', path: 'workload.topk', a: null, b: '64' },
      { kind: 'place', path: 'caveat', a: 'emulated', b: null },
    ])
  })

  it('of the shape of the model are those of its fields, not of the name of the preset', () => {
    const named = manifest({ model: { preset: 'tiny' } })
    expect(runDifferences(manifest({}), named)).toEqual([])
  })
})

describe('differences of two dumps', () => {
  it('are those of the metadata but for the place of the file', () => {
    const a = new Map([
      ['rank', '0'],
      ['step', '3'],
      ['lse_base', 'e'],
      ['num_heads', '16'],
    ])
    const b = new Map([
      ['rank', '1'],
      ['step', '9'],
      ['lse_base', '2'],
      ['num_heads', '8'],
      ['engine', 'x'],
    ])
    expect(dumpDifferences(a, b)).toEqual([
      { kind: 'work', path: 'num_heads', a: '16', b: '8' },
      { kind: 'way', path: 'lse_base', a: 'e', b: '2' },
      { kind: 'place', path: 'engine', a: null, b: 'x' },
    ])
  })
})

it('numbers of one cache type may be apart by the order of sums, those of two by the rounding of the coarser', () => {
  expect(divergenceTolerance('fp32', 'fp32')).toBe(1e-5)
  expect(divergenceTolerance('bf16', 'bf16')).toBe(1e-2)
  expect(divergenceTolerance('fp8', 'fp8')).toBe(1e-2)
  expect(divergenceTolerance(undefined, undefined)).toBe(1e-2)
  expect(divergenceTolerance('fp32', 'bf16')).toBe(1e-2)
  expect(divergenceTolerance('bf16', 'fp8')).toBe(2 ** -4)
})
