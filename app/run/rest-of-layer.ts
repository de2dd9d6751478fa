import type { RunConfig } from './config.ts'
import { type LayerWeights, presetNamed } from './presets.ts'
import { kernelHeads } from './shape.ts'

/** Work of one rank on one layer besides attention itself. */
export interface RestOfLayer {
  /** Bytes of weights that are read. */
  readonly bytes: number
  /** Floating-point operations on them, a multiply-add as two. */
  readonly flops: number
}

/** Routers, embedding and output head are kept in bf16 also where the rest is fp8. */
const ROUTER_BYTES = 2
const EMBEDDING_BYTES = 2
/** Gate, up and down projection. */
const MLP_MATRICES = 3

/** Experts of `experts` that are met when `tokens` tokens choose `active` each, on average and independently. */
export const distinctExperts = (experts: number, active: number, tokens: number): number =>
  experts * (1 - (1 - active / experts) ** tokens)

/** Weights of the attention projections of one rank. Heads are divided over the TP group, down-projections are not. */
const attentionWeights = (config: RunConfig, weights: LayerWeights): number => {
  const { model, parallel } = config
  const { hidden, qLoraRank, headDim } = weights
  const heads = model.heads / parallel.tpSize
  // A rank that replicates Q projects the queries of all heads of its group.
  const queryHeads = parallel.replicateQ ? kernelHeads(config) : heads
  const down = hidden * (model.kvLoraRank + model.ropeDim) + hidden * qLoraRank
  const queryUp = (qLoraRank === 0 ? hidden : qLoraRank) * (headDim + model.ropeDim)
  const intoLatent = headDim * model.kvLoraRank
  const outOfLatent = model.kvLoraRank * headDim
  return down + queryHeads * (queryUp + intoLatent) + heads * (outOfLatent + headDim * hidden)
}

interface RankLayer {
  /** Bytes of weights. */
  readonly bytes: number
  /** Weights that one token uses. */
  readonly used: number
}

/** A layer of one rank with `routed` of its routed experts, as the mean over the layers. Widths are divided over the TP group. */
const rankLayer = (config: RunConfig, weights: LayerWeights, routed: number): RankLayer => {
  const { layers, denseLayers, hidden, experts, expertsPerToken, sharedExperts, bytesPerWeight } = weights
  const mlp = (width: number): number => (MLP_MATRICES * hidden * width) / config.parallel.tpSize
  const attention = attentionWeights(config, weights)
  const router = experts * hidden
  const dense = mlp(weights.denseIntermediate)
  const expert = mlp(weights.expertIntermediate)
  const mean = (ofDense: number, ofExperts: number): number =>
    (denseLayers * ofDense + (layers - denseLayers) * ofExperts) / layers
  return {
    bytes:
      bytesPerWeight * (attention + mean(dense, expert * (sharedExperts + routed))) +
      mean(0, ROUTER_BYTES * router),
    used: attention + mean(dense, expert * (sharedExperts + expertsPerToken) + router),
  }
}

/**
 * What the rest of a layer of the preset's model touches on one rank in a step of `requests * qLen` tokens, as the mean over
 * its layers: projections, shared weights and the experts met, intermediate widths divided over the TP group.
 * Norms, embeddings and the output head are left out. Zero for a preset without weights.
 */
const modelLayer = (config: RunConfig): RestOfLayer => {
  const { model, workload } = config
  const weights = model.preset === undefined ? undefined : presetNamed(model.preset).weights
  if (weights === undefined) return { bytes: 0, flops: 0 }
  const tokens = workload.qLen * workload.requests.reduce((sum, group) => sum + group.count, 0)
  const met = distinctExperts(weights.experts, weights.expertsPerToken, tokens)
  const { bytes, used } = rankLayer(config, weights, met)
  return { bytes: Math.round(bytes), flops: Math.round(2 * used * tokens) }
}

/**
 * Bytes of weights that one rank of the TP group keeps: all layers with all their experts, and its part of embedding and
 * output head. Norms and layers for multi-token prediction are left out. undefined for a preset without weights.
 */
export const rankWeightBytes = (config: RunConfig): number | undefined => {
  const { model, parallel } = config
  const weights = model.preset === undefined ? undefined : presetNamed(model.preset).weights
  if (weights === undefined) return undefined
  const ends = (2 * weights.vocabulary * weights.hidden * EMBEDDING_BYTES) / parallel.tpSize
  return Math.round(model.layers * rankLayer(config, weights, weights.experts).bytes + ends)
}

/** Work of `rest_of_layer`. */
export const restOfLayer = (config: RunConfig): RestOfLayer => {
  const given = config.engine.restOfLayer
  return given === 'model' ? modelLayer(config) : { bytes: given, flops: 0 }
}
