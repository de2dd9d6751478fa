import type { RunConfig } from '../run/config.ts'
import type { Device } from '../run/engine-config.ts'
import {
  type AttentionRates,
  attentionWork,
  type BetweenRates,
  commOf,
  type Rates,
  type StageRates,
  stageBytes,
} from './cost.ts'
import type { SweepPoint } from './expand.ts'
import { grouped } from './grouped.ts'
import { METERED_STAGES, type MeteredStage, type RunMeter } from './meter.ts'

/** A short run that tells a rate of the device. */
export interface Calibration {
  readonly kind: 'attention' | 'stages'
  readonly load: 'fixed' | 'read' | 'matrix' | 'few' | 'ranks' | 'many'
  readonly run: RunConfig
}

export interface Calibrated extends Calibration {
  readonly meter: RunMeter
}

interface Size {
  readonly requests: number
  /** Context of the one request that tells the fixed time of attention: all of the device takes part, and reads next to nothing. */
  readonly fixed: number
  /** Contexts of the runs that are to be bound by memory, and by the matrix units. */
  readonly read: number
  readonly matrix: number
  /** Requests of an exchange that is bound by its bytes. */
  readonly many: number
}

/** Large enough to fill the device for a millisecond, small enough to take no time: 1 GiB of bf16 keys on a GPU. */
const SIZES: Readonly<Record<Device, Size>> = {
  cuda: { requests: 64, fixed: 4096, read: 16_384, matrix: 8192, many: 64 },
  cpu: { requests: 4, fixed: 64, read: 2048, matrix: 512, many: 16 },
}

/** As many rows as a kernel takes with two query tokens. */
const MATRIX_HEADS = 128
const MATRIX_Q_LEN = 2
const SHORT_CONTEXT = 64
/** Of the runs that tell stages: what the ends of a step take is then little beside its layers. */
const STAGE_LAYERS = 8
const STEPS = 8
const WARMUP = 2

interface Load {
  readonly ranks: number
  readonly requests: number
  readonly context: number
  readonly qLen?: number
  /** All heads of a kernel in place of the model's share. */
  readonly wide?: boolean
  /** Whole layers of the points in place of one layer of nothing but attention. */
  readonly whole?: boolean
}

const runOf = (of: SweepPoint, load: Load): RunConfig => {
  const { ranks, requests, context, qLen = 1, wide = false, whole = false } = load
  const { run } = of
  const measuredLayers = whole ? Math.min(STAGE_LAYERS, run.model.layers) : 1
  return {
    ...run,
    model: { ...run.model, measuredLayers, ...(wide ? { heads: MATRIX_HEADS } : {}) },
    parallel: {
      ...run.parallel,
      mode: ranks === 1 ? 'tp' : 'dcp',
      dcpSize: ranks,
      ...(wide ? { tpSize: 1 } : {}),
    },
    workload: {
      ...run.workload,
      requests: [{ contextLen: context, count: requests }],
      qLen,
      acceptedPerStep: 1,
      steps: STEPS,
      warmup: WARMUP,
    },
    engine: { ...run.engine, ...(whole ? {} : { restOfLayer: 0 }) },
  }
}

/** The short runs that tell all rates which the points of a sweep need. */
export const calibrations = (points: readonly SweepPoint[], device: Device): Calibration[] => {
  const size = SIZES[device]
  const attention = [...grouped(points, ({ kvDtype }) => kvDtype).values()].flatMap(
    ([point]): Calibration[] => {
      const load = (name: Calibration['load'], given: Omit<Load, 'ranks'>): Calibration => ({
        kind: 'attention',
        load: name,
        run: runOf(point, { ranks: 1, ...given }),
      })
      return [
        load('fixed', { requests: 1, context: size.fixed }),
        load('read', { requests: size.requests, context: size.read }),
        load('matrix', { requests: size.requests, context: size.matrix, qLen: MATRIX_Q_LEN, wide: true }),
      ]
    },
  )
  const stages = [...grouped(points, ({ run }) => commOf(run)).values()].flatMap((own): Calibration[] => {
    const [point] = own
    const sizes = own.map(({ dcp }) => dcp)
    const [least, most] = [Math.min(...sizes), Math.max(...sizes)]
    const load = (name: Calibration['load'], ranks: number, requests: number): Calibration => ({
      kind: 'stages',
      load: name,
      run: runOf(point, { ranks, requests, context: SHORT_CONTEXT, whole: true }),
    })
    return [
      load('few', least, 1),
      ...(most > least ? [load('ranks', most, 1)] : []),
      load('many', most, size.many),
    ]
  })
  return [...attention, ...stages]
}

/** Time of attention, with the combination of its splits, in one layer. */
const attentionUs = ({ stages }: RunMeter): number =>
  (stages.decode_attn?.us ?? 0) + (stages.split_combine?.us ?? 0)

/** A rate by what a run does more than another and how much longer it takes: at least a thousandth of its time. */
const perSecond = (count: number, us: number, lessUs: number): number =>
  count / (Math.max(us - lessUs, us / 1000, 1e-3) / 1e6)

const attentionRates = (runs: readonly Calibrated[]): AttentionRates | undefined => {
  const of = (load: Calibration['load']): Calibrated | undefined => runs.find((run) => run.load === load)
  const [fixed, read, matrix] = [of('fixed'), of('read'), of('matrix')]
  if (fixed === undefined || read === undefined || matrix === undefined) return undefined
  const least = attentionWork(fixed.run)
  const leastUs = attentionUs(fixed.meter)
  const rates = (run: Calibrated) => {
    const [work, us] = [attentionWork(run.run), attentionUs(run.meter)]
    return {
      bytes: perSecond(work.bytes - least.bytes, us, leastUs),
      flops: perSecond(work.flops - least.flops, us, leastUs),
    }
  }
  // Whichever run reaches more of a rate tells it: on a device without matrix units both are bound by the same.
  const [reading, multiplying] = [rates(read), rates(matrix)]
  const bytesPerS = Math.max(reading.bytes, multiplying.bytes)
  const flopsPerS = Math.max(reading.flops, multiplying.flops)
  const us = leastUs - 1e6 * Math.max(least.bytes / bytesPerS, least.flops / flopsPerS)
  return { us: Math.max(0, us), bytesPerS, flopsPerS }
}

interface Sample {
  readonly us: number
  readonly bytes: number
  readonly others: number
}

/** A stage in the run with a load. */
const sampleOf = (
  stage: MeteredStage,
  runs: readonly Calibrated[],
  load: Calibration['load'],
): Sample | undefined => {
  const run = runs.find((one) => one.load === load)
  const us = run?.meter.stages[stage]?.us
  if (run === undefined || us === undefined) return undefined
  return { us, bytes: stageBytes(stage, run.run), others: run.run.parallel.dcpSize - 1 }
}

const usPerByteOf = (less: Sample, more: Sample): number => {
  const bytes = more.bytes - less.bytes
  return bytes > 0 ? Math.max(0, (more.us - less.us) / bytes) : 0
}

const fixedUs = ({ us, bytes }: Sample, usPerByte: number): number => Math.max(0, us - bytes * usPerByte)

const stageRates = (stage: MeteredStage, runs: readonly Calibrated[]): StageRates | undefined => {
  const few = sampleOf(stage, runs, 'few')
  const many = sampleOf(stage, runs, 'many')
  const ranks = sampleOf(stage, runs, 'ranks') ?? few
  if (few === undefined || many === undefined || ranks === undefined) return undefined
  const usPerByte = usPerByteOf(ranks, many)
  const fixed = (sample: Sample): number => fixedUs(sample, usPerByte)
  const more = ranks.others - few.others
  const usPerRank = more > 0 ? Math.max(0, (fixed(ranks) - fixed(few)) / more) : 0
  return { us: Math.max(0, fixed(few) - usPerRank * few.others), usPerRank, nsPerByte: usPerByte * 1e3 }
}

/**
 * Metadata of a step: a time for many requests, and one for what their contexts add. Contexts of the runs that tell stages are
 * short, so the latter is told by a run that tells attention.
 */
const metadataRates = (
  stages: readonly Calibrated[],
  attention: readonly Calibrated[],
): StageRates | undefined => {
  const many = sampleOf('metadata', stages, 'many')
  const long = sampleOf('metadata', attention, 'read')
  if (many === undefined || long === undefined) return undefined
  const usPerByte = usPerByteOf(many, long)
  return { us: fixedUs(many, usPerByte), usPerRank: 0, nsPerByte: usPerByte * 1e3 }
}

/** Spans around the stages of a layer. */
const AROUND: readonly MeteredStage[] = ['metadata', 'graph_replay', 'stall']

/** Time of a layer in which none of its stages runs, in us. */
const betweenUs = ({ run, meter }: Calibrated): number => {
  const layerUs = (meter.stepMs.p50 * 1e3 - (meter.stages.metadata?.us ?? 0)) / run.model.layers
  const inStages = METERED_STAGES.filter((stage) => !AROUND.includes(stage))
  return Math.max(0, layerUs - inStages.reduce((sum, stage) => sum + (meter.stages[stage]?.us ?? 0), 0))
}

const betweenRates = (runs: readonly Calibrated[]): BetweenRates | undefined => {
  const few = runs.find(({ load }) => load === 'few')
  if (few === undefined) return undefined
  const ranks = runs.find(({ load }) => load === 'ranks') ?? few
  const others = ({ run }: Calibrated): number => run.parallel.dcpSize - 1
  const more = others(ranks) - others(few)
  const usPerRank = more > 0 ? Math.max(0, (betweenUs(ranks) - betweenUs(few)) / more) : 0
  return { us: Math.max(0, betweenUs(few) - usPerRank * others(few)), usPerRank }
}

/** Stages that the cost model prices otherwise. */
const APART: readonly MeteredStage[] = ['decode_attn', 'split_combine', 'graph_replay', 'stall']

/** Rates from the runs that were made; what has none of its runs is left out, and its points go without a prediction. */
export const ratesOf = (runs: readonly Calibrated[], device: Device): Rates => {
  const attention = runs.filter(({ kind }) => kind === 'attention')
  const stages = grouped(
    runs.filter(({ kind }) => kind === 'stages'),
    ({ run }) => commOf(run),
  )
  return {
    attention: Object.fromEntries(
      [...grouped(attention, ({ run }) => run.cache.kvDtype)].flatMap(([kvDtype, own]) => {
        const rates = attentionRates(own)
        return rates === undefined ? [] : [[kvDtype, rates]]
      }),
    ),
    stages: Object.fromEntries(
      [...stages].map(([comm, own]) => [
        comm,
        Object.fromEntries(
          METERED_STAGES.filter((stage) => !APART.includes(stage)).flatMap((stage) => {
            const rates = stage === 'metadata' ? metadataRates(own, attention) : stageRates(stage, own)
            return rates === undefined ? [] : [[stage, rates]]
          }),
        ),
      ]),
    ),
    between: Object.fromEntries(
      [...stages].flatMap(([comm, own]) => {
        const rates = betweenRates(own)
        return rates === undefined ? [] : [[comm, rates]]
      }),
    ),
    shared: device === 'cpu',
  }
}
