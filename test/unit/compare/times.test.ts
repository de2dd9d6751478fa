import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareTimes,
  type Measure,
  type StepTimes,
  type TimeComparison,
} from '../../../app/compare/times.ts'
import { STAGES, type Stage } from '../../../app/trace/stages.ts'

interface Cell {
  readonly step: number
  readonly rank: number
  readonly stage: Stage
  readonly work: number
  readonly wait?: number
}

const timesOf = (ranks: number, cells: readonly Cell[], steps?: readonly number[]): StepTimes => {
  const all = steps ?? [...new Set(cells.map(({ step }) => step))].sort((a, b) => a - b)
  return {
    step: Int32Array.from(all),
    wallNs: Float64Array.from(all, (step) =>
      cells.filter((cell) => cell.step === step).reduce((sum, { work }) => sum + work, 0),
    ),
    ranks,
    cells: {
      step: Int32Array.from(cells, ({ step }) => step),
      rank: Int32Array.from(cells, ({ rank }) => rank),
      stage: Uint8Array.from(cells, ({ stage }) => STAGES.indexOf(stage)),
      workNs: Float64Array.from(cells, ({ work }) => work),
      waitNs: Float64Array.from(cells, ({ wait = 0 }) => wait),
    },
  }
}

/** A number of a step that looks like noise, 0 to 1. */
const noise = (n: number): number => Math.abs(Math.sin(n * 12.9898) * 43758.5453) % 1

/** Two ranks that attend, and then exchange, of which rank 0 waits for rank 1. */
const run = (steps: number, attention: (step: number, rank: number) => number): StepTimes =>
  timesOf(
    2,
    Array.from({ length: steps * 2 }, (_, i) => [Math.floor(i / 2), i % 2] as const).flatMap(
      ([step, rank]): Cell[] => [
        { step, rank, stage: 'decode_attn', work: attention(step, rank) },
        { step, rank, stage: 'lse_all_gather', work: 100, wait: rank === 0 ? 40 : 0 },
      ],
    ),
  )

const rowOf = ({ rows, ranks }: TimeComparison, measure: Measure, rank: number | null = null) =>
  [...rows, ...ranks].find((row) => row.measure === measure && row.rank === rank)

const jittered = (step: number, rank: number): number => 1000 + 20 * noise(step * 2 + rank)

describe('times of two runs', () => {
  it('are told apart where a stage of one rank became slower, and nowhere else', () => {
    const a = run(24, jittered)
    const b = run(24, (step, rank) => jittered(step + 100, rank) + (rank === 1 ? 200 : 0))
    const compared = compareTimes(a, b)
    expect(compared).toMatchObject({ steps: 24, firstStep: 0, lastStep: 23 })
    expect(rowOf(compared, 'decode_attn')).toMatchObject({ verdict: 'slower', slower: 24, faster: 0 })
    expect(rowOf(compared, 'decode_attn', 1)).toMatchObject({ verdict: 'slower' })
    expect(rowOf(compared, 'decode_attn', 0)).toMatchObject({ verdict: 'even' })
    expect(rowOf(compared, 'lse_all_gather')).toMatchObject({ verdict: 'even', aNs: 100, bNs: 100, p: 1 })
    expect(rowOf(compared, 'step')?.verdict).toBe('slower')
    const { ns = 0, lowNs = 0, highNs = 0 } = rowOf(compared, 'decode_attn', 1)?.difference ?? {}
    expect(Math.abs(ns - 200)).toBeLessThan(15)
    expect(lowNs).toBeLessThan(200)
    expect(highNs).toBeGreaterThan(190)
  })

  it('count waiting in collectives by itself, over all ranks', () => {
    const row = rowOf(compareTimes(run(8, jittered), run(8, jittered)), 'waiting')
    expect(row).toMatchObject({ aNs: 20, bNs: 20, verdict: 'even' })
  })

  it('are compared step by step, so that contexts that grow make no difference', () => {
    const grown = (step: number): number => 1000 + step * 500
    const compared = compareTimes(
      run(24, (step, rank) => grown(step) + jittered(step, rank)),
      run(24, (step, rank) => grown(step) + jittered(step + 50, rank) - 60),
    )
    expect(rowOf(compared, 'decode_attn')).toMatchObject({ verdict: 'faster', faster: 24 })
  })

  it('say nothing of few steps, of steps that drift, and of what only one has', () => {
    const few = compareTimes(
      run(5, () => 1000),
      run(5, () => 2000),
    )
    expect(rowOf(few, 'decode_attn')).toMatchObject({ verdict: 'few', p: null })
    const drifting = compareTimes(
      run(40, () => 1000),
      run(40, (step) => 1000 + step),
    )
    expect(rowOf(drifting, 'decode_attn')).toMatchObject({ verdict: 'drifting', p: null })
    const merging = timesOf(1, [{ step: 0, rank: 0, stage: 'merge', work: 5 }])
    const other = timesOf(1, [{ step: 0, rank: 0, stage: 'lse_correct', work: 7 }])
    const compared = compareTimes(merging, other)
    expect(rowOf(compared, 'merge')).toMatchObject({ verdict: 'a-only', aNs: 5, bNs: null, difference: null })
    expect(rowOf(compared, 'lse_correct')).toMatchObject({ verdict: 'b-only', aNs: null, bNs: 7 })
  })

  it('of which no step is common are compared in nothing', () => {
    const a = timesOf(1, [{ step: 0, rank: 0, stage: 'merge', work: 5 }])
    const b = timesOf(1, [{ step: 9, rank: 0, stage: 'merge', work: 5 }])
    expect(compareTimes(a, b)).toMatchObject({ steps: 0, firstStep: -1, lastStep: -1 })
    for (const { verdict } of compareTimes(a, b).rows) expect(verdict).toBe('few')
  })

  it('leave out steps that count in one run only', () => {
    const a = run(20, jittered)
    const kept = timesOf(2, [{ step: 3, rank: 0, stage: 'merge', work: 1 }], [2, 3, 5, 50])
    expect(compareTimes(a, kept)).toMatchObject({ steps: 3, firstStep: 2, lastStep: 5 })
  })

  it('have a series of bounded length, whose parts are medians of their steps', () => {
    const compared = compareTimes(
      run(1000, (step) => step),
      run(1000, (step) => 2 * step),
    )
    const series = compared.series.find(({ measure }) => measure === 'decode_attn')
    expect(compared.perPart).toBe(5)
    expect(series?.a).toHaveLength(200)
    expect([compared.partSteps[1], series?.a[1], series?.b[1]]).toEqual([5, 7, 14])
  })

  it('are the same turned round, with other signs', () => {
    const times = fc.array(fc.integer({ min: 1, max: 99 }), { minLength: 12, maxLength: 40 })
    fc.assert(
      fc.property(times, times, (x, y) => {
        const [a, b] = [x, y].map((values) =>
          timesOf(
            1,
            values.map((work, step): Cell => ({ step, rank: 0, stage: 'decode_attn', work })),
          ),
        )
        if (a === undefined || b === undefined) return
        const [there, back] = [
          rowOf(compareTimes(a, b), 'decode_attn'),
          rowOf(compareTimes(b, a), 'decode_attn'),
        ]
        expect(there?.p ?? 0).toBeCloseTo(back?.p ?? 0, 9)
        expect(there?.difference?.ns).toBeCloseTo(-(back?.difference?.ns ?? 0), 9)
        expect(there?.slower).toBe(back?.faster)
        const turned = { slower: 'faster', faster: 'slower' } as const
        const verdict = back?.verdict ?? 'even'
        expect(there?.verdict).toBe(verdict === 'slower' || verdict === 'faster' ? turned[verdict] : verdict)
      }),
    )
  })
})
