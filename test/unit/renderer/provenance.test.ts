import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, it } from 'vitest'
import type { RunInfo } from '../../../app/protocol/store.ts'
import type { Manifest, RunSummary } from '../../../app/trace/manifest.ts'
import { PROVENANCES, STAGES } from '../../../app/trace/stages.ts'
import { countedDevices } from '../../../renderer/drawing/counted-devices.ts'
import { observerShare, observerText } from '../../../renderer/drawing/observer.ts'
import { placedSource, sourceNote, sourcesOfBits, withSource } from '../../../renderer/drawing/provenance.ts'
import { runRows } from '../../../renderer/shell/run-rows.ts'
import { stepRows } from '../../../renderer/shell/use-step-rows.ts'
import { presetDraft } from '../../../renderer/state/form.ts'
import { figuresOf, TOTALS_SQL } from '../../../renderer/views/run/figures.ts'
import { areaFacts, itemFacts, type Span, spanFacts } from '../../../renderer/views/timeline/facts.ts'
import type { HoveredItem } from '../../../renderer/views/timeline/scene.ts'
import { statOf } from './span-stat.ts'

const EMULATED =
  'Ranks share one GPU in turn: lanes are shifted to the start of the step, transports are emulated.'

/** Labels of the rows or facts that say where their number comes from. */
const labelled = (facts: readonly { label: string; source?: string | undefined }[]): Record<string, string> =>
  Object.fromEntries(facts.flatMap(({ label, source }) => (source === undefined ? [] : [[label, source]])))

describe('what stands beside a number', () => {
  it('is nothing when all was measured, and names what was not', () => {
    expect(sourceNote(['measured', 'measured'])).toBeUndefined()
    expect(sourceNote([])).toBeUndefined()
    expect(sourceNote([null])).toBeUndefined()
    expect(sourceNote(['emulated'])).toBe('emulated')
    expect(sourceNote(['measured', 'emulated', 'emulated'])).toBe('partly emulated')
    expect(sourceNote(['scaled', 'emulated'])).toBe('scaled, emulated')
  })

  it('goes along when it is copied', () => {
    expect(withSource('4700000', 'emulated')).toBe('4700000 (emulated)')
    expect(withSource('4700000', undefined)).toBe('4700000')
  })

  it('is read from the bits of a tile', () => {
    const bits = (1 << PROVENANCES.indexOf('scaled')) | (1 << PROVENANCES.indexOf('measured'))
    expect(sourcesOfBits(bits)).toEqual(['measured', 'scaled'])
  })
})

const span: Span = {
  step: 3,
  layer: 1,
  stage: STAGES.indexOf('lse_all_gather'),
  startNs: 1000,
  durNs: 500,
  bytes: 4000,
  flops: 100,
  collectiveSeq: 7,
  enterNs: 1000,
  lastEnterNs: 1300,
  provenance: 'emulated',
}

const item: HoveredItem = {
  rank: 0,
  startNs: 0,
  durNs: 10,
  busyNs: 8,
  waitNs: 2,
  stage: 'merge',
  step: 0,
  layer: 0,
  count: 2,
  sources: ['measured', 'emulated'],
}

describe('the facts of a span', () => {
  it('label every time and rate of an emulated one, and no count', () => {
    expect(labelled(spanFacts(0, span))).toEqual({
      duration: 'emulated',
      waiting: 'emulated',
      transfer: 'emulated',
      bandwidth: 'emulated',
      rate: 'emulated',
    })
    expect(labelled(spanFacts(0, { ...span, provenance: 'measured' }))).toEqual({})
  })

  it('label the place in time of a measured one where lanes are shifted', () => {
    const placed = placedSource({ emulated: EMULATED })
    expect(labelled(spanFacts(0, { ...span, provenance: 'measured' }, placed))).toEqual({ start: 'emulated' })
  })

  it('label merged spans by all that they merge', () => {
    expect(labelled(itemFacts(item))).toEqual({
      duration: 'partly emulated',
      covered: 'partly emulated',
      waiting: 'partly emulated',
    })
    expect(labelled(itemFacts({ ...item, sources: ['measured'] }))).toEqual({})
  })

  it('label the totals of an area stage by stage', () => {
    const rows = [
      statOf('decode_attn', 12, 6000, 0, 'measured'),
      statOf('lse_all_gather', 12, 2000, 1500, 'emulated'),
    ]
    expect(labelled(areaFacts(rows, 5000, 2, 'emulated'))).toEqual({
      time: 'emulated',
      'in spans': 'partly emulated',
      waiting: 'emulated',
      lse_all_gather: 'emulated',
      'of it waiting': 'emulated',
    })
  })
})

const steps = {
  step: Int32Array.of(12),
  startNs: Float64Array.of(1_500_000),
  wallNs: Float64Array.of(4_700_000),
  deviceNs: Float64Array.of(17_000_000),
  untracedNs: Float64Array.of(16_900_000),
  tokensPerSecond: Float64Array.of(851),
  maxRelErr: Float64Array.of(Number.NaN),
  checkedRows: Int32Array.of(0),
  draftProposed: Int32Array.of(-1),
  draftAccepted: Int32Array.of(-1),
  graphReplayed: Uint8Array.of(1),
  kernelTrace: Uint8Array.of(0),
  provenance: Uint8Array.of(PROVENANCES.indexOf('emulated')),
}

describe('the numbers of a step', () => {
  it('say what is emulated, and what the device took for all ranks beside it', () => {
    const rows = stepRows(steps, 12, { emulated: EMULATED })
    expect(labelled(rows)).toEqual({ duration: 'emulated', throughput: 'emulated' })
    expect(rows).toContainEqual({
      label: 'device',
      value: '17.00\u2009ms',
      copy: '17000000',
      note: 'for all ranks',
    })
    expect(rows).toContainEqual({
      label: 'untraced',
      value: '16.90\u2009ms',
      copy: '16900000',
      note: 'device, tracing off',
    })
    expect(rows).toContainEqual({ label: 'graph', value: 'replayed' })
  })

  it('have one time where ranks run at once', () => {
    const plain = {
      ...steps,
      deviceNs: steps.wallNs,
      untracedNs: Float64Array.of(Number.NaN),
      graphReplayed: Uint8Array.of(0),
      kernelTrace: Uint8Array.of(0),
    }
    const labels = stepRows(plain, 12, {}).map(({ label }) => label)
    for (const absent of ['device', 'untraced', 'graph']) expect(labels).not.toContain(absent)
  })
})

const summary: RunSummary = {
  device: 'cuda',
  backend: 'native',
  ranks: 4,
  steps: 5,
  tokensPerSecond: 1000,
  provenance: 'emulated',
  stepMs: { p50: 4, p95: 5 },
  deviceStepMs: { p50: 16, p95: 17 },
  observerCost: { tracedUs: 1005, untracedUs: 1000, ratio: 1.005 },
  stages: {},
  check: {
    checkedRows: 0,
    maxAbsErr: null,
    maxRelErr: null,
    nanRows: 0,
    emptyRows: 0,
    tolerance: 0.01,
    ok: true,
  },
  dropped: 0,
}

const infoOf = (manifest: Partial<Manifest>): RunInfo => ({
  id: 'a',
  manifest: {
    format: 'dcpscope-run',
    formatVersion: 2,
    name: 'a',
    status: 'complete',
    config: presetDraft('tiny'),
    devices: [{ name: 'NVIDIA H200', kind: 'cuda', detail: 'driver 580.1' }],
    versions: {},
    clock: { base: '', alignment: '', uncertaintyNs: 0 },
    createdAt: '',
    ...manifest,
  },
  steps: 5,
  ranks: 4,
  startNs: 0,
  endNs: 1,
  spanCount: 0,
  captures: [],
})

describe('the numbers of a run', () => {
  it('say in the inspector what is emulated, in words and beside each', () => {
    const rows = runRows(infoOf({ summary, emulated: EMULATED }), 'complete')
    expect(rows).toContainEqual({ label: 'emulated', value: EMULATED })
    expect(labelled(rows)).toEqual({
      throughput: 'emulated',
      'step p50': 'emulated',
      'step p95': 'emulated',
      'traced time': 'emulated',
    })
    expect(rows.find(({ label }) => label === 'device p50')?.note).toBe('for all ranks')
    expect(rows.find(({ label }) => label === 'observer cost')?.value).toBe('+0.5\u2009%')
  })

  it('say that times hold turns of others where ranks shared a GPU in processes of their own', () => {
    const sliced = { ...summary, provenance: 'time-sliced' as const }
    const timeSliced = 'There are more ranks than GPUs.'
    const rows = runRows(infoOf({ summary: sliced, timeSliced }), 'complete')
    expect(rows).toContainEqual({ label: 'time-sliced', value: timeSliced })
    expect(labelled(rows)).toMatchObject({ throughput: 'time-sliced', 'traced time': 'time-sliced' })
    expect(placedSource({ timeSliced })).toBe('time-sliced')
    expect(figuresOf(infoOf({ summary: sliced, timeSliced }), null, null).source).toBe('time-sliced')
  })

  it('name GPUs of one kind together', () => {
    const [device] = infoOf({}).manifest.devices
    if (device === undefined) throw new Error('a run without a device')
    const other = { ...device, name: 'another' }
    expect(countedDevices([device, other, device]).map(({ name }) => name)).toEqual([
      `2 x ${device.name}`,
      'another',
    ])
  })

  it('have no word where all was measured', () => {
    const { deviceStepMs: _, observerCost: __, ...measured } = { ...summary, provenance: 'measured' as const }
    expect(labelled(runRows(infoOf({ summary: measured }), 'complete'))).toEqual({})
  })

  it('have two times where ranks took turns', () => {
    expect(figuresOf(infoOf({ summary, emulated: EMULATED }), null, null)).toMatchObject({
      stepMs: 4,
      deviceStepMs: 16,
      source: 'emulated',
    })
  })

  it('name both reasons where ranks took turns on some of the layers', () => {
    const scaled = { ...summary, provenance: 'scaled' as const }
    expect(figuresOf(infoOf({ summary: scaled, emulated: EMULATED }), null, null).source).toBe(
      'scaled, emulated',
    )
  })

  it('of a bundle without a summary are scaled as its steps are', async () => {
    const duck = await DuckDBInstance.create()
    const connection = await duck.connect()
    // 4 tokens in 2 ms on one of four layers.
    await connection.run(`CREATE TABLE steps AS SELECT 4 AS tokens, 500.0::DOUBLE AS tokens_per_s,
      2000000 AS wall_ns, i * 3000000 AS device_ns, NULL::DOUBLE AS max_rel_err, 0 AS checked_rows,
      NULL::INTEGER AS draft_proposed, NULL::INTEGER AS draft_accepted,
      i = 3 AS kernel_trace, 'scaled' AS provenance
      FROM range(1, 4) AS t(i)`)
    const answer = await connection.runAndReadAll(TOTALS_SQL)
    const rows = answer.getRowsJS()
    duck.closeSync()
    expect(
      figuresOf(infoOf({ status: 'interrupted' }), null, { columns: [], rows, truncated: false }),
    ).toMatchObject({ tokensPerSecond: 500, stepMs: 2, deviceStepMs: 4.5, source: 'scaled' })
  })
})

describe('the cost of the observer', () => {
  it('is what a traced step takes more, with its sign', () => {
    expect(observerShare({ tracedUs: 990, untracedUs: 1000, ratio: 0.99 })).toBeCloseTo(-0.01)
    expect(observerText({ tracedUs: 990, untracedUs: 1000, ratio: 0.99 })).toBe('−1.0\u2009%')
    expect(observerText({ tracedUs: 1000, untracedUs: 1000, ratio: 1 })).toBe('0.0\u2009%')
  })
})
