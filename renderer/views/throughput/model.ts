import { weightBytesOf } from '../../../app/sweep/capacity.ts'
import type { Rates } from '../../../app/sweep/cost.ts'
import { expand, type LeftOut, type SweepPoint } from '../../../app/sweep/expand.ts'
import type { MissingPoint, SweepManifest } from '../../../app/sweep/manifest.ts'
import { publishedGains } from '../../../app/sweep/overlay.ts'
import { Done } from '../../../app/sweep/plan.ts'
import type { PointRow } from '../../../app/sweep/point-rows.ts'
import { predictionsOf } from '../../../app/sweep/predictions.ts'
import type { PublishedPoint } from '../../../app/sweep/published.ts'
import {
  type Axis,
  arrangementName,
  arrangementsOf,
  cellKey,
  type Facet,
  facetsOf,
  otherAxis,
  type Spot,
  sameFacet,
  spotsOf,
} from '../../../app/sweep/spots.ts'
import type { Arrangement, Cell, Group, ModelError, SweepSummary } from '../../../app/sweep/summary.ts'
import type { Compared, Look } from './look.ts'

/** How far a sweep is, and what it will not have. */
export interface Progress {
  readonly points: number
  /** Those with all their repeats. */
  readonly measured: number
  readonly missing: readonly MissingPoint[]
  /** Combinations that make no run. */
  readonly leftOut: readonly LeftOut[]
  /** Every point with the run that measures it, by its key. */
  readonly byKey: ReadonlyMap<string, SweepPoint>
  /** Points that the cost model says nothing of. */
  readonly unpredicted: number
  /** What capacities are computed from, bytes; weights are of one rank, 0 where they are not known. */
  readonly memory: { readonly bytes: number; readonly utilisation: number; readonly weightBytes: number }
}

export const progressOf = (sweep: SweepManifest, rows: readonly PointRow[]): Progress => {
  const { config, memoryBytes, missing, rates } = sweep
  const { points, leftOut } = expand(config, sweep)
  return {
    points: points.length,
    measured: new Done(rows).whole(points, config.repeats).length,
    missing,
    leftOut,
    byKey: new Map(points.map((point) => [point.key, point])),
    unpredicted: points.length - predictionsOf(points, rates).size,
    memory: {
      bytes: config.memory.bytes ?? memoryBytes,
      utilisation: config.memory.utilisation,
      weightBytes: weightBytesOf(config.base, config.memory),
    },
  }
}

/** One place of the gain map. */
export interface Place {
  readonly context: number
  readonly concurrency: number
  /** null: nothing to compare, `why` says why. */
  readonly cell: Cell | null
  readonly why: string
  readonly published: readonly PublishedPoint[]
}

export interface SweepModel {
  readonly facets: readonly Facet[]
  readonly facet: Facet
  readonly compared: Compared
  /** Kinds that the facet has points of. */
  readonly choices: readonly Compared[]
  /** null: nothing of what is compared is there yet. */
  readonly group: Group | null
  /** All points of the facet, of every kind. */
  readonly spots: readonly Spot[]
  readonly arrangements: readonly Arrangement[]
  readonly contexts: readonly number[]
  readonly concurrencies: readonly number[]
  /** One row a context, rising. */
  readonly map: readonly (readonly Place[])[]
  readonly modelError: ModelError | null
  /** What was measured of the device. */
  readonly rates: Rates
  /** Every point of the sweep with the run that measures it, by its key. */
  readonly points: ReadonlyMap<string, SweepPoint>
}

/** Whether the confidence of a rate says more than its slowest and fastest repeat: of two it is nearly always wider than the axis. */
export const hasBand = ({ interval, rows }: Pick<Spot, 'interval' | 'rows'>): boolean =>
  interval !== null && rows.length > 2

/** Points of what is compared, of arrangements that are not left out. */
export const shownSpots = ({ spots, compared }: SweepModel, { hidden }: Pick<Look, 'hidden'>): Spot[] =>
  spots.filter((spot) => spot.kind === compared && !hidden.has(arrangementName(spot)))

const rising = (values: readonly number[]): number[] => [...new Set(values)].sort((a, b) => a - b)

/** Why a context and concurrency compares nothing: what is missing of it, else that it was not measured yet. */
const whyNot = (
  facet: Facet,
  place: Pick<Place, 'context' | 'concurrency'>,
  { missing, leftOut }: Progress,
  modes: readonly string[],
): string => {
  const end = cellKey(facet, place.context, place.concurrency)
  const found = [...missing, ...leftOut].find(({ key }) => key.endsWith(end))
  if (found !== undefined) return found.reason
  return modes.includes('tp') && modes.includes('dcp') ? 'not measured yet' : 'the sweep has one mode only'
}

const chosenFacet = (facets: readonly Facet[], wanted: Facet | null): Facet | undefined =>
  (wanted === null ? undefined : facets.find((facet) => sameFacet(facet, wanted))) ?? facets[0]

/** Kinds of points that can be compared, measured first. */
const choicesOf = (spots: readonly Spot[]): Compared[] =>
  (['measured', 'gpus'] as const).filter((kind) => spots.some((spot) => spot.kind === kind))

export interface ModelInput {
  readonly sweep: SweepManifest
  readonly rows: readonly PointRow[]
  readonly summary: SweepSummary
  readonly progress: Progress
  readonly look: Pick<Look, 'compared' | 'facet' | 'published'>
}

/** What the view shows, whatever is selected; null before the first row. */
export const modelOf = ({ sweep, rows, summary, progress, look }: ModelInput): SweepModel | null => {
  const facets = facetsOf(rows)
  const facet = chosenFacet(facets, look.facet)
  if (facet === undefined) return null
  const spots = spotsOf(rows, facet)
  const choices = choicesOf(spots)
  const wanted = look.compared ?? 'measured'
  const compared = choices.includes(wanted) ? wanted : (choices[0] ?? 'measured')
  const group =
    summary.groups.find((one) => sameFacet(one, facet) && one.predicted === (compared === 'gpus')) ?? null
  const { config } = sweep
  const contexts = rising([...config.context, ...spots.map((spot) => spot.context)])
  const concurrencies = rising([...config.concurrency, ...spots.map((spot) => spot.concurrency)])
  const cells = new Map(group?.cells.map((cell) => [`${cell.context} ${cell.concurrency}`, cell]))
  const placeOf = (context: number, concurrency: number): Place => {
    const place = { context, concurrency }
    const cell = cells.get(`${context} ${concurrency}`) ?? null
    return {
      ...place,
      cell,
      why: cell === null ? whyNot(facet, place, progress, config.mode) : '',
      published: look.published ? publishedGains(context, concurrency) : [],
    }
  }
  return {
    facets,
    facet,
    compared,
    choices,
    group,
    spots,
    arrangements: arrangementsOf(spots),
    contexts,
    concurrencies,
    map: contexts.map((context) => concurrencies.map((concurrency) => placeOf(context, concurrency))),
    modelError: summary.modelError,
    rates: sweep.rates,
    points: progress.byKey,
  }
}

/**
 * The value of the other axis that curves along `look.axis` hold: the selected or else the chosen one, else the largest
 * where something is compared, else where something is.
 */
export const heldOf = (
  { contexts, concurrencies, group, spots, compared }: SweepModel,
  look: Pick<Look, 'axis' | 'held'>,
  selected: Readonly<Record<Axis, number | null>>,
): number => {
  const holds = otherAxis(look.axis)
  const values = holds === 'context' ? contexts : concurrencies
  const wanted = selected[holds] ?? look.held[holds]
  if (wanted !== null && values.includes(wanted)) return wanted
  const largest = (places: readonly Readonly<Record<Axis, number>>[]): number | undefined =>
    rising(places.map((place) => place[holds])).at(-1)
  return (
    largest(group?.cells ?? []) ??
    largest(spots.filter(({ kind }) => kind === compared)) ??
    values.at(-1) ??
    0
  )
}

/** The points of one cell by arrangement, the baseline first, each with what is predicted of it here. */
export interface CellRow {
  readonly spot: Spot
  /** For the device that measures, beside a measurement. */
  readonly predicted: Spot | null
  /** Rate over that of the baseline; null of the baseline and without one. */
  readonly gain: number | null
}

export const cellRows = (
  { spots, arrangements, compared }: Pick<SweepModel, 'spots' | 'arrangements' | 'compared'>,
  context: number,
  concurrency: number,
): CellRow[] => {
  const here = spots.filter((spot) => spot.context === context && spot.concurrency === concurrency)
  const find = (name: string, kind: Spot['kind']): Spot | null =>
    here.find((spot) => spot.kind === kind && arrangementName(spot) === name) ?? null
  const baseline = find('tp', compared)
  return arrangements.flatMap((arrangement): CellRow[] => {
    const name = arrangementName(arrangement)
    const spot = find(name, compared)
    if (spot === null) return []
    return [
      {
        spot,
        predicted: compared === 'measured' ? find(name, 'local') : null,
        gain: baseline === null || name === 'tp' ? null : spot.tokensPerSecond / baseline.tokensPerSecond,
      },
    ]
  })
}

/** The picked arrangement of a cell: the wanted one where it is there, else the best, else the first. */
export const pickedRow = (
  rows: readonly CellRow[],
  wanted: string | null,
  cell: Cell | null,
): CellRow | null => {
  const named = (name: string): CellRow | undefined => rows.find(({ spot }) => arrangementName(spot) === name)
  return (
    (wanted === null ? undefined : named(wanted)) ??
    (cell === null ? undefined : named(arrangementName(cell.verdict === 'tp' ? cell.tp : cell.best))) ??
    rows[0] ??
    null
  )
}

/** The value `by` places further along, kept within; the first where nothing is selected. */
export const moved = (values: readonly number[], from: number | null, by: number): number | null => {
  const at = from === null ? -1 : values.indexOf(from)
  if (at < 0) return values[0] ?? null
  return values[Math.min(values.length - 1, Math.max(0, at + by))] ?? null
}
