import { median } from '../statistics/sample.ts'
import { holm, signedRank } from '../statistics/signed-rank.ts'
import { STAGES } from '../trace/stages.ts'
import { batched } from './batches.ts'

/** What a run spent its time on, step by step. */
export interface StepTimes {
  /** Steps whose times count, in order. */
  readonly step: Int32Array
  /** From the start of each step to the end of its last rank, ns. */
  readonly wallNs: Float64Array
  readonly ranks: number
  /** One a step, rank and stage: time of its own over all layers, without waiting in collectives, and that waiting, ns. */
  readonly cells: {
    readonly step: Int32Array
    readonly rank: Int32Array
    /** Place in STAGES. */
    readonly stage: Uint8Array
    readonly workNs: Float64Array
    readonly waitNs: Float64Array
  }
}

/** A whole step, the waiting in collectives of all stages, or what a stage does itself. */
export const MEASURES = ['step', ...STAGES, 'waiting'] as const
export type Measure = (typeof MEASURES)[number]

export const VERDICTS = ['slower', 'faster', 'even', 'few', 'drifting', 'a-only', 'b-only'] as const
/**
 * What may be said of B against A: slower or faster; even, where the difference may be chance; nothing of few steps, or where
 * differences drift so that steps are no repeats; or that only one of both has it at all.
 */
export type Verdict = (typeof VERDICTS)[number]

/** One measure in both runs, over the steps that both have. */
export interface TimeRow {
  readonly measure: Measure
  /** Of this rank; null for the mean of the ranks, or for a whole step. */
  readonly rank: number | null
  /** Medians over the steps, ns; null where the run has no such stage. */
  readonly aNs: number | null
  readonly bNs: number | null
  /** B minus A of the same step: the Hodges-Lehmann estimate over pieces of steps and its 95% interval, ns; null where one is missing. */
  readonly difference: { readonly ns: number; readonly lowNs: number; readonly highNs: number } | null
  /** Steps in which B took longer, and in which it took less. */
  readonly slower: number
  readonly faster: number
  /** Two-sided, corrected for the number of rows of its kind; null where nothing was tested. */
  readonly p: number | null
  /** Pieces that were tested, and steps of each. */
  readonly pieces: number
  readonly pieceSteps: number
  readonly verdict: Verdict
}

/** A measure over the steps, a value a part of `perPart` steps: the medians of both runs, ns; NaN where a run has no such stage. */
export interface TimeSeries {
  readonly measure: Measure
  readonly a: Float64Array<ArrayBuffer>
  readonly b: Float64Array<ArrayBuffer>
}

export interface TimeComparison {
  /** Steps that both runs have and whose times count in both; the first and the last. */
  readonly steps: number
  readonly firstStep: number
  readonly lastStep: number
  /** Whole steps and stages, the mean of the ranks. */
  readonly rows: readonly TimeRow[]
  /** The same of each rank that both have; only what a rank has. */
  readonly ranks: readonly TimeRow[]
  readonly perPart: number
  /** First step of each part. */
  readonly partSteps: Int32Array<ArrayBuffer>
  readonly series: readonly TimeSeries[]
}

/** p below which a difference counts. */
export const LEVEL = 0.05
/** Steps that a verdict needs: of five even five of one sign are no rare chance. */
export const LEAST_STEPS = 6
/** Steps that are compared at most; those behind are left out. */
export const MOST_STEPS = 1 << 14
/** Parts of a series at most. */
const MOST_PARTS = 240

/** Compares what both runs spent in the same steps. Steps of one run are taken for repeats: what differs from run to run is not in it. */
export const compareTimes = (a: StepTimes, b: StepTimes): TimeComparison => {
  const steps = commonSteps(a.step, b.step)
  const [ofA, ofB] = [new Measured(a, steps), new Measured(b, steps)]
  const whole = MEASURES.flatMap((measure) => {
    const [x, y] = [ofA.mean(measure), ofB.mean(measure)]
    return x === null && y === null ? [] : [{ measure, rank: null, x, y }]
  })
  const both = Array.from({ length: Math.min(a.ranks, b.ranks) }, (_, rank) => rank)
  const single = whole
    .filter(({ measure }) => measure !== 'step')
    .flatMap(({ measure }) =>
      both.map((rank) => ({ measure, rank, x: ofA.of(measure, rank), y: ofB.of(measure, rank) })),
    )
    .filter(({ x, y }) => x !== null || y !== null)
  const perPart = Math.max(1, Math.ceil(steps.length / MOST_PARTS))
  const parts = Math.ceil(steps.length / perPart)
  return {
    steps: steps.length,
    firstStep: steps[0] ?? -1,
    lastStep: steps.at(-1) ?? -1,
    rows: judged(whole),
    ranks: judged(single),
    perPart,
    partSteps: Int32Array.from({ length: parts }, (_, i) => steps[i * perPart] ?? 0),
    series: whole.map(({ measure, x, y }) => ({
      measure,
      a: partMedians(x, parts, perPart),
      b: partMedians(y, parts, perPart),
    })),
  }
}

/** Median of each measure over some steps, ns, the mean of the ranks: what a run is among its repeats. */
export const measureMedians = (times: StepTimes, steps: readonly number[]): ReadonlyMap<Measure, number> => {
  const measured = new Measured(times, steps)
  return new Map(
    MEASURES.flatMap((measure) => {
      const series = measured.mean(measure)
      const middle = series === null ? null : medianOf(series)
      return middle === null ? [] : [[measure, middle] as const]
    }),
  )
}

export const commonSteps = (a: Int32Array, b: Int32Array): readonly number[] => {
  const inB = new Set(b)
  return [...a].filter((step) => inB.has(step)).slice(0, MOST_STEPS)
}

/** Places of series: the stages, and waiting behind them. */
const WAITING = STAGES.length

/** Series of a run over the steps that count. */
class Measured {
  readonly #steps: number
  readonly #ranks: number
  readonly #wall: Float64Array
  /** By stage, or waiting, and rank. */
  readonly #series: (Float64Array | undefined)[] = []

  constructor({ step, wallNs, ranks, cells }: StepTimes, steps: readonly number[]) {
    this.#steps = steps.length
    this.#ranks = ranks
    const place = new Map(steps.map((number, i) => [number, i]))
    this.#wall = new Float64Array(steps.length)
    step.forEach((number, i) => {
      const at = place.get(number)
      if (at !== undefined) this.#wall[at] = wallNs[i] ?? 0
    })
    cells.step.forEach((number, i) => {
      const at = place.get(number)
      const rank = cells.rank[i] ?? 0
      if (at === undefined) return
      this.#add(cells.stage[i] ?? 0, rank, at, cells.workNs[i] ?? 0)
      const wait = cells.waitNs[i] ?? 0
      if (wait > 0) this.#add(WAITING, rank, at, wait)
    })
  }

  #add(stage: number, rank: number, at: number, ns: number): void {
    const key = stage * this.#ranks + rank
    let series = this.#series[key]
    if (series === undefined) {
      series = new Float64Array(this.#steps)
      this.#series[key] = series
    }
    series[at] = (series[at] ?? 0) + ns
  }

  of(measure: Measure, rank: number): Float64Array | null {
    if (measure === 'step') return null
    const stage = measure === 'waiting' ? WAITING : STAGES.indexOf(measure)
    return this.#series[stage * this.#ranks + rank] ?? null
  }

  /** Over the ranks; those that have none of a stage spent no time in it. Null where no rank has it. */
  mean(measure: Measure): Float64Array | null {
    if (measure === 'step') return this.#wall
    const sum = new Float64Array(this.#steps)
    let found = false
    for (let rank = 0; rank < this.#ranks; rank++) {
      const series = this.of(measure, rank)
      if (series === null) continue
      found = true
      series.forEach((ns, i) => {
        sum[i] = (sum[i] ?? 0) + ns / this.#ranks
      })
    }
    return found ? sum : null
  }
}

interface Pair {
  readonly measure: Measure
  readonly rank: number | null
  readonly x: Float64Array | null
  readonly y: Float64Array | null
}

const judged = (pairs: readonly Pair[]): TimeRow[] => {
  const rows = pairs.map(tested)
  const places = rows.flatMap(({ p }, i) => (p === null ? [] : [i]))
  const corrected = holm(places.map((i) => rows[i]?.p ?? 1))
  return rows.map((row, i) => {
    const p = corrected[places.indexOf(i)]
    return p === undefined || row.difference === null
      ? row
      : { ...row, p, verdict: verdictOf(p, row.difference.ns) }
  })
}

const verdictOf = (p: number, ns: number): Verdict => (p > LEVEL ? 'even' : ns > 0 ? 'slower' : 'faster')

const tested = ({ measure, rank, x, y }: Pair): TimeRow => {
  const row = {
    measure,
    rank,
    aNs: x === null ? null : medianOf(x),
    bNs: y === null ? null : medianOf(y),
    difference: null,
    slower: 0,
    faster: 0,
    p: null,
    pieces: 0,
    pieceSteps: 0,
  }
  if (x === null || y === null) return { ...row, verdict: x === null ? 'b-only' : 'a-only' }
  const differences = [...y].map((ns, i) => ns - (x[i] ?? 0))
  const { values, size, independent } = batched(differences)
  const { p, estimate, low, high } = signedRank(values)
  const told = {
    ...row,
    difference: { ns: estimate, lowNs: low, highNs: high },
    slower: differences.filter((ns) => ns > 0).length,
    faster: differences.filter((ns) => ns < 0).length,
    pieces: values.length,
    pieceSteps: size,
  }
  if (differences.length === 0) return { ...row, verdict: 'few' }
  if (values.length < LEAST_STEPS) return { ...told, verdict: 'few' }
  return independent ? { ...told, p, verdict: 'even' } : { ...told, verdict: 'drifting' }
}

const medianOf = (series: Float64Array): number | null => (series.length === 0 ? null : median(series))

const partMedians = (
  series: Float64Array | null,
  parts: number,
  perPart: number,
): Float64Array<ArrayBuffer> =>
  Float64Array.from({ length: parts }, (_, i) =>
    series === null ? Number.NaN : median(series.subarray(i * perPart, (i + 1) * perPart)),
  )
