import { describe, expect, it } from 'vitest'
import { runNotes } from '../../../app/events/run-notes.ts'
import { EVENT_LEVELS, KIND_MEANS, KIND_WORDS, KINDS_OF, kindWord } from '../../../app/events/words.ts'
import { tabText } from '../../../app/messages/csv.ts'
import { runConfigSchema } from '../../../app/run/config.ts'
import { NO_FILTER, useEventStore } from '../../../renderer/state/events.ts'
import { NO_SELECTION } from '../../../renderer/state/selection.ts'
import {
  barHeight,
  type Density,
  densityText,
  partText,
  stepsOfParts,
} from '../../../renderer/views/events/density.ts'
import {
  type FirstCause,
  gridText,
  layerGrid,
  placeOfCause,
  stepGrid,
  totalsText,
} from '../../../renderer/views/events/grid.ts'
import { spanSql } from '../../../renderer/views/events/jumps.ts'
import {
  type EventGroup,
  type EventRow,
  filterOfGroup,
  filterOfSelection,
  groupWord,
  movedCursor,
  PAGE,
  pageText,
  placeOf,
  placeText,
  stepsText,
} from '../../../renderer/views/events/model.ts'
import { sharesOf } from '../../../renderer/views/events/spread.ts'
import { spotText, spreadGeometry, spreadHit } from '../../../renderer/views/events/spread-geometry.ts'
import { eventTable, groupTable } from '../../../renderer/views/events/table-text.ts'
import { eventInspectorRows } from '../../../renderer/views/events/use-inspector.ts'
import { sampleManifest } from '../store/sample.ts'

const group = (key: string | number, count: number): EventGroup => ({
  key,
  severity: 'error',
  count,
  steps: 2,
  firstStep: 3,
  lastStep: 1200,
})

const event = (over: Partial<EventRow> = {}): EventRow => ({
  step: 4,
  layer: -1,
  rank: null,
  request: 2,
  qIndex: null,
  timeNs: 99,
  kind: 'empty_rank',
  severity: 'info',
  message: 'Rank 1 holds no key.',
  detail: '{"value":1,"limit":3}',
  ...over,
})

describe('kinds', () => {
  it('have a word and a meaning each, and unknown ones are shown as they are', () => {
    for (const level of EVENT_LEVELS)
      for (const kind of KINDS_OF[level]) {
        expect(KIND_WORDS[kind]).toMatch(/^[A-Z]/)
        expect(KIND_MEANS[kind]).toMatch(/^[A-Z].*\.$/)
      }
    expect(kindWord('of_tomorrow')).toBe('of_tomorrow')
  })
})

describe('groups', () => {
  it('are named by what they are of, also where that is nothing', () => {
    expect(groupWord('kind', 'check_failed')).toBe('Off the reference')
    expect([groupWord('layer', -1), groupWord('rank', -1), groupWord('step', 1200)]).toEqual([
      'whole step',
      'no rank',
      'step 1\u2009200',
    ])
    expect(stepsText(group('x', 9))).toBe('2 steps, 3 to 1\u2009200')
    expect(stepsText({ ...group('x', 1), steps: 1 })).toBe('step 3')
  })

  it('are opened by a filter that leaves only them', () => {
    const filter = { ...NO_FILTER, rank: 2 }
    expect(filterOfGroup(filter, 'kind', 'nan_in_merged')).toEqual({ ...filter, kinds: ['nan_in_merged'] })
    expect(filterOfGroup(filter, 'layer', -1)).toEqual({ ...filter, layer: -1 })
    expect(filterOfGroup(filter, 'step', 7)).toEqual({ ...filter, fromStep: 7, toStep: 7 })
  })
})

describe('the spread of a kind', () => {
  const group = (key: number, count: number, firstStep: number): EventGroup => ({
    key,
    severity: 'error',
    count,
    steps: 1,
    firstStep,
    lastStep: firstStep,
  })

  it('begins with the rank or layer that had the first, and is bounded', () => {
    const shares = sharesOf([group(0, 4, 9), group(1, 8, 3), group(2, 2, 3)])
    expect(shares).toEqual([
      { key: 1, count: 8, share: 1, firstStep: 3 },
      { key: 2, count: 2, share: 0.25, firstStep: 3 },
      { key: 0, count: 4, share: 0.5, firstStep: 9 },
    ])
    expect(sharesOf(Array.from({ length: 64 }, (_, i) => group(i, 1, 0)))).toHaveLength(8)
    expect(sharesOf([])).toEqual([])
  })

  it('names the place of the first in words, as far as it has one', () => {
    const row = {
      step: 3,
      layer: -1,
      rank: null,
      request: 2,
      qIndex: null,
      timeNs: 1,
      kind: '',
      severity: 'info',
      message: '',
      detail: '{}',
    } as const
    expect(placeText(row)).toBe('step 3, request 2')
    expect(placeText({ ...row, layer: 0, rank: 1, request: null, qIndex: 0 })).toBe(
      'step 3, layer 0, rank 1, query row 0',
    )
  })
})

describe('places', () => {
  it('are selected, and a selection filters', () => {
    expect(placeOf(event())).toEqual({
      step: 4,
      layer: null,
      rank: null,
      request: 2,
      qIndex: null,
      timeNs: 99,
    })
    expect(filterOfSelection({ ...NO_SELECTION, step: 4, rank: 1, head: 3 })).toEqual({
      layer: null,
      rank: 1,
      request: null,
      fromStep: 4,
      toStep: 4,
    })
  })

  it('are looked for in Timeline by the span of the stage that an event is about', () => {
    const place = { step: 4, layer: 1, rank: 2 }
    expect(spanSql('nan_in_partial', place)).toContain("stage IN ('decode_attn')")
    expect(spanSql('check_failed', place)).toContain("stage IN ('merge', 'lse_correct')")
  })
})

describe('the cursor', () => {
  const groups = [group('a', PAGE + 2), group('b', 1)]
  const look = { group: null, event: null, open: null, from: 0 }

  it('goes over groups, and into the events of the open one with its pages', () => {
    expect(movedCursor(look, groups, 1)).toEqual({ group: 'a', event: null })
    expect(movedCursor({ ...look, group: 'a' }, groups, 1)).toEqual({ group: 'b', event: null })
    const open = { ...look, group: 'a', open: 'a' }
    expect(movedCursor(open, groups, 1)).toEqual({ group: 'a', event: 0, from: 0 })
    expect(movedCursor({ ...open, event: PAGE - 1 }, groups, 1)).toEqual({
      group: 'a',
      event: PAGE,
      from: PAGE,
    })
    expect(movedCursor({ ...open, event: PAGE + 1 }, groups, 1)).toEqual({ group: 'b', event: null })
    expect(movedCursor({ ...open, group: 'b' }, groups, -1)).toEqual({
      group: 'a',
      event: PAGE + 1,
      from: PAGE,
    })
    expect(movedCursor({ ...open, event: 0 }, groups, -1)).toEqual({ event: null })
  })

  it('stays where there is nothing further', () => {
    expect(movedCursor({ ...look, group: 'a' }, groups, -1)).toBeNull()
    expect(movedCursor({ ...look, group: 'b' }, groups, 1)).toBeNull()
    expect(movedCursor(look, [], 1)).toBeNull()
  })

  it('begins anew with another run', () => {
    const { change } = useEventStore.getState()
    change('a', { by: 'rank', open: 3 })
    change('b', { from: 50 })
    expect(useEventStore.getState().look).toMatchObject({ by: 'kind', open: null, from: 50 })
  })
})

describe('the density', () => {
  const density: Density = {
    steps: 95,
    perBucket: 10,
    error: Int32Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 20),
    warning: new Int32Array(10),
    info: Int32Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
  }

  it('maps parts to steps, and the last part ends with the run', () => {
    expect(stepsOfParts(density, 4, 2)).toEqual({ from: 20, to: 49 })
    expect(stepsOfParts(density, 9, 30)).toEqual({ from: 90, to: 94 })
  })

  it('is told in words', () => {
    expect(partText(density, 9)).toBe('steps 90 to 94: 20 errors')
    expect(densityText(density)).toBe('20 errors, 1 info in 95 steps, most in steps 90 to 94: 20 errors')
    expect(densityText({ ...density, error: new Int32Array(10), info: new Int32Array(10) })).toBe(
      'none in 95 steps',
    )
  })

  it('shows one event beside thousands', () => {
    expect([barHeight(0, 9), barHeight(9, 9)]).toEqual([0, 1])
    expect(barHeight(1, 10_000)).toBeCloseTo(0.01)
  })
})

const merged = {
  step: 12,
  layer: 1,
  request: 3,
  qIndex: 0,
  kind: 'nan_in_merged',
  rank: 0,
  value: 64,
} as const

const found: FirstCause = {
  cause: {
    kind: 'partial',
    partials: [
      { step: 12, layer: 1, rank: 2, request: 3, qIndex: 0, kind: 'nan_in_row', odd: 8, merged: null },
    ],
    merged,
    before: null,
  },
  layers: {
    step: 12,
    layer: Int32Array.of(1, 2, 3),
    rank: Int32Array.of(2, 2, 2),
    rows: Int32Array.of(1, 1, 4),
    kind: Uint8Array.of(0, 0, 3),
    mergedLayers: Int32Array.of(1),
  },
  steps: {
    steps: 25,
    perBucket: 10,
    bucket: Int32Array.of(1, 2),
    rank: Int32Array.of(2, 2),
    rows: Int32Array.of(6, 1),
    kind: Uint8Array.of(0, 0),
    nanMerged: Int32Array.of(0, 3, 0),
    offReference: Int32Array.of(1, 3, 0),
  },
  totals: {
    rows: 7,
    steps: 4,
    layers: 3,
    requests: 1,
    ranks: Int32Array.of(2),
    nanSteps: 3,
    offSteps: 4,
  },
}

describe('the spread', () => {
  it('has a text for each rank and the merged rows', () => {
    expect(gridText(layerGrid(found, 4, 4))).toEqual([
      'rank 2: 6 bad rows (NaN, with keys; no keys, not neutral) in layers 1 to 3',
      'merged: NaN in layer 1',
    ])
    expect(gridText(stepGrid(found, 4))).toEqual([
      'rank 2: 7 bad rows (NaN, with keys) in steps 10 to 24',
      'merged: NaN in steps 10 to 19',
      'merged: off the reference in steps 0 to 9',
    ])
    expect(totalsText(found)).toBe(
      'Whole run: 7 bad rows of partials in 4 of 25 steps, on rank 2, in 3 layers and 1 request; merged rows NaN in 3 steps; off the reference in 4 steps.',
    )
  })

  it('frames the first cause in its layer and in its part of the steps', () => {
    expect(layerGrid(found, 4, 4).cause).toEqual({ column: 1, ranks: [2] })
    expect(stepGrid(found, 4).cause).toEqual({ column: 1, ranks: [2] })
    expect(placeOfCause({ ...found, cause: { kind: 'none' } })).toBeNull()
    expect(placeOfCause({ ...found, cause: { kind: 'merge', merged, before: null } })).toMatchObject({
      layer: 1,
      ranks: [],
    })
  })

  it('is hit where it is drawn, at every number of ranks and columns', () => {
    for (const [ranks, columns] of [
      [4, 8],
      [64, 512],
      [1, 1],
    ] as const) {
      const grid = { ranks, columns }
      const place = spreadGeometry(grid)
      const at = (column: number, rank: number) =>
        spreadHit(
          grid,
          place,
          place.left + (column + 0.5) * place.column,
          place.top + (rank + 0.5) * place.pitch,
        )
      expect(at(columns - 1, ranks - 1)).toEqual({ column: columns - 1, rank: ranks - 1 })
      expect(at(columns, 0)).toBeNull()
      expect(spreadHit(grid, place, place.left, place.mergedTop + 1)).toEqual({ column: 0, rank: null })
      expect(place.mergedTop).toBeLessThan(place.height)
    }
    const grid = layerGrid(found, 4, 4)
    expect(spotText(grid, { column: 3, rank: 2 })).toBe('rank 2, layer 3: 4 bad rows (no keys, not neutral)')
    expect(spotText(grid, { column: 0, rank: 0 })).toBe('rank 0, layer 0: nothing bad')
    expect(spotText(grid, { column: 1, rank: null })).toBe('merged, layer 1: NaN')
  })
})

describe('what leaves the window', () => {
  it('has exact numbers and the names of queries', () => {
    expect(tabText(groupTable('kind', [group('nan_in_merged', 12_345)]))).toBe(
      'kind\tkey\tseverity\tcount\tsteps\tfirst_step\tlast_step\nNaN in merged output\tnan_in_merged\terror\t12345\t2\t3\t1200',
    )
    expect(tabText(eventTable([event()])).split('\n')[1]).toBe(
      '4\t-1\t\t2\t\t99\tempty_rank\tRank without keys\tinfo\tRank 1 holds no key.\t{"value":1,"limit":3}',
    )
    expect(pageText(50, 50, 1234)).toBe('51 to 100 of 1\u2009234')
  })

  it('is in the inspector with every number behind the sentence', () => {
    const rows = eventInspectorRows(event({ detail: '{"outAbsmax":1.5,"lseMax":"-Infinity"}' }))
    expect(rows).toContainEqual({ label: 'out absmax', value: '1.5000', copy: '1.5' })
    expect(rows).toContainEqual({ label: 'lse max', value: '−∞', copy: '-Infinity' })
    expect(rows.map(({ label }) => label)).not.toContain('layer')
  })
})

describe('notes of a whole run', () => {
  it('are none of a plain run that is complete', () => {
    expect(runNotes({ ...sampleManifest(), status: 'complete' })).toEqual([])
  })

  it('tell how it ended, what its back-end says, which faults were injected, and what was left out', () => {
    const config = runConfigSchema.parse({
      parallel: { tpSize: 4, dcpSize: 4 },
      serving: { backend: 'vllm-flashmla' },
      workload: { qLen: 4 },
      faults: [{ fault: 'coverage-gap', ranks: [1], steps: [3, 5, 4, 9] }],
    })
    const notes = runNotes({
      ...sampleManifest(config),
      status: 'failed',
      error: 'The GPU is lost.',
      captureNotes: ['kv was left out'],
    })
    expect(notes[0]).toEqual({ kind: 'end', severity: 'error', what: 'failed', text: 'The GPU is lost.' })
    expect(notes.find(({ kind }) => kind === 'fault')?.text).toMatch(
      /^Injected on rank 1, all layers, steps 3 to 5, 9\. /,
    )
    expect(notes.at(-1)).toMatchObject({ kind: 'capture', text: 'kv was left out' })
    for (const { text } of notes.filter(({ kind }) => kind === 'guard')) expect(text).toMatch(/^[\w-]+: /)
  })
})
