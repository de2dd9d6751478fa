import { mean, median, quantile, ratioOf } from '../statistics/sample.ts'
import { PROVENANCES, type Provenance } from '../trace/stages.ts'
import type { Limit, Transport } from './cost.ts'
import { grouped, type Some } from './grouped.ts'
import type { PointRow } from './point-rows.ts'

/**
 * What a sweep says, from the rows of its points alone: where DCP pays against the TP baseline, which size and transport is
 * best, what limits each regime, and how well the cost model foresaw it. Published rows never count.
 */

/** One arrangement of the ranks. */
export interface Arrangement {
  readonly mode: string
  readonly dcp: number
  readonly comm: string
}

export interface Rated extends Arrangement {
  /** Geometric mean over the repeats, as that of a gain. */
  readonly tokensPerSecond: number
  readonly repeats: number
  readonly batch: number
  readonly capacityLimited: boolean
  readonly limit: Limit | ''
}

/** `not significant`: the spread of the repeats, or the error of the model, is larger than the difference. */
export type Verdict = 'dcp' | 'tp' | 'not significant'

/** One context and concurrency, with the baseline and the best of what is compared with it. */
export interface Cell {
  readonly context: number
  readonly concurrency: number
  readonly tp: Rated
  readonly best: Rated
  /** Whether `best` is significantly faster than every other arrangement of dcp. */
  readonly bestIsClear: boolean
  /** Rate of `best` over that of `tp`, with its 95% interval where there is one. */
  readonly gain: number
  readonly interval: readonly [low: number, high: number] | null
  readonly verdict: Verdict
}

/** From which value on DCP pays in every larger one too; null: nowhere, or not significantly. */
export interface Frontier {
  /** The context, or the concurrency, that is held. */
  readonly at: number
  readonly from: number | null
  /** Values at which DCP pays, also where it does not in every larger one. */
  readonly pays: readonly number[]
  /** Whether somewhere the spread does not allow an answer. */
  readonly unclear: boolean
}

export interface Regime extends Arrangement {
  readonly limit: Limit
  /** Points of this arrangement with this limit. */
  readonly points: number
  readonly contexts: readonly [least: number, most: number]
  readonly concurrencies: readonly [least: number, most: number]
}

/** Rows that can be compared with each other. */
export interface Group {
  readonly model: string
  readonly gpu: string
  readonly world: number
  readonly kvDtype: string
  readonly qLen: number
  readonly transport: Transport
  /** Whether its numbers are predictions. */
  readonly predicted: boolean
  /** Of its rows. */
  readonly provenances: readonly Provenance[]
  readonly cells: readonly Cell[]
  /** Smallest concurrency by context, and smallest context by concurrency. */
  readonly byContext: readonly Frontier[]
  readonly byConcurrency: readonly Frontier[]
  /** Arrangements by in how many cells they are the best that beats the baseline, most first. */
  readonly best: readonly (Arrangement & { readonly cells: number })[]
  readonly regimes: readonly Regime[]
}

export interface ModelError {
  /** Points that have both. */
  readonly points: number
  /** Predicted over measured step, median. */
  readonly median: number
  /** Nine in ten predictions are off by at most this factor, in whichever direction. */
  readonly p90: number
}

export interface SweepSummary {
  readonly groups: readonly Group[]
  /** null: no point has both a measurement and a prediction of the same transport. */
  readonly modelError: ModelError | null
}

const isPredicted = ({ provenance }: PointRow): boolean => provenance === 'predicted'

const counts = ({ provenance }: PointRow): boolean => provenance !== 'published' && provenance !== 'imported'

/** Rows by what they have in common. */
const groupsOf = <T>(rows: readonly T[], key: (row: T) => string): Some<T>[] => [
  ...grouped(rows, key).values(),
]

const keyOf = (...parts: readonly unknown[]): string => JSON.stringify(parts)

/** All rows of one arrangement in one cell. */
interface Contender extends Rated {
  readonly rates: readonly number[]
}

const contenderOf = (rows: Readonly<Some<PointRow>>): Contender => {
  const [first] = rows
  const rates = rows.map((row) => row.tokensPerSecond)
  return {
    mode: first.mode,
    dcp: first.dcp,
    comm: first.comm,
    tokensPerSecond: Math.exp(mean(rates.map(Math.log))),
    repeats: rates.length,
    batch: first.batch,
    capacityLimited: first.capacityLimited,
    limit: first.limit,
    rates,
  }
}

const rated = ({ rates: _, ...rest }: Contender): Rated => rest

const byRate = (a: Contender, b: Contender): number => b.tokensPerSecond - a.tokensPerSecond

/** How a group tells a difference from noise. */
type Significance =
  | { readonly by: 'repeats' }
  /** A prediction has no spread: differences below the factor by which the model is off say nothing. */
  | { readonly by: 'model'; readonly factor: number }

const compare = (
  a: Contender,
  b: Contender,
  significance: Significance,
): { gain: number; interval: Cell['interval']; faster: 'a' | 'b' | undefined } => {
  const { ratio, interval } = ratioOf(a.rates, b.rates)
  const bounds =
    significance.by === 'repeats' ? interval : [ratio / significance.factor, ratio * significance.factor]
  const [low, high] = bounds ?? [0, Number.POSITIVE_INFINITY]
  const faster = (low ?? 0) > 1 ? 'a' : (high ?? 0) < 1 ? 'b' : undefined
  return { gain: ratio, interval: significance.by === 'repeats' ? interval : null, faster }
}

const cellOf = (rows: readonly PointRow[], significance: Significance): Cell[] => {
  const contenders = groupsOf(rows, ({ mode, dcp, comm }) => keyOf(mode, dcp, comm)).map(contenderOf)
  const tp = contenders.find(({ mode }) => mode === 'tp')
  const [best, ...others] = contenders.filter(({ mode }) => mode === 'dcp').sort(byRate)
  const [first] = rows
  if (first === undefined || tp === undefined || best === undefined) return []
  const { gain, interval, faster } = compare(best, tp, significance)
  return [
    {
      context: first.context,
      concurrency: first.concurrency,
      tp: rated(tp),
      best: rated(best),
      bestIsClear: others.every((other) => compare(best, other, significance).faster === 'a'),
      gain,
      interval,
      verdict: faster === 'a' ? 'dcp' : faster === 'b' ? 'tp' : 'not significant',
    },
  ]
}

/** The smallest value from which on every verdict is dcp. `along` gives the value of a cell. */
const frontier = (at: number, cells: readonly Cell[], along: (cell: Cell) => number): Frontier => {
  const rising = [...cells].sort((a, b) => along(a) - along(b))
  const last = rising.findLastIndex(({ verdict }) => verdict !== 'dcp')
  const first = rising[last + 1]
  return {
    at,
    from: first === undefined ? null : along(first),
    pays: rising.filter(({ verdict }) => verdict === 'dcp').map(along),
    unclear: rising.some(({ verdict }) => verdict === 'not significant'),
  }
}

const frontiers = (
  cells: readonly Cell[],
  held: (cell: Cell) => number,
  along: (cell: Cell) => number,
): Frontier[] =>
  [...new Set(cells.map(held))]
    .sort((a, b) => a - b)
    .map((at) =>
      frontier(
        at,
        cells.filter((cell) => held(cell) === at),
        along,
      ),
    )

const bestOf = (cells: readonly Cell[]): Group['best'] =>
  groupsOf(
    cells.filter(({ verdict }) => verdict === 'dcp'),
    ({ best }) => keyOf(best.dcp, best.comm),
  )
    .map((won) => {
      const { mode, dcp, comm } = won[0].best
      return { mode, dcp, comm, cells: won.length }
    })
    .sort((a, b) => b.cells - a.cells)

const rangeOf = (values: readonly number[]): readonly [number, number] => [
  Math.min(...values),
  Math.max(...values),
]

const regimesOf = (rows: readonly PointRow[]): Regime[] =>
  groupsOf(rows, ({ mode, dcp, comm, limit }) => keyOf(mode, dcp, comm, limit))
    .flatMap((own): Regime[] => {
      const { mode, dcp, comm, limit } = own[0]
      if (limit === '') return []
      return [
        {
          mode,
          dcp,
          comm,
          limit,
          points: new Set(own.map(({ key }) => key)).size,
          contexts: rangeOf(own.map(({ context }) => context)),
          concurrencies: rangeOf(own.map(({ concurrency }) => concurrency)),
        },
      ]
    })
    .sort((a, b) => a.dcp - b.dcp || a.comm.localeCompare(b.comm) || b.points - a.points)

const groupOf = (rows: Readonly<Some<PointRow>>, modelFactor: number): Group => {
  const [{ model, gpu, world, kvDtype, qLen }] = rows
  const predicted = isPredicted(rows[0])
  const significance: Significance = predicted ? { by: 'model', factor: modelFactor } : { by: 'repeats' }
  const cells = groupsOf(rows, ({ context, concurrency }) => keyOf(context, concurrency))
    .flatMap((own) => cellOf(own, significance))
    .sort((a, b) => a.context - b.context || a.concurrency - b.concurrency)
  const context = (cell: Cell): number => cell.context
  const concurrency = (cell: Cell): number => cell.concurrency
  return {
    model,
    gpu,
    world,
    kvDtype,
    qLen,
    transport: transportOf(rows),
    predicted,
    provenances: PROVENANCES.filter((known) => rows.some(({ provenance }) => provenance === known)),
    cells,
    byContext: frontiers(cells, context, concurrency),
    byConcurrency: frontiers(cells, concurrency, context),
    best: bestOf(cells),
    regimes: regimesOf(rows),
  }
}

/** How predictions stand to the measurements of the same points with the same transport. */
const modelErrorOf = (rows: readonly PointRow[]): ModelError | null => {
  const ratios = groupsOf(rows, ({ key, transport }) => keyOf(key, transport)).flatMap((own) => {
    const predicted = own.find(isPredicted)
    const measured = own.filter((row) => !isPredicted(row))
    if (predicted === undefined || measured.length === 0) return []
    const ratio = predicted.stepMsP50 / median(measured.map((row) => row.stepMsP50))
    return Number.isFinite(ratio) && ratio > 0 ? [ratio] : []
  })
  if (ratios.length === 0) return null
  const off = ratios.map((ratio) => Math.max(ratio, 1 / ratio))
  return { points: ratios.length, median: median(ratios), p90: quantile(off, 0.9) }
}

/** Of predictions for GPUs, some exchanges may be in the table and others not. */
const transportOf = (rows: Readonly<Some<PointRow>>): Transport =>
  rows.some(({ transport }) => transport === 'model') ? 'model' : rows[0].transport

/** Predictions of the measuring device are there for the model's error; what stands for GPUs makes a group. */
const speaks = (row: PointRow): boolean => !isPredicted(row) || row.transport !== 'local'

export const summarise = (points: readonly PointRow[]): SweepSummary => {
  const rows = points.filter(counts)
  const modelError = modelErrorOf(rows)
  // Where nothing says how far the model is off, it is not trusted within a factor of two.
  const factor = modelError?.p90 ?? 2
  const groups = groupsOf(rows.filter(speaks), (row) =>
    keyOf(row.model, row.gpu, row.world, row.kvDtype, row.qLen, isPredicted(row)),
  )
  const found = groups.map((own) => groupOf(own, factor))
  // What was measured comes first.
  return { groups: found.sort((a, b) => Number(a.predicted) - Number(b.predicted)), modelError }
}
