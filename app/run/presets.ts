import type { PresetName, RunConfigInput } from './config.ts'

/**
 * Weights of a layer besides its norms, from the model's config.json on Hugging Face (deepseek-ai/DeepSeek-V2-Lite,
 * deepseek-ai/DeepSeek-V3, moonshotai/Kimi-K2-Instruct), under the names there. Widths in values.
 */
export interface LayerWeights {
  readonly layers: number
  /** `first_k_dense_replace`: layers without experts, `intermediate_size` wide. */
  readonly denseLayers: number
  readonly hidden: number
  readonly denseIntermediate: number
  readonly expertIntermediate: number
  readonly experts: number
  readonly expertsPerToken: number
  readonly sharedExperts: number
  /** `q_lora_rank`; 0: queries are projected from the hidden state. */
  readonly qLoraRank: number
  /** `qk_nope_head_dim` and `v_head_dim`. */
  readonly headDim: number
  /** 1 for block-wise fp8 (its scales are 0.02% more and left out), 2 for bf16. */
  readonly bytesPerWeight: number
  /** `vocab_size`. Embedding and output head are not tied, and bf16 in all of them. */
  readonly vocabulary: number
}

/**
 * Attention shapes of published models (heads, latent and rope width, layers from their config.json).
 * softmaxScale = mscale^2 / sqrt(192): 192 is the width of an uncompressed query-key head, and
 * mscale = 0.1 * mscale_all_dim * ln(factor) + 1 comes from the model's YaRN settings.
 */
export interface Preset {
  readonly name: PresetName
  readonly title: string
  readonly config: RunConfigInput
  /** What `engine.restOfLayer: "model"` reads; undefined for a preset that is no model. */
  readonly weights?: LayerWeights
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

/** What DeepSeek-V3 and Kimi-K2 share. */
const V3_LAYER = {
  layers: 61,
  hidden: 7168,
  denseIntermediate: 18432,
  expertIntermediate: 2048,
  expertsPerToken: 8,
  sharedExperts: 1,
  qLoraRank: 1536,
  headDim: 128,
  bytesPerWeight: 1,
}

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
    weights: {
      layers: 27,
      denseLayers: 1,
      hidden: 2048,
      denseIntermediate: 10944,
      expertIntermediate: 1408,
      experts: 64,
      expertsPerToken: 6,
      sharedExperts: 2,
      qLoraRank: 0,
      headDim: 128,
      bytesPerWeight: 2,
      vocabulary: 102_400,
    },
  },
  {
    name: 'deepseek-v3',
    title: 'DeepSeek-V3 / R1',
    config: mla(128, 61, 0.1 * Math.log(40) + 1),
    weights: { ...V3_LAYER, denseLayers: 3, experts: 256, vocabulary: 129_280 },
  },
  {
    name: 'kimi-k2',
    title: 'Kimi-K2',
    config: mla(64, 61, 0.1 * Math.log(32) + 1),
    weights: { ...V3_LAYER, denseLayers: 1, experts: 384, vocabulary: 163_840 },
  },
]

export const presetNamed = (name: PresetName): Preset => {
  const preset = PRESETS.find((p) => p.name === name)
  if (preset === undefined) throw new Error(`no preset ${name}`)
  return preset
}
