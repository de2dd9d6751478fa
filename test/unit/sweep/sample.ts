import { issueText } from '../../../app/run/parse.ts'
import type { SweepConfig, SweepConfigInput } from '../../../app/sweep/config.ts'
import type { Rates, StageRates } from '../../../app/sweep/cost.ts'
import { expand, type SweepMachine, type SweepPoint } from '../../../app/sweep/expand.ts'
import { parseSweepConfig } from '../../../app/sweep/parse.ts'
import type { PointRow } from '../../../app/sweep/point-rows.ts'

/** The parsed sweep; throws what is wrong with it. */
export const sweepOf = (input: SweepConfigInput): SweepConfig => {
  const parsed = parseSweepConfig(input)
  if (!parsed.ok) throw new Error(parsed.issues.map(issueText).join('; '))
  return parsed.config
}

export const H200: SweepMachine = { device: 'cuda', memoryBytes: 150e9 }

export const pointsOf = (input: SweepConfigInput, machine: SweepMachine = H200): readonly SweepPoint[] =>
  expand(sweepOf(input), machine).points

/** The only point of a sweep with one combination. */
export const onePoint = (input: SweepConfigInput, machine?: SweepMachine): SweepPoint => {
  const [point, ...others] = pointsOf(input, machine)
  if (point === undefined || others.length > 0) throw new Error(`${others.length + 1} points`)
  return point
}

/** One combination of DeepSeek-V3 at TP 8; what is given replaces it. */
export const single = (over: SweepConfigInput = {}): SweepConfigInput => ({
  base: { model: { preset: 'deepseek-v3' }, parallel: { tpSize: 8 }, engine: { device: 'cuda' } },
  mode: ['dcp'],
  dcp: [8],
  comm: ['a2a'],
  context: [65_536],
  concurrency: [4],
  ...over,
})

const stage = (us: number, nsPerByte = 0, usPerRank = 0): StageRates => ({ us, usPerRank, nsPerByte })

const METADATA = stage(35, 0.2)

/** Weights at 4.5 TB/s. */
const REST = stage(3, 1 / 4500)

/** About an H200: 4.3 TB/s, 600 TFLOP/s, fixed times of a few microseconds. */
export const RATES: Rates = {
  attention: { bf16: { us: 12, bytesPerS: 4.3e12, flopsPerS: 6e14 } },
  stages: {
    none: { metadata: METADATA, kv_append: stage(2), rest_of_layer: REST },
    ag_rs: {
      metadata: METADATA,
      q_all_gather: stage(3, 0.001, 1),
      kv_append: stage(2),
      neutralize: stage(2),
      lse_all_gather: stage(3, 0.001, 1),
      lse_correct: stage(3, 0.0005),
      out_reduce_scatter: stage(4, 0.001, 1),
      rest_of_layer: REST,
    },
    a2a: {
      metadata: METADATA,
      q_all_gather: stage(3, 0.001, 1),
      kv_append: stage(2),
      neutralize: stage(2),
      out_all_to_all: stage(3, 0.001, 1),
      merge: stage(3, 0.0005),
      rest_of_layer: REST,
    },
  },
  between: {
    none: { us: 6, usPerRank: 0 },
    ag_rs: { us: 12, usPerRank: 0.5 },
    a2a: { us: 11, usPerRank: 0.4 },
  },
  shared: false,
}

/** A measured repeat; what is given replaces it. */
export const row = (over: Partial<PointRow> = {}): PointRow => ({
  key: 'tp-bf16-q1-c1024-n1',
  source: 'ours',
  provenance: 'measured',
  transport: 'local',
  repeat: 0,
  gpu: 'NVIDIA H200',
  model: 'deepseek-v3',
  mode: 'tp',
  world: 8,
  dcp: 1,
  interleave: 1,
  comm: 'none',
  wireDtype: 'out',
  kvDtype: 'bf16',
  graph: true,
  qLen: 1,
  context: 1024,
  concurrency: 1,
  batch: 1,
  layersMeasured: 61,
  tokensPerSecond: 100,
  stepMsP50: 10,
  stepMsP95: 11,
  attnMs: 5,
  commMs: 1,
  waitMs: 0.5,
  limit: 'hbm',
  capacityTokens: 1_000_000,
  capacityLimited: false,
  ...over,
})
