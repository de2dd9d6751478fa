import { z } from 'zod'
import type { RunConfig } from '../run/config.ts'
import { acceptedPerStep, tokenBytes } from '../run/engine-config.ts'
import { restOfLayer } from '../run/rest-of-layer.ts'
import { kernelHeads, keyWidth, valueWidth } from '../run/shape.ts'
import { STAGE_FAMILY } from '../trace/stages.ts'
import { type CollectiveTime, collectiveTime } from './collectives.ts'
import type { Collective, CollectiveTiming } from './config.ts'
import { METERED_STAGES, type MeteredStage } from './meter.ts'

/**
 * The cost model: what a step takes by the bytes and operations in it and a few rates that were measured on the device
 * (calibrate.ts). A step is its metadata and, in every layer, attention, the exchange, the rest of the layer, and what lies
 * between them, one after the other; attention and the rest of the layer take a fixed time and then the longer of reading and
 * multiplying.
 */

const rate = z.number().min(0)

const attentionRates = z.strictObject({
  /** Fixed time of a call: launches, first tiles, combination of splits. */
  us: rate,
  bytesPerS: rate.positive(),
  flopsPerS: rate.positive(),
})
export type AttentionRates = z.output<typeof attentionRates>

const stageRates = z.strictObject({
  /** Fixed time, and what each rank beyond the first adds. */
  us: rate,
  usPerRank: rate,
  nsPerByte: rate,
})
export type StageRates = z.output<typeof stageRates>

/** Time of a layer that is no stage's, as from the end of a kernel to the begin of the next, and what each rank beyond the first adds. */
const betweenRates = z.strictObject({ us: rate, usPerRank: rate })
export type BetweenRates = z.output<typeof betweenRates>

const COMMS = ['none', 'ag_rs', 'a2a', 'p2p'] as const

/** What the device of a sweep does, as measured before its first point. */
export const ratesSchema = z.strictObject({
  /** By KV type. */
  attention: z.partialRecord(z.enum(['fp32', 'bf16', 'fp8', 'fp8_ds_mla']), attentionRates),
  /** All other stages by transport; `none` with one rank. */
  stages: z.partialRecord(z.enum(COMMS), z.partialRecord(z.enum(METERED_STAGES), stageRates)),
  /** By transport. */
  between: z.partialRecord(z.enum(COMMS), betweenRates).default({}),
  /** Ranks run at once on one device and share its rates, as threads of a CPU do. */
  shared: z.boolean(),
})
export type Rates = z.output<typeof ratesSchema>

export const LIMITS = ['hbm', 'matrix', 'transport', 'launch'] as const
export type Limit = (typeof LIMITS)[number]

export interface Prediction {
  readonly tokensPerSecond: number
  /** Of the whole model. */
  readonly stepMs: number
  readonly attnMs: number
  readonly commMs: number
  /** What the step spends on each; together they are the step. */
  readonly partsMs: Readonly<Record<Limit, number>>
  /** The largest part. */
  readonly limit: Limit
  /** What the exchange was priced by: copies of the measuring device, timings between GPUs, or in part the model of them. */
  readonly transport: Transport
}

export const TRANSPORTS = ['local', 'table', 'model'] as const
export type Transport = (typeof TRANSPORTS)[number]

/** How the exchange is priced: as the measuring device does it, or between GPUs. */
export type Exchange = 'local' | { readonly table: readonly CollectiveTiming[] }

const COLLECTIVE_OF: Readonly<Partial<Record<MeteredStage, Collective>>> = {
  q_all_gather: 'all_gather',
  lse_all_gather: 'all_gather',
  out_reduce_scatter: 'reduce_scatter',
  out_all_to_all: 'all_to_all',
}

export const commOf = ({ parallel }: RunConfig): (typeof COMMS)[number] =>
  parallel.dcpSize === 1 ? 'none' : parallel.comm

/** Whether a stage moves data between ranks: the collectives, and the one kernel of p2p. */
const exchanges = (stage: MeteredStage, run: RunConfig): boolean =>
  (stage !== 'layer_metadata' && STAGE_FAMILY[stage] === 'communication') ||
  (stage === 'merge' && commOf(run) === 'p2p')

/** Whether a layer of `run` has a stage; `metadata` belongs to the step. */
const runs = (stage: MeteredStage, run: RunConfig): boolean =>
  stage !== 'metadata' &&
  !(stage === 'q_all_gather' && run.parallel.replicateQ) &&
  !(stage === 'rest_of_layer' && restOfLayer(run).bytes === 0)

const requestsOf = ({ workload }: RunConfig): number =>
  workload.requests.reduce((sum, group) => sum + group.count, 0)

/** Tokens in the caches of all requests, in the middle of the run. */
const cachedTokens = (run: RunConfig): number => {
  const grown = run.workload.qLen + ((run.workload.steps - 1) * acceptedPerStep(run)) / 2
  return run.workload.requests.reduce((sum, { contextLen, count }) => sum + count * (contextLen + grown), 0)
}

/** Bytes that one rank moves in one layer's stage (of a step, for metadata), attention apart. */
export const stageBytes = (stage: MeteredStage, run: RunConfig): number => {
  const { parallel, cache, workload } = run
  const ranks = parallel.dcpSize
  const rows = requestsOf(run) * workload.qLen
  const values = rows * kernelHeads(run)
  const valueBytes = cache.kvDtype === 'fp32' ? 4 : 2
  const wireBytes = parallel.wireDtype === 'fp32' ? 4 : valueBytes
  const partial = values * (valueWidth(run) * wireBytes + 4)
  const others = (ranks - 1) / ranks
  switch (stage) {
    case 'metadata':
      return 4 * Math.ceil(cachedTokens(run) / (cache.pageSize * ranks))
    case 'layer_metadata':
      return rows * (workload.topk ?? 0) * 8
    case 'q_all_gather':
      return values * keyWidth(run) * valueBytes * others
    case 'kv_append':
      return (rows * tokenBytes(run)) / ranks
    case 'neutralize':
      return values * 4
    case 'lse_all_gather':
      return values * 4 * (ranks - 1)
    case 'lse_correct':
      return values * valueWidth(run) * valueBytes
    case 'out_reduce_scatter':
      return values * valueWidth(run) * wireBytes * others
    case 'out_all_to_all':
      return partial * others
    case 'merge':
      // The kernel of p2p reads from its peers what an all-to-all would have brought.
      return commOf(run) === 'p2p' ? partial * others : partial
    case 'rest_of_layer':
      return restOfLayer(run).bytes
    default:
      return 0
  }
}

export interface Work {
  readonly bytes: number
  readonly flops: number
}

/** Attention of one rank on one layer: keys are shared by the query tokens of a request, unless each chooses its own. */
export const attentionWork = (run: RunConfig): Work => {
  const { workload, parallel } = run
  const cached = cachedTokens(run) / parallel.dcpSize
  const chosen = ((workload.topk ?? Number.POSITIVE_INFINITY) * requestsOf(run)) / parallel.dcpSize
  const keys = Math.min(cached, chosen) * workload.qLen
  const read = workload.topk === undefined ? cached : keys
  const width = keyWidth(run) + valueWidth(run)
  return { bytes: read * tokenBytes(run), flops: 2 * kernelHeads(run) * width * keys }
}

/** Time of bytes and operations that overlap, in microseconds, and which of both it is. */
const overlapped = ({ bytes, flops }: Work, bytesPerS: number, flopsPerS: number): [Limit, number] => {
  const [reading, multiplying] = [(bytes / bytesPerS) * 1e6, (flops / flopsPerS) * 1e6]
  return reading >= multiplying ? ['hbm', reading] : ['matrix', multiplying]
}

interface Layer {
  readonly parts: Record<Limit, number>
  attnUs: number
  commUs: number
  /** Whether an exchange was priced by the model of collectives. */
  fromModel: boolean
}

/** Weights are multiplied as fast as the fastest attention multiplies. */
const fastestFlops = ({ attention }: Rates): number =>
  Math.max(...Object.values(attention).map(({ flopsPerS }) => flopsPerS))

const fixedUs = ({ us, usPerRank }: BetweenRates, { parallel }: RunConfig): number =>
  us + usPerRank * (parallel.dcpSize - 1)

const addStage = (
  layer: Layer,
  stage: MeteredStage,
  run: RunConfig,
  rates: StageRates,
  exchange: Exchange,
): void => {
  const bytes = stageBytes(stage, run)
  const fixed = fixedUs(rates, run)
  if (!exchanges(stage, run)) {
    layer.parts.launch += fixed
    layer.parts.hbm += (bytes * rates.nsPerByte) / 1e3
    return
  }
  const between = exchange === 'local' ? undefined : timeBetween(stage, run, bytes, exchange.table)
  const us = between?.us ?? fixed + (bytes * rates.nsPerByte) / 1e3
  layer.parts.transport += us
  layer.commUs += us
  layer.fromModel ||= between?.source === 'model'
}

/** The weights of the rest of a layer are read in the measured time, or multiplied where that takes longer. */
const addRest = (layer: Layer, run: RunConfig, rates: StageRates, flopsPerS: number): void => {
  const bytesPerS = rates.nsPerByte > 0 ? 1e9 / rates.nsPerByte : Number.POSITIVE_INFINITY
  const [by, us] = overlapped(restOfLayer(run), bytesPerS, flopsPerS)
  layer.parts[by] += us
  layer.parts.launch += fixedUs(rates, run)
}

const timeBetween = (
  stage: MeteredStage,
  run: RunConfig,
  bytes: number,
  table: readonly CollectiveTiming[],
): CollectiveTime => collectiveTime(table, COLLECTIVE_OF[stage] ?? 'p2p', run.parallel.dcpSize, bytes)

/**
 * What a step of the whole model takes by `rates`: with `local` exchange as the measuring device runs it, else as GPUs
 * would that have a rank each. undefined where the rates know the KV type or the transport not.
 */
export const predict = (run: RunConfig, rates: Rates, exchange: Exchange): Prediction | undefined => {
  const attention = rates.attention[run.cache.kvDtype]
  const stages = rates.stages[commOf(run)]
  if (attention === undefined || stages === undefined) return undefined
  const layer: Layer = {
    parts: { hbm: 0, matrix: 0, transport: 0, launch: 0 },
    attnUs: 0,
    commUs: 0,
    fromModel: exchange !== 'local' && exchange.table.length === 0,
  }
  // GPUs with a rank each share nothing.
  const share = rates.shared && exchange === 'local' ? run.parallel.dcpSize : 1
  const [limit, us] = overlapped(attentionWork(run), attention.bytesPerS / share, attention.flopsPerS / share)
  layer.parts[limit] += us
  layer.parts.launch += attention.us
  layer.attnUs = attention.us + us
  for (const stage of METERED_STAGES) {
    const known = stages[stage]
    if (known === undefined || !runs(stage, run)) continue
    if (stage === 'rest_of_layer') addRest(layer, run, known, fastestFlops(rates) / share)
    else addStage(layer, stage, run, known, exchange)
  }
  const between = rates.between[commOf(run)]
  if (between !== undefined) layer.parts.launch += fixedUs(between, run)
  return whole(run, layer, stages.metadata, exchange)
}

const whole = (
  run: RunConfig,
  layer: Layer,
  metadata: StageRates | undefined,
  exchange: Exchange,
): Prediction => {
  const perStep = metadata === undefined ? 0 : fixedUs(metadata, run)
  const cells = metadata === undefined ? 0 : (stageBytes('metadata', run) * metadata.nsPerByte) / 1e3
  const ms = (us: number): number => (us * run.model.layers) / 1e3
  const partsMs = {
    hbm: ms(layer.parts.hbm) + cells / 1e3,
    matrix: ms(layer.parts.matrix),
    transport: ms(layer.parts.transport),
    launch: ms(layer.parts.launch) + perStep / 1e3,
  }
  const stepMs = LIMITS.reduce((sum, limit) => sum + partsMs[limit], 0)
  const tokens = requestsOf(run) * acceptedPerStep(run)
  return {
    tokensPerSecond: tokens / (stepMs / 1e3),
    stepMs,
    attnMs: ms(layer.attnUs),
    commMs: ms(layer.commUs),
    partsMs,
    limit: LIMITS.reduce((most, limit) => (partsMs[limit] > partsMs[most] ? limit : most)),
    transport: exchange === 'local' ? 'local' : layer.fromModel ? 'model' : 'table',
  }
}
