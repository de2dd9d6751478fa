import { describe, expect, it } from 'vitest'
import { coursesOf } from '../../../app/sweep/crossings.ts'
import { frontOf } from '../../../app/sweep/front.ts'
import type { PointRow } from '../../../app/sweep/point-rows.ts'
import { PUBLISHED } from '../../../app/sweep/published.ts'
import { arrangementName, curvesOf, facetOf, spotsOf } from '../../../app/sweep/spots.ts'
import { summarise } from '../../../app/sweep/summary.ts'
import { reasonLines } from '../../../app/sweep/words.ts'
import type { Manifest } from '../../../app/trace/manifest.ts'
import {
  FIRST_LOOK,
  firstLook,
  type Look,
  PICTURES,
  toggled,
} from '../../../renderer/views/throughput/look.ts'
import { marksOf } from '../../../renderer/views/throughput/marks.tsx'
import {
  cellRows,
  heldOf,
  modelOf,
  moved,
  pickedRow,
  progressOf,
  type SweepModel,
} from '../../../renderer/views/throughput/model.ts'
import { PICTURE_OF } from '../../../renderer/views/throughput/Pictures.tsx'
import { publishedName } from '../../../renderer/views/throughput/Published.tsx'
import { crossingsTable, frontTable } from '../../../renderer/views/throughput/picture-tables.ts'
import { lanesOf, placeExtent, rateExtent } from '../../../renderer/views/throughput/scale.ts'
import { groupSource, spotSource } from '../../../renderer/views/throughput/source.ts'
import { pointRows } from '../../../renderer/views/throughput/use-inspector.ts'
import {
  courseText,
  flopsText,
  gainText,
  goOnCommand,
  intervalText,
  paysText,
  perSecondText,
  placeText,
  regimeText,
  tokensText,
} from '../../../renderer/views/throughput/words.ts'
import { RATES, row, sweepOf } from '../sweep/sample.ts'

const CONTEXTS = [1024, 4096]
const CONCURRENCIES = [1, 4, 16]

const config = sweepOf({
  base: { model: { preset: 'deepseek-v3' }, parallel: { tpSize: 8 }, engine: { device: 'cuda' } },
  dcp: [4, 8],
  comm: ['a2a'],
  context: CONTEXTS,
  concurrency: CONCURRENCIES,
  repeats: 2,
  memory: { weightBytes: 80e9 },
})
const sweep = { config, device: 'cuda' as const, memoryBytes: 150e9, rates: RATES, missing: [] }
const MANIFEST: Pick<Manifest, 'emulated'> = { emulated: 'transport is a copy' }

const key = (ranks: string, context: number, concurrency: number): string =>
  `${ranks}-bf16-q1-c${context}-n${concurrency}`

/** All repeats of one arrangement in one cell. */
const repeats = (
  over: Partial<PointRow>,
  context: number,
  concurrency: number,
  rates: readonly number[],
): PointRow[] =>
  rates.map((tokensPerSecond, repeat) =>
    row({
      ...over,
      key: key(over.mode === 'dcp' ? `dcp${over.dcp}-${over.comm}` : 'tp', context, concurrency),
      context,
      concurrency,
      repeat,
      tokensPerSecond,
    }),
  )

const DCP4 = { mode: 'dcp', dcp: 4, comm: 'a2a' }
const DCP8 = { mode: 'dcp', dcp: 8, comm: 'a2a' }

/** DCP pays at 1024 x 4, not at 1024 x 1; nothing else is measured. */
const ROWS: readonly PointRow[] = [
  ...repeats({}, 1024, 1, [100, 101]),
  ...repeats(DCP4, 1024, 1, [99, 102]),
  ...repeats({}, 1024, 4, [100, 101]),
  ...repeats(DCP4, 1024, 4, [200, 203]),
  ...repeats(DCP8, 1024, 4, [150, 151]),
  row({
    ...DCP4,
    key: key('dcp4-a2a', 1024, 4),
    context: 1024,
    concurrency: 4,
    provenance: 'predicted',
    repeat: -1,
    stepMsP50: 9,
    stepMsP95: Number.NaN,
    layersMeasured: -1,
  }),
]

const modelWith = (
  look: Partial<Look> = {},
  rows = ROWS,
  missing: readonly { key: string; why: 'memory' | 'failed'; reason: string }[] = [],
): SweepModel => {
  const of = { ...sweep, missing: [...missing] }
  const model = modelOf({
    sweep: of,
    rows,
    summary: summarise(rows),
    progress: progressOf(of, rows),
    look: { ...FIRST_LOOK, ...look },
  })
  if (model === null) throw new Error('no model')
  return model
}

describe('the gain map', () => {
  it('has a place for every context and concurrency of the sweep, measured or not', () => {
    const { map } = modelWith()
    expect(map.map((places) => places.map(({ concurrency }) => concurrency))).toEqual([
      CONCURRENCIES,
      CONCURRENCIES,
    ])
    const [first] = map
    expect(first?.map(({ cell }) => cell?.verdict)).toEqual(['not significant', 'dcp', undefined])
    expect(first?.[1]?.cell?.best).toMatchObject({ dcp: 4, comm: 'a2a' })
    expect(first?.[2]?.why).toBe('not measured yet')
  })

  it('says why a place compares nothing', () => {
    const missing = [{ key: key('tp', 4096, 16), why: 'memory' as const, reason: 'needs 200 GiB' }]
    const { map } = modelWith({}, ROWS, missing)
    expect(map[1]?.[2]?.why).toBe('needs 200 GiB')
    expect(map[1]?.[1]?.why).toBe('not measured yet')
  })

  it('has published gains only when they are asked for', () => {
    const rows = [...ROWS, ...repeats({}, 32_768, 64, [1, 2])]
    const places = (look: Partial<Look>) =>
      modelWith(look, rows)
        .map.flat()
        .flatMap(({ published }) => published)
    expect(places({})).toEqual([])
    // At 4096 x 64 and at 32K x 64.
    expect(places({ published: true }).map(({ value }) => value)).toEqual([1.638, 1.57])
  })
})

describe('what the curves hold', () => {
  it('is the largest value at which something is compared, until another is chosen or selected', () => {
    const none = { context: null, concurrency: null }
    const held = (look: Partial<Look>, selected: Parameters<typeof heldOf>[2] = none): number =>
      heldOf(modelWith(), { ...FIRST_LOOK, ...look }, selected)
    expect(held({})).toBe(1024)
    expect(held({ axis: 'context' })).toBe(4)
    const chosen = { held: { context: 4096, concurrency: null } }
    expect(held(chosen)).toBe(4096)
    expect(held(chosen, { context: 1024, concurrency: 1 })).toBe(1024)
    expect(held({ held: { context: 77, concurrency: null } })).toBe(1024)
  })
})

describe('what is compared', () => {
  it('is measured, and predictions for GPUs only where there are some', () => {
    expect(modelWith({ compared: 'gpus' })).toMatchObject({ compared: 'measured', choices: ['measured'] })
    const gpu = row({ provenance: 'predicted', transport: 'model', repeat: -1 })
    expect(modelWith({ compared: 'gpus' }, [...ROWS, gpu])).toMatchObject({
      compared: 'gpus',
      choices: ['measured', 'gpus'],
      group: { predicted: true },
    })
  })

  it('is the facet that was chosen, else the first', () => {
    const rows = [...ROWS, ...repeats({ kvDtype: 'fp8' }, 1024, 1, [5])]
    const facets = modelWith({}, rows).facets
    expect(facets.map(({ kvDtype }) => kvDtype)).toEqual(['bf16', 'fp8'])
    expect(modelWith({ facet: facets[1] ?? null }, rows).spots).toHaveLength(1)
    expect(modelWith({}, rows).facet.kvDtype).toBe('bf16')
  })

  it('is nothing before the first row', () => {
    const input = { sweep, rows: [], summary: summarise([]), progress: progressOf(sweep, []) }
    expect(modelOf({ ...input, look: FIRST_LOOK })).toBeNull()
  })
})

describe('a cell', () => {
  const cell = () => cellRows(modelWith(), 1024, 4)

  it('has every arrangement with its gain, and the prediction beside the measurement', () => {
    expect(
      cell().map(({ spot, gain, predicted }) => [arrangementName(spot), gain, predicted?.stepMs]),
    ).toEqual([
      ['tp', null, undefined],
      ['dcp4 a2a', expect.closeTo(Math.sqrt(200 * 203) / Math.sqrt(100 * 101), 9), 9],
      ['dcp8 a2a', expect.closeTo(Math.sqrt(150 * 151) / Math.sqrt(100 * 101), 9), undefined],
    ])
  })

  it('shows the best of it, until another is picked', () => {
    const best = modelWith().map[0]?.[1]?.cell ?? null
    const nameOf = (wanted: string | null) => {
      const picked = pickedRow(cell(), wanted, best)
      return picked === null ? null : arrangementName(picked.spot)
    }
    expect(nameOf(null)).toBe('dcp4 a2a')
    expect(nameOf('dcp8 a2a')).toBe('dcp8 a2a')
    expect(nameOf('dcp2 a2a')).toBe('dcp4 a2a')
    expect(pickedRow([], null, best)).toBeNull()
  })

  it('is told in the inspector with every repeat, exact, and with what was not measured', () => {
    const picked = pickedRow(cell(), 'dcp4 a2a', null)
    if (picked === null) throw new Error('nothing is picked')
    const rows = pointRows(picked, MANIFEST)
    expect(rows).toContainEqual(
      expect.objectContaining({ label: 'repeat 1', copy: '203', source: 'partly emulated' }),
    )
    expect(rows).toContainEqual(
      expect.objectContaining({ label: 'predicted step', copy: '9 ms', source: 'predicted' }),
    )
    expect(rows).toContainEqual(expect.objectContaining({ label: 'kv capacity', copy: '1000000' }))
    expect(rows.map(({ label }) => label)).toEqual(expect.arrayContaining(['95% interval', 'time a token']))
  })
})

describe('what stands beside a number', () => {
  const spot = (over: Partial<PointRow>) => {
    const rows = [row(over)]
    const [first] = rows
    const [found] = first === undefined ? [] : spotsOf(rows, first)
    if (found === undefined) throw new Error('no spot')
    return found
  }

  it('is nothing of a rank alone that was measured, and the emulation of several', () => {
    expect(spotSource(spot({}), MANIFEST)).toBeUndefined()
    expect(spotSource(spot({ provenance: 'scaled' }), MANIFEST)).toBe('scaled')
    expect(spotSource(spot({ ...DCP4, provenance: 'scaled' }), MANIFEST)).toBe('scaled, emulated')
    expect(spotSource(spot(DCP4), {})).toBeUndefined()
    expect(spotSource(spot({ ...DCP4, provenance: 'predicted' }), MANIFEST)).toBe('predicted')
  })

  it('is for gains what is behind all of them', () => {
    expect(groupSource({ predicted: false, provenances: ['scaled'] }, MANIFEST)).toBe('scaled, emulated')
    expect(groupSource({ predicted: true, provenances: ['predicted'] }, MANIFEST)).toBe('predicted')
    expect(groupSource({ predicted: false, provenances: ['measured'] }, {})).toBeUndefined()
  })
})

it('a sweep knows how far it is and what its capacities come from', () => {
  expect(progressOf(sweep, ROWS)).toMatchObject({
    points: 18,
    measured: 5,
    leftOut: [],
    memory: { bytes: 150e9, utilisation: 0.9, weightBytes: 80e9 },
  })
})

it('marks differ in shape by size and in filling by transport, and the baseline is like none', () => {
  const arrangements = [
    { mode: 'tp', dcp: 1, comm: 'none' },
    ...[2, 4, 8].flatMap((dcp) => ['ag_rs', 'a2a', 'p2p'].map((comm) => ({ mode: 'dcp', dcp, comm }))),
  ]
  for (const theme of ['light', 'dark'] as const) {
    const marks = [...marksOf(arrangements, theme).values()]
    const looks = marks.map(({ shape, filling }) => [shape, filling] as const)
    expect(marks).toHaveLength(10)
    for (const [i, [shape, filling]] of looks.entries())
      expect(looks.findIndex((look) => look[0] === shape && look[1] === filling)).toBe(i)
    expect(new Set(marks.map(({ colour }) => colour)).size).toBe(10)
  }
})

describe('axes', () => {
  it('of rates begin at zero, or hold all rates between round numbers', () => {
    expect(rateExtent([97, 12], false)).toEqual({ domain: [0, 100], ticks: [0, 20, 40, 60, 80, 100] })
    expect(rateExtent([97, 12], true)).toEqual({ domain: [10, 100], ticks: [10, 20, 50, 100] })
    expect(rateExtent([50], true).domain).toEqual([50, 100])
    expect(rateExtent([1, 1e6], true).ticks).toHaveLength(7)
    expect(rateExtent([0, Number.NaN, Number.POSITIVE_INFINITY], true)).toEqual(rateExtent([], false))
  })

  it('of places have a width even with one', () => {
    expect(placeExtent([16, 1, 4, 4])).toEqual({ domain: [1, 16], ticks: [1, 4, 16] })
    expect(placeExtent([4])).toEqual({ domain: [2, 8], ticks: [4] })
  })
})

describe('words', () => {
  it('name tokens, gains and where dcp pays', () => {
    expect([256, 1024, 1000, 131_072, 2 ** 20].map(tokensText)).toEqual([
      '256',
      '1K',
      '1\u2009000',
      '128K',
      '1M',
    ])
    expect([1.38, 0.958, 1, 1.004, 4.2].map(gainText)).toEqual(['+38%', '−4.2%', '0.0%', '+0.4%', '+320%'])
    expect(gainText(5e6)).toMatch(/^over \+99\s900%$/)
    const nowhere = { at: 1, from: null, pays: [], unclear: false }
    expect(paysText('concurrency', { ...nowhere, from: 4, pays: [4, 16] })).toBe('pays from concurrency 4 on')
    expect(paysText('context', { ...nowhere, pays: [1024, 8192] })).toBe(
      'pays at context 1K, 8K, not up to the largest',
    )
    expect(paysText('context', nowhere)).toBe('pays at no context')
    expect(paysText('context', { ...nowhere, unclear: true })).toContain('not significant')
    const cell = modelWith().map[0]?.[0]?.cell
    if (cell == null) throw new Error('no cell')
    expect(intervalText(cell)).toMatch(/ \(95%: −\d.*% to \+\d.*%\)$/)
    expect(intervalText({ ...cell, interval: null })).toBe(gainText(cell.gain))
  })

  it('say what limits where', () => {
    const regime = {
      ...DCP4,
      limit: 'hbm' as const,
      points: 1,
      contexts: [1024, 1024],
      concurrencies: [1, 16],
    }
    expect(regimeText({ ...regime, contexts: [1024, 1024], concurrencies: [1, 16] })).toBe(
      'memory bandwidth in 1 point: context 1K, concurrency 1 to 16',
    )
  })

  it('join points with the same reason', () => {
    const lines = reasonLines([
      { key: 'a', reason: 'x' },
      { key: 'b', reason: 'y' },
      { key: 'c', reason: 'x' },
    ])
    expect(lines).toEqual([
      { text: '2 points, the first a: x', keys: ['a', 'c'] },
      { text: 'b: y', keys: ['b'] },
    ])
  })

  it('quote a name for the shell where it needs that', () => {
    expect(goOnCommand('v3')).toBe('dcpscope sweep --out v3.dcp')
    expect(goOnCommand("it's here")).toBe(`dcpscope sweep --out 'it'\\''s here.dcp'`)
  })
})

it('moving stays within the values, and begins at the first', () => {
  expect([moved([1, 4, 16], 4, 1), moved([1, 4, 16], 16, 1), moved([1, 4, 16], 1, -1)]).toEqual([16, 16, 1])
  expect([moved([1, 4], null, 1), moved([], null, 1)]).toEqual([1, null])
})

it('published figures have a name each', () => {
  expect(new Set(PUBLISHED.map(publishedName)).size).toBe(PUBLISHED.length)
})

it('a curve that is left out comes back', () => {
  expect([...toggled(toggled(new Set(['a']), 'b'), 'a')]).toEqual(['b'])
})

describe('the pictures of a sweep', () => {
  it('put labels that would touch on lines of their own', () => {
    expect(
      lanesOf([
        [0, 50],
        [10, 60],
        [50, 90],
        [55, 99],
        [62, 70],
      ]),
    ).toEqual([0, 1, 0, 2, 1])
    expect(lanesOf([])).toEqual([])
  })

  it('name places between those of an axis, rates of a device, and arrangements that pass nobody', () => {
    expect(placeText('context', 9500)).toBe('about 9.3K')
    expect(placeText('context', 3.4 * 2 ** 20)).toBe('about 3.4M')
    expect(placeText('concurrency', 12.34)).toBe('about 12')
    expect(flopsText(6e14)).toBe('600 TFLOP/s')
    expect(flopsText(0)).toBe('0 FLOP/s')
    expect(perSecondText(4.2e12)).toBe('4.20 TB/s')
    const course = { name: 'dcp4 a2a', crossings: [], from: 1024, to: 4096 }
    expect(courseText({ ...course, begins: 'dcp' }, 'context')).toBe('faster than tp from 1K to 4K')
    expect(courseText({ ...course, begins: 'tp', to: 1024 }, 'context')).toBe('slower than tp at 1K')
    expect(courseText({ ...course, begins: undefined }, 'context')).toBe('as fast as tp from 1K to 4K')
  })

  it('are saved as tables with units, exact, and say what was not measured', () => {
    const spots = spotsOf(ROWS, facetOf(row()))
    const front = frontTable(frontOf(spots, 8), MANIFEST)
    expect(front.header).toContain('ms_per_token')
    expect(front.rows.every((line) => line.length === front.header.length)).toBe(true)
    expect(front.rows.find(([name]) => name === 'dcp4 a2a')?.[3]).toContain('emulated')
    const courses = coursesOf(curvesOf(spots, 'concurrency', 1024), 'concurrency', 'repeats')
    const crossings = crossingsTable(courses, 'concurrency', 1024)
    for (const line of crossings.rows) expect(line).toHaveLength(crossings.header.length)
    expect(crossings.rows.find(([name]) => name === 'dcp4 a2a')?.slice(0, 2)).toEqual(['dcp4 a2a', 1024])
  })

  it('each have a key of their own that no other key of the view is', () => {
    expect([...PICTURE_OF.values()]).toEqual([...PICTURES])
    const taken = ['KeyP', 'KeyN', 'KeyX', 'KeyL', 'KeyR', 'KeyM', 'KeyI']
    for (const code of PICTURE_OF.keys()) expect(taken).not.toContain(code)
  })
})

it('is looked at along the axis that has several values', () => {
  const axisOf = (context: readonly number[], concurrency: readonly number[]) =>
    firstLook({ context: [...context], concurrency: [...concurrency] }).axis
  expect(axisOf([1024, 4096], [8])).toBe('context')
  expect(axisOf([1024, 4096], [1, 8])).toBe('concurrency')
  expect(axisOf([1024], [8])).toBe('concurrency')
})
