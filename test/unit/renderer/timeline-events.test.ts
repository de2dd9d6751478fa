import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EVENT_KINDS, SEVERITIES, STAGES } from '../../../app/trace/stages.ts'
import { drawnRows } from '../../../renderer/views/timeline/drawn.ts'
import {
  type EventMark,
  markAtPoint,
  markPlace,
  marksOf,
  marksWindow,
  shapeOf,
} from '../../../renderer/views/timeline/event-marks.ts'
import { lanesOf, laneTop } from '../../../renderer/views/timeline/lanes.ts'
import type { SpanTile } from '../../../renderer/views/timeline/tiles.ts'
import { NO_ITEMS } from './no-items.ts'

const range = { startNs: 0, endNs: 1000 }
const mark = (parts: Partial<EventMark>): EventMark => ({
  rank: 0,
  kind: 'nan_in_partial',
  severity: 'error',
  timeNs: 500,
  step: 3,
  layer: 1,
  count: 1,
  ...parts,
})

describe('marks of events', () => {
  it('are read from columns, without kinds that are not known here', () => {
    const columns = {
      rank: Int32Array.of(2, -1, 0),
      kind: Uint8Array.of(EVENT_KINDS.indexOf('empty_rank'), EVENT_KINDS.indexOf('check_failed'), 200),
      severity: Uint8Array.of(SEVERITIES.indexOf('info'), SEVERITIES.indexOf('error'), 0),
      time: Float64Array.of(10, 20, 30),
      step: Int32Array.of(1, 2, 3),
      layer: Int32Array.of(0, -1, 0),
      count: Int32Array.of(4, 1, 1),
    }
    expect(marksOf(columns)).toEqual([
      { rank: 2, kind: 'empty_rank', severity: 'info', timeNs: 10, step: 1, layer: 0, count: 4 },
      { rank: null, kind: 'check_failed', severity: 'error', timeNs: 20, step: 2, layer: -1, count: 1 },
    ])
  })

  it('lie on the lane of their rank, or on the ruler, and are met there', () => {
    const lanes = lanesOf(500, 2, 0)
    const ofRank = mark({ rank: 1 })
    const ofNone = mark({ rank: null, kind: 'check_failed' })
    const marks = [ofRank, ofNone]
    const place = markPlace(ofRank, range, lanes, 800)
    expect(place?.y).toBeGreaterThan(laneTop(1, lanes))
    expect(markPlace(ofNone, range, lanes, 800)?.y).toBeLessThan(lanes.rulerHeight)
    expect(markAtPoint(marks, 401, place?.y ?? 0, range, lanes, 800)).toBe(ofRank)
    expect(markAtPoint(marks, 401, lanes.rulerHeight - 5, range, lanes, 800)).toBe(ofNone)
    expect(markAtPoint(marks, 420, place?.y ?? 0, range, lanes, 800)).toBeNull()
    expect(markPlace(mark({ timeNs: 5000 }), range, lanes, 800)).toBeNull()
    expect(markPlace(mark({ rank: 7 }), range, lanes, 800)).toBeNull()
  })

  it('have shapes that tell NaN, infinities, ranks without keys and wrong rows apart', () => {
    expect(EVENT_KINDS.map(shapeOf)).toEqual([
      'nan',
      'inf',
      'nan',
      'empty',
      'nan',
      'wrong',
      'other',
      'other',
      'other',
      'other',
    ])
  })

  it('are asked for in windows that hold what is shown and seldom change', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e12, noNaN: true }),
        fc.double({ min: 100, max: 1e10, noNaN: true }),
        (startNs, span) => {
          const shown = { startNs, endNs: startNs + span }
          const window = marksWindow(shown)
          expect(window.startNs).toBeLessThanOrEqual(shown.startNs)
          expect(window.endNs).toBeGreaterThanOrEqual(shown.endNs)
          expect(window.endNs - window.startNs).toBeLessThanOrEqual(8 * span + 8)
        },
      ),
    )
    expect(marksWindow({ startNs: 1030, endNs: 2000 })).toEqual(marksWindow({ startNs: 1040, endNs: 2010 }))
  })
})

describe('what is drawn, as a table', () => {
  const tile: SpanTile = {
    startNs: 0,
    endNs: 1000,
    rank: Int32Array.of(0, 0, 1),
    start: Float64Array.of(0, 400, 100),
    dur: Float64Array.of(300, 200, 50),
    busy: Float64Array.of(300, 150, 50),
    wait: Float64Array.of(0, 20, 0),
    stage: Uint8Array.of(3, 6, 3),
    step: Int32Array.of(0, 1, 0),
    layer: Int32Array.of(0, -1, 2),
    count: Int32Array.of(1, 7, 1),
    sources: Uint8Array.of(1, 3, 1),
    outer: NO_ITEMS,
    kernels: { ...NO_ITEMS, name: new Int32Array() },
    kernelNames: [],
  }
  const halves = [
    { tile, range: { startNs: 0, endNs: 500 } },
    { tile, range: { startNs: 500, endNs: 1000 } },
  ]

  it('has every item once, by lane and start, with those that are merged counted', () => {
    const rows = drawnRows(halves, [], range, [1, 0])
    expect(rows.map(({ rank, what, startNs, count }) => [rank, what, startNs, count])).toEqual([
      [1, STAGES[3], 100, 1],
      [0, STAGES[3], 0, 1],
      [0, STAGES[6], 400, 7],
    ])
    expect(rows[2]).toMatchObject({ waitNs: 20, layer: -1, sources: ['measured', 'emulated'] })
  })

  it('has only what is shown, its events before all else', () => {
    const events = [mark({ rank: null, timeNs: 10 }), mark({ rank: 1, timeNs: 120 }), mark({ timeNs: 900 })]
    const rows = drawnRows(halves, events, { startNs: 0, endNs: 200 }, [0, 1])
    expect(rows.map(({ rank, row }) => [rank, row])).toEqual([
      [null, 'event'],
      [1, 'event'],
      [0, 'stage'],
      [1, 'stage'],
    ])
  })
})
