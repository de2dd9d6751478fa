import { describe, expect, it } from 'vitest'
import { parseSweepConfig } from '../../../app/sweep/parse.ts'
import type { PointRow } from '../../../app/sweep/point-rows.ts'
import { summarise } from '../../../app/sweep/summary.ts'
import { FORMAT_VERSION, type Manifest } from '../../../app/trace/manifest.ts'
import { progressText, sweepDocument, sweepText } from '../../../main/cli/sweep-text.ts'
import type { SweepReport } from '../../../main/sweep/report.ts'
import { RATES, row } from '../sweep/sample.ts'

const manifest = (over: Partial<Manifest> = {}): Manifest => {
  const parsed = parseSweepConfig({}, 'deepseek-v3')
  if (!parsed.ok) throw new Error('the preset is refused')
  return {
    format: 'dcpscope-run',
    formatVersion: FORMAT_VERSION,
    name: 'v3',
    status: 'complete',
    config: parsed.config.base,
    devices: [{ name: 'NVIDIA H200', kind: 'cuda', detail: '' }],
    versions: {},
    clock: { base: '', alignment: '', uncertaintyNs: 0 },
    createdAt: '2026-01-01T00:00:00.000Z',
    sweep: { config: parsed.config, device: 'cuda', memoryBytes: 150e9, rates: RATES, missing: [] },
    ...over,
  }
}

const rated = (tokensPerSecond: number, over: Partial<PointRow>): PointRow[] =>
  [0, 1, 2].map((repeat) =>
    row({ ...over, repeat, tokensPerSecond: tokensPerSecond + repeat, key: `${over.mode}${over.dcp}` }),
  )

const ROWS = [
  ...rated(1000, {
    capacityLimited: true,
    batch: 5,
    concurrency: 64,
    context: 131_072,
    provenance: 'scaled',
  }),
  ...rated(3000, {
    mode: 'dcp',
    dcp: 8,
    comm: 'a2a',
    concurrency: 64,
    batch: 43,
    context: 131_072,
    limit: 'matrix',
  }),
]

const report = (over: Partial<SweepReport> = {}): SweepReport => ({
  bundle: '/tmp/v3.dcp',
  manifest: manifest(),
  end: { kind: 'complete' },
  points: 2,
  measured: 2,
  leftOut: [],
  unpredicted: 0,
  secondsLeft: 0,
  summary: summarise(ROWS),
  ...over,
})

describe('the summary of a sweep in words', () => {
  it('says what was measured, where DCP pays, and that a rate is of what the pool holds', () => {
    const text = sweepText(report())
    expect(text).toMatch(/^v3 \(complete\)\n/)
    expect(text).toContain('deepseek-v3, 8 ranks of NVIDIA H200, bf16, q_len 1: measured and scaled\n')
    expect(text).toMatch(
      /131072 +64 +1,001 \(pool holds 5\) +3,001 +dcp8 a2a +\+200% +\+199% to \+201% +dcp pays +matrix/,
    )
    expect(text).toContain('context 131072: dcp pays from concurrency 64')
    expect(text).toContain('dcp8 a2a: limited by matrix units in 1 point, contexts 131072, concurrency 64')
    expect(text).toMatch(/memory +139\.7 GiB, of which 90% is used; weights 79\.3 GiB a rank\n/)
    expect(text).not.toContain('go on')
  })

  it('says how to go on, what was left out, and why, once a reason', () => {
    const leftOut = ['a', 'b', 'c'].map((key) => ({ key, reason: key === 'c' ? 'other' : 'too wide' }))
    const text = sweepText(report({ end: { kind: 'out of time' }, measured: 1, secondsLeft: 400, leftOut }))
    expect(text).toMatch(/go on +7 min left: dcpscope sweep --out \/tmp\/v3\.dcp\n/)
    expect(sweepText(report({ end: { kind: 'stopped' }, measured: 1, bundle: "/tmp/it's.dcp" }))).toContain(
      `dcpscope sweep --out '/tmp/it'\\''s.dcp'\n`,
    )
    expect(text).toMatch(/left out +2 points, the first a: too wide\n/)
    expect(text).toMatch(/left out +c: other\n/)
  })

  it('never lets emulated exchange or a prediction pass for a measurement', () => {
    const predicted = ROWS.filter(({ repeat }) => repeat === 0).map(
      (one): PointRow => ({ ...one, provenance: 'predicted', transport: 'model', repeat: -1 }),
    )
    const emulated = manifest({ emulated: 'Ranks share one GPU in turn.' })
    const text = sweepText(report({ manifest: emulated, summary: summarise([...ROWS, ...predicted]) }))
    expect(text).toMatch(/emulated +Ranks share one GPU in turn\.\n/)
    expect(text).toContain('measured and scaled, the exchange emulated by copies on one GPU\n')
    expect(text).toContain('q_len 1: predicted for GPUs with a rank each (exchange by a model of NCCL)\n')
    expect(sweepDocument(report({ manifest: emulated }))).toMatchObject({
      emulated: 'Ranks share one GPU in turn.',
      groups: [{ predicted: false, provenances: ['measured', 'scaled'], transport: 'local' }],
    })
  })

  it('says of how many points the cost model knows nothing, and what would help', () => {
    expect(sweepText(report())).not.toContain('unpredicted')
    expect(sweepText(report({ unpredicted: 1 }))).toMatch(
      /unpredicted +1 of 2: runs that tell the rates failed, which only a new sweep makes again\n/,
    )
    expect(sweepDocument(report({ unpredicted: 1 }))).toMatchObject({ unpredicted: 1 })
  })

  it('says where DCP pays also when it does not in the largest', () => {
    const rows = [
      ...ROWS,
      ...ROWS.map((one): PointRow => ({ ...one, mode: one.mode === 'tp' ? 'dcp' : 'tp', concurrency: 128 })),
    ]
    expect(sweepText(report({ summary: summarise(rows) }))).toContain(
      'context 131072: dcp pays at concurrency 64, but not up to the largest\n',
    )
  })

  it('does not spell out an interval that two repeats leave without an end', () => {
    const apart = ROWS.filter(({ repeat }) => repeat < 2).map(
      (one): PointRow => ({ ...one, tokensPerSecond: one.tokensPerSecond * (one.repeat === 0 ? 1 : 2) }),
    )
    expect(sweepText(report({ summary: summarise(apart) }))).toMatch(/ -\d[\d.]*% to over \+99900% /)
  })

  it('says when it counts no weights', () => {
    const parsed = parseSweepConfig({}, 'tiny')
    if (!parsed.ok) throw new Error('the preset is refused')
    const { sweep } = manifest()
    if (sweep === undefined) throw new Error('no sweep')
    const tiny = manifest({ sweep: { ...sweep, config: parsed.config } })
    expect(sweepText(report({ manifest: tiny }))).toMatch(/memory +139\.7 GiB, [^\n]* no weights counted/)
    expect(sweepDocument(report())).toMatchObject({ memory: { bytes: 150e9, utilisation: 0.9 } })
  })

  it('has nothing to compare before anything was measured', () => {
    const text = sweepText(report({ end: { kind: 'stopped' }, measured: 0, summary: summarise([]) }))
    expect(text).toMatch(/points +0 of 2 measured/)
    expect(text).toMatch(/cost model +nothing to compare/)
    expect(sweepText(report({ summary: summarise(ROWS.slice(0, 3)) }))).toContain(
      'nothing to compare: no context',
    )
  })

  it('shows one line while it goes on', () => {
    const progress = { done: 3, total: 30, key: 'tp-c1', repeat: 1, repeats: 3, failed: 0, secondsLeft: 7000 }
    expect(progressText({ phase: 'calibrating', done: 0, total: 6 })).toBe(
      'measuring the rates of the device 1/6',
    )
    expect(progressText({ phase: 'measuring', ...progress, tokensPerSecond: 4321 })).toBe(
      'point 4/30  tp-c1 2/3  4,321 tokens/s before  1.9 h left',
    )
  })
})
