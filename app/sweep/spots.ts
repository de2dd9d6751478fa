import { intervalOf, mean, median } from '../statistics/sample.ts'
import { PROVENANCES, type Provenance } from '../trace/stages.ts'
import type { Limit } from './cost.ts'
import { grouped, type Some } from './grouped.ts'
import type { PointRow } from './point-rows.ts'
import type { Arrangement } from './summary.ts'

/** The rows of a sweep as points of curves: what the repeats of one point say together, and predictions beside them. */

export const KINDS = ['measured', 'local', 'gpus'] as const
/** Measured here; predicted for the device that measures; predicted for GPUs with a rank each. */
export type Kind = (typeof KINDS)[number]

/** Rows that lie on the same axes. */
export interface Facet {
  readonly model: string
  readonly gpu: string
  readonly world: number
  readonly kvDtype: string
  readonly qLen: number
}

/** One point of a curve: all repeats of a measurement, or one prediction. */
export interface Spot extends Arrangement {
  readonly key: string
  readonly kind: Kind
  readonly context: number
  readonly concurrency: number
  /** In the order of the repeats. */
  readonly rows: readonly PointRow[]
  readonly provenances: readonly Provenance[]
  /** Geometric mean over the repeats, as in the summary. */
  readonly tokensPerSecond: number
  /** Slowest and fastest repeat. */
  readonly least: number
  readonly most: number
  /** 95% confidence interval of the rate from its repeats; null with one, and of predictions. */
  readonly interval: readonly [low: number, high: number] | null
  /** Medians over the repeats. */
  readonly stepMs: number
  /** NaN: not known. */
  readonly stepMsP95: number
  readonly attnMs: number
  readonly commMs: number
  readonly waitMs: number
  readonly limit: Limit | ''
  readonly batch: number
  readonly capacityTokens: number
  readonly capacityLimited: boolean
}

export type Axis = 'context' | 'concurrency'

export const otherAxis = (axis: Axis): Axis => (axis === 'context' ? 'concurrency' : 'context')

/** One arrangement along an axis, its points rising. */
export interface Curve extends Arrangement {
  readonly kind: Kind
  readonly spots: readonly Spot[]
}

/** `tp`, or `dcp4 a2a`: names an arrangement within a facet. */
export const arrangementName = ({ mode, dcp, comm }: Arrangement): string =>
  mode === 'tp' ? 'tp' : `dcp${dcp} ${comm}`

const kindOf = ({ provenance, transport }: PointRow): Kind =>
  provenance !== 'predicted' ? 'measured' : transport === 'local' ? 'local' : 'gpus'

export const facetOf = ({ model, gpu, world, kvDtype, qLen }: Facet): Facet => ({
  model,
  gpu,
  world,
  kvDtype,
  qLen,
})

export const sameFacet = (a: Facet, b: Facet): boolean =>
  a.model === b.model &&
  a.gpu === b.gpu &&
  a.world === b.world &&
  a.kvDtype === b.kvDtype &&
  a.qLen === b.qLen

/** Every facet of the rows once, in their order. */
export const facetsOf = (rows: readonly PointRow[]): Facet[] => {
  const facets: Facet[] = []
  for (const row of rows) if (!facets.some((facet) => sameFacet(facet, row))) facets.push(facetOf(row))
  return facets
}

const spotOf = (rows: Readonly<Some<PointRow>>): Spot => {
  const [first] = rows
  const rates = rows.map((row) => row.tokensPerSecond)
  const middle = (of: (row: PointRow) => number): number => median(rows.map(of))
  return {
    key: first.key,
    kind: kindOf(first),
    mode: first.mode,
    dcp: first.dcp,
    comm: first.comm,
    context: first.context,
    concurrency: first.concurrency,
    rows: [...rows].sort((a, b) => a.repeat - b.repeat),
    provenances: PROVENANCES.filter((known) => rows.some(({ provenance }) => provenance === known)),
    tokensPerSecond: Math.exp(mean(rates.map(Math.log))),
    least: Math.min(...rates),
    most: Math.max(...rates),
    interval: kindOf(first) === 'measured' ? intervalOf(rates) : null,
    stepMs: middle((row) => row.stepMsP50),
    stepMsP95: middle((row) => row.stepMsP95),
    attnMs: middle((row) => row.attnMs),
    commMs: middle((row) => row.commMs),
    waitMs: middle((row) => row.waitMs),
    limit: first.limit,
    batch: first.batch,
    capacityTokens: first.capacityTokens,
    capacityLimited: first.capacityLimited,
  }
}

/** The points of one facet. What others published is no point of a sweep. */
export const spotsOf = (rows: readonly PointRow[], facet: Facet): Spot[] => {
  const own = rows.filter(
    (row) => row.provenance !== 'published' && row.provenance !== 'imported' && sameFacet(facet, row),
  )
  return [...grouped(own, (row) => `${row.key} ${kindOf(row)}`).values()].map(spotOf)
}

/** The baseline first, then by size and transport. */
const byArrangement = (a: Arrangement, b: Arrangement): number =>
  Number(a.mode !== 'tp') - Number(b.mode !== 'tp') || a.dcp - b.dcp || a.comm.localeCompare(b.comm)

/** Every arrangement of the points once: the baseline, then by size and transport. */
export const arrangementsOf = (spots: readonly Spot[]): Arrangement[] => {
  const found = new Map(spots.map(({ mode, dcp, comm }) => [`${mode} ${dcp} ${comm}`, { mode, dcp, comm }]))
  return [...found.values()].sort(byArrangement)
}

/** Curves along `axis` where the other axis is `held`; one an arrangement and kind. */
export const curvesOf = (spots: readonly Spot[], axis: Axis, held: number): Curve[] => {
  const shown = spots.filter((spot) => spot[otherAxis(axis)] === held)
  return arrangementsOf(shown).flatMap((arrangement) =>
    KINDS.flatMap((kind): Curve[] => {
      const own = shown.filter(
        (spot) => spot.kind === kind && arrangementName(spot) === arrangementName(arrangement),
      )
      return own.length === 0 ? [] : [{ ...arrangement, kind, spots: own.sort((a, b) => a[axis] - b[axis]) }]
    }),
  )
}

/** What the keys of one facet's points end with at a context and concurrency, whatever the arrangement. */
export const cellKey = (
  { kvDtype, qLen }: Pick<Facet, 'kvDtype' | 'qLen'>,
  context: number,
  concurrency: number,
): string => `-${kvDtype}-q${qLen}-c${context}-n${concurrency}`
