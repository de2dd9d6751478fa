import type { PresetName } from '../run/config.ts'
import type { SweepConfigInput } from './config.ts'

const K = 1024

/** Contexts 1K to 256K, concurrency 1 to 128, dcp 1 to 8 on eight ranks, with the weights that a step reads. */
const served = (preset: PresetName): SweepConfigInput => ({
  base: {
    model: { preset },
    parallel: { tpSize: 8 },
    engine: { device: 'cuda', graph: true, restOfLayer: 'model' },
  },
  dcp: [2, 4, 8],
  comm: ['ag_rs', 'a2a'],
  context: [1, 2, 4, 8, 16, 32, 64, 128, 256].map((k) => k * K),
  concurrency: [1, 2, 4, 8, 16, 32, 64, 128],
})

/** Sweeps by the name of the run preset that is their base: `tiny` for any machine, the models for a GPU. */
export const SWEEP_PRESETS: Readonly<Record<PresetName, SweepConfigInput>> = {
  tiny: {
    base: { model: { preset: 'tiny' } },
    dcp: [2, 4],
    context: [256, K, 4 * K],
    concurrency: [1, 4],
    steps: 4,
  },
  'deepseek-v2-lite': served('deepseek-v2-lite'),
  'deepseek-v3': served('deepseek-v3'),
  'kimi-k2': served('kimi-k2'),
}
