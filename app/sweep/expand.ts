import type { RunConfig } from '../run/config.ts'
import { acceptedPerStep, type Device, tokenBytes } from '../run/engine-config.ts'
import { configRules, issueText } from '../run/parse.ts'
import { unsupported } from '../run/support.ts'
import { capacityOf } from './capacity.ts'
import type { Mode, SweepConfig } from './config.ts'

/** What a sweep is measured on. */
export interface SweepMachine {
  readonly device: Device
  /** Memory of the device, for a sweep that gives none. */
  readonly memoryBytes: number
  /** GPUs that there are for ranks with a process and a GPU each; undefined where ranks have none of their own. */
  readonly gpus?: number | undefined
}

/** One combination of the lists. */
export interface PointPlace {
  readonly mode: Mode
  /** 1 in tp mode. */
  readonly dcp: number
  /** `none` in tp mode. */
  readonly comm: 'none' | SweepConfig['comm'][number]
  readonly kvDtype: RunConfig['cache']['kvDtype']
  readonly qLen: number
  /** Tokens of each request. */
  readonly context: number
  /** Requests that are asked for. */
  readonly concurrency: number
}

export interface SweepPoint extends PointPlace {
  /** Names the combination, whatever the lists of the sweep hold: `dcp4-a2a-bf16-q1-c16384-n64`. */
  readonly key: string
  /** Requests that run at once: the concurrency, or what the pool holds of it. */
  readonly batch: number
  /** Points of the same work share one measurement, named like a point with `batch` requests. */
  readonly measurement: string
  readonly capacityTokens: number
  readonly capacityLimited: boolean
  /** The run that measures it. */
  readonly run: RunConfig
}

export interface LeftOut {
  readonly key: string
  readonly reason: string
}

export interface Expansion {
  /** In the order in which they are measured. */
  readonly points: readonly SweepPoint[]
  /** Combinations that make no run, with the reason. */
  readonly leftOut: readonly LeftOut[]
}

/** `batch` requests in place of those that are asked for. */
export const pointKey = (place: PointPlace, batch: number = place.concurrency): string => {
  const { mode, dcp, comm, kvDtype, qLen, context } = place
  const ranks = mode === 'tp' ? 'tp' : `dcp${dcp}-${comm}`
  return `${ranks}-${kvDtype}-q${qLen}-c${context}-n${batch}`
}

/**
 * KV bytes, of all ranks and computed layers together, from which a step reads memory and not a cache: four times the
 * 60 MB of L2 that an H200 has.
 */
const UNCACHED_BYTES = 256 * 2 ** 20

/** Layers to compute: as few as keep the KV cache out of L2, all of the model where that takes more. */
const layersFor = (run: RunConfig, place: PointPlace, batch: number): number => {
  const perLayer = tokenBytes(run) * place.context * batch
  return Math.min(run.model.layers, Math.max(1, Math.ceil(UNCACHED_BYTES / perLayer)))
}

/** The run of one point with `batch` requests. */
const runOf = (config: SweepConfig, place: PointPlace, batch: number, device: Device): RunConfig => {
  const { base, steps, warmup } = config
  const run: RunConfig = {
    ...base,
    parallel: {
      ...base.parallel,
      mode: place.mode,
      dcpSize: place.dcp,
      comm: place.comm === 'none' ? base.parallel.comm : place.comm,
    },
    cache: { ...base.cache, kvDtype: place.kvDtype },
    workload: {
      ...base.workload,
      requests: [{ contextLen: place.context, count: batch }],
      qLen: place.qLen,
      steps,
      warmup,
    },
    engine: { ...base.engine, device },
  }
  const measuredLayers = base.model.measuredLayers ?? layersFor(run, place, batch)
  return { ...run, model: { ...base.model, measuredLayers } }
}

/** Tokens of one request when the run ends: its pages must be there. */
export const finalLength = (
  run: RunConfig,
  { context, qLen }: Pick<PointPlace, 'context' | 'qLen'>,
): number => context + (run.workload.steps - 1) * acceptedPerStep(run) + qLen

const BASELINE = 'dcp 1 is the tp baseline'

type Judged = { readonly point: SweepPoint } | { readonly leftOut: LeftOut }

const judged = (config: SweepConfig, place: PointPlace, machine: SweepMachine): Judged => {
  const key = pointKey(place)
  const leaveOut = (reason: string): Judged => ({ leftOut: { key, reason } })
  if (place.mode === 'dcp' && place.dcp === 1 && config.mode.includes('tp')) return leaveOut(BASELINE)
  const asked = runOf(config, place, place.concurrency, machine.device)
  const issues = [...configRules(asked), ...unsupported(asked)]
  if (issues.length > 0) return leaveOut(issues.map(issueText).join('; '))
  // Ranks that share a GPU would be measured with each other's work in their times.
  if (machine.gpus !== undefined && place.dcp > machine.gpus)
    return leaveOut(`${place.dcp} ranks need a GPU each, and there are ${machine.gpus}`)
  const capacity = capacityOf(asked, config.memory, machine.memoryBytes)
  const batch = Math.min(place.concurrency, Math.floor(capacity.tokens / finalLength(asked, place)))
  if (batch === 0)
    return leaveOut(
      capacity.tokens === 0 && capacity.weightBytes > 0
        ? `the weights of a rank (${gib(capacity.weightBytes)}) leave no room for a KV pool`
        : `the KV pool holds ${capacity.tokens} tokens, less than one request`,
    )
  const point: SweepPoint = {
    ...place,
    key,
    batch,
    measurement: pointKey(place, batch),
    capacityTokens: capacity.tokens,
    capacityLimited: batch < place.concurrency,
    run: runOf(config, place, batch, machine.device),
  }
  return { point }
}

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`

/** Every combination of the lists, the modes, sizes and transports of one batch beside each other. */
function* places(config: SweepConfig): Generator<PointPlace> {
  for (const kvDtype of config.kvDtype)
    for (const qLen of config.qLen)
      for (const context of config.context)
        for (const concurrency of config.concurrency) {
          const batch = { kvDtype, qLen, context, concurrency }
          if (config.mode.includes('tp')) yield { mode: 'tp', dcp: 1, comm: 'none', ...batch }
          if (config.mode.includes('dcp'))
            for (const dcp of config.dcp)
              for (const comm of config.comm) yield { mode: 'dcp', dcp, comm, ...batch }
        }
}

const isPowerOf4 = (n: number): boolean => Number.isInteger(Math.log2(n) / 2)

/** 0 where context and concurrency are powers of 4, 1 where one of them is, 2 where neither is. */
const coarseness = ({ context, concurrency }: PointPlace): number =>
  2 - Number(isPowerOf4(context)) - Number(isPowerOf4(concurrency))

/**
 * The points of a sweep in the order in which they are measured: powers of 4 first, so that a sweep that is interrupted is
 * a coarse picture of the whole; within that by KV type, query length, context and concurrency, each batch with its
 * baseline and all that is compared with it.
 */
export const expand = (config: SweepConfig, machine: SweepMachine): Expansion => {
  const all = [...places(config)].map((place) => judged(config, place, machine))
  const points = all.flatMap((one) => ('point' in one ? [one.point] : []))
  return {
    // A stable sort keeps the order within a class.
    points: points.sort((a, b) => coarseness(a) - coarseness(b)),
    leftOut: all.flatMap((one) => ('leftOut' in one ? [one.leftOut] : [])),
  }
}
