import { describe, expect, it } from 'vitest'
import { STAGES, type Stage } from '../../../app/trace/stages.ts'
import { flowsIn } from '../../../renderer/views/timeline/flows.ts'
import { meetingFacts, meetingOf } from '../../../renderer/views/timeline/meeting.ts'
import type { SpanTile } from '../../../renderer/views/timeline/tiles.ts'
import { NO_ITEMS } from './no-items.ts'

interface Entered {
  readonly rank: number
  readonly start: number
  readonly wait: number
  readonly stage?: Stage
  readonly step?: number
  readonly count?: number
}

const tileOf = (spans: readonly Entered[]): SpanTile => ({
  startNs: 0,
  endNs: 1000,
  rank: Int32Array.from(spans, ({ rank }) => rank),
  start: Float64Array.from(spans, ({ start }) => start),
  dur: new Float64Array(spans.length).fill(100),
  busy: new Float64Array(spans.length).fill(100),
  wait: Float64Array.from(spans, ({ wait }) => wait),
  stage: Uint8Array.from(spans, ({ stage = 'lse_all_gather' }) => STAGES.indexOf(stage)),
  step: Int32Array.from(spans, ({ step = 0 }) => step),
  layer: new Int32Array(spans.length),
  count: Int32Array.from(spans, ({ count = 1 }) => count),
  sources: new Uint8Array(spans.length).fill(1),
  outer: NO_ITEMS,
  kernels: { ...NO_ITEMS, name: new Int32Array() },
  kernelNames: [],
})
const range = { startNs: 0, endNs: 1000 }
const flowsOf = (spans: readonly Entered[]) => flowsIn([{ tile: tileOf(spans), range }])

describe('lines between ranks', () => {
  it('lead from the rank that entered last to all that waited', () => {
    expect(
      flowsOf([
        { rank: 0, start: 10, wait: 40 },
        { rank: 1, start: 50, wait: 0 },
        { rank: 3, start: 30, wait: 20 },
      ]),
    ).toEqual([{ lastRank: 1, lastEnterNs: 50, firstEnterNs: 10, ranks: [0, 1, 3] }])
  })

  it('lead over a merge that is a collective itself, as with p2p', () => {
    expect(
      flowsOf([
        { rank: 0, start: 10, wait: 40, stage: 'merge' },
        { rank: 1, start: 50, wait: 0, stage: 'merge' },
      ]),
    ).toMatchObject([{ lastRank: 1 }])
  })

  it('join no spans of other collectives, and none that are merged or alone', () => {
    expect(
      flowsOf([
        { rank: 0, start: 10, wait: 40 },
        { rank: 1, start: 60, wait: 0 },
      ]),
    ).toEqual([])
    expect(
      flowsOf([
        { rank: 0, start: 10, wait: 40, count: 3 },
        { rank: 1, start: 50, wait: 0 },
      ]),
    ).toEqual([])
    expect(
      flowsOf([
        { rank: 0, start: 10, wait: 40, step: 1 },
        { rank: 1, start: 50, wait: 0 },
      ]),
    ).toEqual([])
  })

  it('lead from no rank where the last one is not among those that are loaded', () => {
    expect(
      flowsOf([
        { rank: 0, start: 10, wait: 40 },
        { rank: 1, start: 30, wait: 20 },
      ]),
    ).toEqual([])
  })

  it('are not needed where nobody waited, nor for stages in which ranks do not meet', () => {
    expect(
      flowsOf([
        { rank: 0, start: 50, wait: 0 },
        { rank: 1, start: 50, wait: 0 },
      ]),
    ).toEqual([])
    expect(
      flowsOf([
        { rank: 0, start: 50, wait: 0, stage: 'decode_attn' },
        { rank: 1, start: 50, wait: 0, stage: 'decode_attn' },
      ]),
    ).toEqual([])
  })

  it('are there once for spans that two tiles hold', () => {
    const tile = () =>
      tileOf([
        { rank: 0, start: 10, wait: 40 },
        { rank: 1, start: 50, wait: 0 },
      ])
    expect(
      flowsIn([
        { tile: tile(), range },
        { tile: tile(), range },
      ]),
    ).toHaveLength(1)
  })
})

describe('a collective', () => {
  const span = { stage: 6, layer: 0, startNs: 0 }
  const spans = [
    { ...span, rank: 0, enterNs: 100, lastEnterNs: 300, endNs: 350 },
    { ...span, rank: 1, enterNs: 300, lastEnterNs: 300, endNs: 340 },
  ]
  it('tells waiting for the last rank from the transfer, rank by rank', () => {
    const meeting = meetingOf(spans)
    if (meeting === null) throw new Error('two ranks meet')
    expect(meetingFacts(meeting, 'emulated')).toEqual([
      { label: 'entered last', value: 'rank 1', copy: '1' },
      expect.objectContaining({ label: 'all waited', copy: '200', source: 'emulated' }),
      expect.objectContaining({ label: 'rank 0', copy: '200 ns waiting, 50 ns transfer' }),
      expect.objectContaining({ label: 'rank 1', copy: '0 ns waiting, 40 ns transfer' }),
    ])
  })

  it('of one rank is none', () => {
    expect(meetingOf(spans.slice(0, 1))).toBeNull()
    expect(meetingOf([])).toBeNull()
  })
})
