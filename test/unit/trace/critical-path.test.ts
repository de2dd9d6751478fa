import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { collectivesOf } from '../../../app/trace/collectives.ts'
import { criticalPath, pathParts } from '../../../app/trace/critical-path.ts'
import { commonLength, lengthOf, union } from '../../../app/trace/intervals.ts'
import { STAGES, type Stage } from '../../../app/trace/stages.ts'
import { rankBalances, slowestRank } from '../../../app/trace/step-balance.ts'
import { type StepSpan, waitOfSpan } from '../../../app/trace/step-spans.ts'
import { type LayerStage, rankTimeline, SLOW, slowRank } from '../store/rank-timeline.ts'

const code = (stage: Stage): number => STAGES.indexOf(stage)

/** The spans of one step of a timeline. */
const stepSpans = (timeline: ReturnType<typeof rankTimeline>, step: number): StepSpan[] =>
  timeline.spans.flatMap((spans, rank) =>
    spans
      .filter((span) => span.step === step)
      .map(({ start, dur, stage = 0, layer = 0, collective = -1, lastEnter = start }) => ({
        rank,
        stage,
        layer,
        startNs: start,
        endNs: start + dur,
        collective,
        enterNs: start,
        lastEnterNs: lastEnter,
      })),
  )

/** Steps of any ranks, layers, stages and durations. */
const anyStep = fc
  .record({
    ranks: fc.integer({ min: 1, max: 6 }),
    layers: fc.integer({ min: 1, max: 3 }),
    meets: fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
    durations: fc.infiniteStream(fc.integer({ min: 1, max: 1000 })),
  })
  .map(({ ranks, layers, meets, durations }) => {
    const stages = meets.map(
      (collective): LayerStage => ({
        stage: collective ? 'lse_all_gather' : 'decode_attn',
        durNs: () => Number(durations.next().value),
        collective,
      }),
    )
    return stepSpans(rankTimeline({ ranks, steps: 1, layers, stages }), 0)
  })

describe('the critical path of a step', () => {
  it('covers the step from its start to its end without gap or overlap', () => {
    fc.assert(
      fc.property(anyStep, (spans) => {
        const path = criticalPath(spans)
        expect(path[0]?.startNs).toBe(Math.min(...spans.map(({ startNs }) => startNs)))
        expect(path.at(-1)?.endNs).toBe(Math.max(...spans.map(({ endNs }) => endNs)))
        for (const [i, { startNs, endNs }] of path.entries()) {
          expect(endNs).toBeGreaterThan(startNs)
          if (i > 0) expect(startNs).toBe(path[i - 1]?.endNs)
        }
      }),
    )
  })

  it('never waits: of collectives only what follows the entry of the last rank is on it', () => {
    fc.assert(
      fc.property(anyStep, (spans) => {
        const collectives = collectivesOf(spans)
        for (const { rank, stage, kind, startNs, endNs } of criticalPath(spans)) {
          expect(kind).not.toBe('between')
          const span = spans.find((s) => s.rank === rank && s.startNs <= startNs && s.endNs >= endNs)
          expect(span?.stage).toBe(stage)
          if (span !== undefined && span.collective >= 0)
            expect(startNs).toBeGreaterThanOrEqual(collectives.get(span.collective)?.lastEnterNs ?? 0)
        }
      }),
    )
  })

  it('leads over the rank that was late, the transfer that it began, and the rank that ended last', () => {
    const stages: LayerStage[] = [
      { stage: 'decode_attn', durNs: (rank) => (rank === 1 ? 100 : 60) },
      { stage: 'lse_all_gather', durNs: () => 10, collective: true },
      { stage: 'merge', durNs: (rank) => (rank === 0 ? 50 : 20) },
    ]
    const path = criticalPath(stepSpans(rankTimeline({ ranks: 2, steps: 1, layers: 1, stages }), 0))
    expect(path).toEqual([
      { rank: 1, stage: code('decode_attn'), layer: 0, kind: 'work', startNs: 0, endNs: 100 },
      { rank: 1, stage: code('lse_all_gather'), layer: 0, kind: 'transfer', startNs: 100, endNs: 110 },
      { rank: 0, stage: code('merge'), layer: 0, kind: 'work', startNs: 110, endNs: 160 },
    ])
  })

  it('says where a rank did nothing that was recorded', () => {
    const span = { rank: 0, layer: 0, collective: -1, enterNs: 0, lastEnterNs: 0 }
    const path = criticalPath([
      { ...span, stage: 0, startNs: 10, endNs: 20 },
      { ...span, stage: 3, startNs: 25, endNs: 40 },
    ])
    expect(path.map(({ stage, kind, startNs, endNs }) => [stage, kind, startNs, endNs])).toEqual([
      [0, 'work', 10, 20],
      [-1, 'between', 20, 25],
      [3, 'work', 25, 40],
    ])
  })

  it('passes through spans that lie over each other and ends with clocks that contradict each other', () => {
    const work = fc.record({
      rank: fc.integer({ min: 0, max: 3 }),
      stage: fc.integer({ min: 0, max: 11 }),
      layer: fc.constant(0),
      startNs: fc.integer({ min: 0, max: 1000 }),
      dur: fc.integer({ min: 1, max: 300 }),
      collective: fc.integer({ min: -1, max: 3 }),
      late: fc.integer({ min: -50, max: 350 }),
    })
    fc.assert(
      fc.property(fc.array(work, { minLength: 1, maxLength: 30 }), (parts) => {
        const spans = parts.map(({ dur, late, startNs, ...rest }) => ({
          ...rest,
          startNs,
          endNs: startNs + dur,
          enterNs: startNs,
          lastEnterNs: startNs + late,
        }))
        const path = criticalPath(spans)
        const length = Math.max(...spans.map((s) => s.endNs)) - Math.min(...spans.map((s) => s.startNs))
        expect(lengthOf(path)).toBe(length)
      }),
    )
  })

  it('of nothing is nothing', () => {
    expect(criticalPath([])).toEqual([])
  })

  it('is summed by rank and stage', () => {
    const spans = stepSpans(slowRank(), 4)
    const path = criticalPath(spans)
    const parts = pathParts(path)
    expect(parts[0]).toEqual({
      rank: SLOW.rank,
      stage: code('decode_attn'),
      kind: 'work',
      count: 2,
      sumNs: 2 * SLOW.slowNs,
    })
    expect(parts.reduce((sum, part) => sum + part.sumNs, 0)).toBe(lengthOf(path))
  })
})

describe('the balance of the ranks', () => {
  it('accounts for all time of every rank, and for all waiting', () => {
    fc.assert(
      fc.property(anyStep, (spans) => {
        const path = criticalPath(spans)
        const balances = rankBalances(spans, path, [])
        const length = lengthOf(path)
        for (const b of balances)
          expect(b.workNs + b.transferNs - b.overlapNs + b.waitNs + b.idleNs).toBe(length)
        const total = (of: (b: (typeof balances)[number]) => number): number =>
          balances.reduce((sum, b) => sum + of(b), 0)
        expect(total((b) => b.pathNs)).toBe(length)
        expect(total((b) => b.causedNs)).toBe(total((b) => b.waitNs))
        expect(total((b) => b.waitNs)).toBe(spans.reduce((sum, span) => sum + waitOfSpan(span), 0))
      }),
    )
  })

  it('names the slow rank and the stage by which it is late', () => {
    const spans = stepSpans(slowRank(), 4)
    const slowest = slowestRank(spans, rankBalances(spans, criticalPath(spans), []))
    expect(slowest).toMatchObject({
      rank: SLOW.rank,
      stage: { stage: code('decode_attn'), ownNs: 2 * SLOW.slowNs, othersNs: 2 * SLOW.plainNs },
    })
    expect(slowest?.share).toBeGreaterThan(0.9)
  })

  it('names none where ranks are late in turn, or hardly at all', () => {
    const named = (durNs: LayerStage['durNs']) => {
      const stages: LayerStage[] = [
        { stage: 'decode_attn', durNs },
        { stage: 'lse_all_gather', durNs: () => 10, collective: true },
      ]
      const spans = stepSpans(rankTimeline({ ranks: 4, steps: 1, layers: 4, stages }), 0)
      return slowestRank(spans, rankBalances(spans, criticalPath(spans), []))
    }
    expect(named((rank, _, layer) => (rank === layer ? 2000 : 1000))).toBeNull()
    expect(named((rank) => (rank === 1 ? 1001 : 1000))).toBeNull()
    expect(named((rank) => (rank === 1 ? 2000 : 1000))?.rank).toBe(1)
  })

  it('has transfer that lies beside work on another stream as overlapped', () => {
    const span = { rank: 0, layer: 0, enterNs: 0, lastEnterNs: 0 }
    const spans: StepSpan[] = [
      { ...span, stage: code('decode_attn'), startNs: 0, endNs: 100, collective: -1 },
      {
        ...span,
        stage: code('q_all_gather'),
        startNs: 60,
        endNs: 140,
        collective: 0,
        lastEnterNs: 80,
        enterNs: 60,
      },
    ]
    const kernels = [
      { rank: 0, stage: code('decode_attn'), startNs: 0, endNs: 90 },
      { rank: 0, stage: code('q_all_gather'), startNs: 85, endNs: 140 },
    ]
    const [own] = rankBalances(spans, criticalPath(spans), kernels)
    expect(own).toMatchObject({
      workNs: 100,
      transferNs: 60,
      overlapNs: 20,
      kernelOverlapNs: 5,
      waitNs: 20,
      idleNs: 0,
    })
  })
})

describe('intervals', () => {
  const some = fc.array(
    fc
      .tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 20 }))
      .map(([startNs, length]) => ({ startNs, endNs: startNs + length })),
  )
  it('have the length of what they cover, alone and in common', () => {
    fc.assert(
      fc.property(some, some, (a, b) => {
        const covers = (of: typeof a, at: number): boolean =>
          of.some(({ startNs, endNs }) => startNs <= at && at < endNs)
        const places = Array.from({ length: 80 }, (_, i) => i)
        expect(lengthOf(union(a))).toBe(places.filter((at) => covers(a, at)).length)
        expect(commonLength(union(a), union(b))).toBe(
          places.filter((at) => covers(a, at) && covers(b, at)).length,
        )
      }),
    )
  })
})
