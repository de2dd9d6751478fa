import { profileNamed } from '../../../app/backends/index.ts'
import type { FaultPoint } from '../../../app/faults/fault.ts'
import { faultNamed } from '../../../app/faults/index.ts'
import type { LseBase } from '../../../app/lse/base.ts'
import { type VectorError, vectorError } from '../../../app/lse/error.ts'
import { mergeWeights } from '../../../app/lse/merge.ts'
import type { StoreResult } from '../../../app/protocol/store.ts'
import { type Scenario, scenarioConfigs } from '../../../app/scenarios/scenario.ts'
import { type HeatRange, heatRange } from '../../drawing/heat.ts'

export type CaptureShape = StoreResult<'capture'>
export type MergeInput = StoreResult<'mergeRow'>

export const backendOf = ({ config }: Scenario): string => profileNamed(config.serving?.backend).name

/** Those that have every word in name, title, back-end, fault or source. */
export const matching = (scenarios: readonly Scenario[], words: string): Scenario[] => {
  const all = words.toLowerCase().split(/\s+/).filter(Boolean)
  return scenarios.filter((scenario) => {
    const { name, title, fault, source } = scenario
    const text = `${name} ${title} ${backendOf(scenario)} ${fault} ${source}`.toLowerCase()
    return all.every((word) => text.includes(word))
  })
}

/** Parts of a step in order, as the picture of a scenario has them. */
export const STATIONS = [
  { id: 'metadata', title: 'lengths, tables' },
  { id: 'append', title: 'write the cache' },
  { id: 'topk', title: 'choose keys' },
  { id: 'attn', title: 'attention' },
  { id: 'neutralize', title: 'rows without keys' },
  { id: 'lse', title: 'lse on the wire' },
  { id: 'merge', title: 'merge' },
] as const
export type StationId = (typeof STATIONS)[number]['id']

/** Where a point of the engine lies: what a replay refreshes are lengths, pages and slots. */
const stationOf = (point: FaultPoint): StationId => {
  const [part] = point.split('.')
  return STATIONS.find(({ id }) => id === part)?.id ?? 'metadata'
}

export interface FaultPicture {
  /** Ranks of the group. */
  readonly ranks: number
  readonly stations: readonly (typeof STATIONS)[number][]
  /** Where the faults of the scenario act: station, ranks, and the point of the engine. */
  readonly marks: readonly {
    readonly station: StationId
    readonly point: FaultPoint
    readonly ranks: readonly number[]
  }[]
}

/** Where in a step, and on which ranks, a scenario goes wrong. */
export const pictureOf = (scenario: Scenario): FaultPicture => {
  const { broken } = scenarioConfigs(scenario)
  const ranks = broken.parallel.dcpSize
  const all = Array.from({ length: ranks }, (_, rank) => rank)
  const sparse = broken.workload.topk !== undefined
  return {
    ranks,
    stations: STATIONS.filter(({ id }) => sparse || id !== 'topk'),
    marks: broken.faults.flatMap(({ fault, ranks: of = 'all' }) => {
      const point = faultNamed(fault).injection?.point
      return point === undefined
        ? []
        : [{ station: stationOf(point), point, ranks: of === 'all' ? all : [...of] }]
    }),
  }
}

/** A row and head. */
export interface Cell {
  readonly row: number
  readonly head: number
}

/** Where the error is worst; NaN is the worst. */
export const worstCell = ({ relErr, heads }: Pick<CaptureShape, 'relErr' | 'heads'>): Cell => {
  let worst = 0
  for (let i = 1; i < relErr.length; i++) {
    const [a, b] = [relErr[i] ?? 0, relErr[worst] ?? 0]
    if (!Number.isNaN(b) && (Number.isNaN(a) || a > b)) worst = i
  }
  return { row: Math.floor(worst / Math.max(1, heads)), head: worst % Math.max(1, heads) }
}

/** One range for the maps of both sides, so that the same colour is the same error. */
export const sharedRange = (captures: readonly (Pick<CaptureShape, 'relErr'> | null)[]): HeatRange =>
  heatRange(captures.flatMap((capture) => (capture === null ? [] : Array.from(capture.relErr))))

/** A rank's part in a row and head. */
export interface RankPart {
  readonly rank: number
  readonly lse: number
  /** As the rule of the merge has it for this lse. */
  readonly weight: number
  readonly norm: number
}

export interface SideModel {
  readonly ranks: readonly RankPart[]
  readonly merged: Float32Array
  readonly reference: Float64Array | null
  /** Of the merged vector against the reference; null without one. */
  readonly error: VectorError | null
}

const normOf = (values: ArrayLike<number>, from: number, count: number): number => {
  let sum = 0
  for (let i = from; i < from + count; i++) sum += (values[i] ?? Number.NaN) ** 2
  return Math.sqrt(sum)
}

/** What one side did with a row and head. */
export const sideModel = (
  { lse, out, merged, reference }: MergeInput,
  width: number,
  base: LseBase,
): SideModel => {
  const weights = mergeWeights(lse, base)
  return {
    ranks: Array.from(lse, (value, rank) => ({
      rank,
      lse: value,
      weight: weights[rank] ?? 0,
      norm: normOf(out, rank * width, width),
    })),
    merged,
    reference,
    error: reference === null ? null : vectorError(merged, reference),
  }
}

/** Events of a side by kind, the most frequent first, with a message of each. */
export const eventKinds = (
  events: StoreResult<'events'>,
): readonly { readonly kind: string; readonly count: number; readonly message: string }[] => {
  const kinds = new Map<string, { kind: string; count: number; message: string }>()
  for (const { kind, message } of events) {
    const known = kinds.get(kind)
    if (known === undefined) kinds.set(kind, { kind, count: 1, message })
    else known.count++
  }
  return [...kinds.values()].sort((a, b) => b.count - a.count)
}
