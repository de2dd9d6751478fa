import type { PresetName, RunConfigInput } from './config.ts'

/**
 * Attention shapes of published models (heads, latent and rope width, layers from their config.json).
 * softmaxScale = mscale^2 / sqrt(192): 192 is the width of an uncompressed query-key head, and
 * mscale = 0.1 * mscale_all_dim * ln(factor) + 1 comes from the model's YaRN settings.
 */
export interface Preset {
  readonly name: PresetName
  readonly title: string
  readonly config: RunConfigInput
}

const mla = (heads: number, layers: number, mscale: number): RunConfigInput => ({
  model: {
    heads,
    kvLoraRank: 512,
    ropeDim: 64,
    layers,
    softmaxScale: Number((mscale ** 2 / Math.sqrt(192)).toFixed(6)),
  },
})

export const PRESETS: readonly Preset[] = [
  {
    name: 'tiny',
    title: 'Tiny demo',
    config: {
      model: { heads: 16, kvLoraRank: 512, ropeDim: 64, layers: 4, softmaxScale: 0.05 },
      parallel: { tpSize: 4, dcpSize: 4, interleave: 1 },
      cache: { pageSize: 16 },
      workload: {
        requests: [
          { contextLen: 1000, count: 1 },
          { contextLen: 300, count: 2 },
          { contextLen: 1, count: 1 },
        ],
        steps: 24,
        data: 'needles',
      },
    },
  },
  {
    name: 'deepseek-v2-lite',
    title: 'DeepSeek-V2-Lite',
    // biome-ignore lint/suspicious/noApproximativeNumericConstant: mscale_all_dim as the model's config.json has it
    config: mla(16, 27, 0.1 * 0.707 * Math.log(40) + 1),
  },
  { name: 'deepseek-v3', title: 'DeepSeek-V3 / R1', config: mla(128, 61, 0.1 * Math.log(40) + 1) },
  { name: 'kimi-k2', title: 'Kimi-K2', config: mla(64, 61, 0.1 * Math.log(32) + 1) },
]

export const presetNamed = (name: PresetName): Preset => {
  const preset = PRESETS.find((p) => p.name === name)
  if (preset === undefined) throw new Error(`no preset ${name}`)
  return preset
}
