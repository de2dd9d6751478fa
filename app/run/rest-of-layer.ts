import type { RunConfig } from './config.ts'
import { kernelHeads } from './parse.ts'
import { type LayerWeights, presetNamed } from './presets.ts'

/** Work of one rank on one layer besides attention itself. */
export interface RestOfLayer {
  /** Bytes of weights that are read. */
  readonly bytes: number
  /** Floating-point operations on them, a multiply-add as two. */
  readonly flops: number
}

/** Routers are kept in bf16 also where the rest is fp8. */
const ROUTER_BYTES = 2
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

/**
 * What the rest of a layer of the preset's model touches on one rank in a step of `requests * qLen` tokens, as the mean over
 * its layers: projections, shared weights and the experts met, intermediate widths divided over the TP group.
 * Norms, embeddings and the output head are left out. Zero for a preset without weights.
 */
const modelLayer = (config: RunConfig): RestOfLayer => {
  const { model, parallel, workload } = config
  const weights = model.preset === undefined ? undefined : presetNamed(model.preset).weights
  if (weights === undefined) return { bytes: 0, flops: 0 }
  const { layers, denseLayers, hidden, experts, expertsPerToken, sharedExperts, bytesPerWeight } = weights
  const tokens = workload.qLen * workload.requests.reduce((sum, group) => sum + group.count, 0)
  const mlp = (width: number): number => (MLP_MATRICES * hidden * width) / parallel.tpSize
  const attention = attentionWeights(config, weights)
  const router = experts * hidden
  const dense = mlp(weights.denseIntermediate)
  const expert = mlp(weights.expertIntermediate)
  const met = distinctExperts(experts, expertsPerToken, tokens)
  const mean = (ofDense: number, ofExperts: number): number =>
    (denseLayers * ofDense + (layers - denseLayers) * ofExperts) / layers
  const read =
    bytesPerWeight * (attention + mean(dense, expert * (sharedExperts + met))) +
    mean(0, ROUTER_BYTES * router)
  const used = attention + mean(dense, expert * (sharedExperts + expertsPerToken) + router)
  return { bytes: Math.round(read), flops: Math.round(2 * used * tokens) }
}

/** Work of `rest_of_layer`. */
export const restOfLayer = (config: RunConfig): RestOfLayer => {
  const given = config.engine.restOfLayer
  return given === 'model' ? modelLayer(config) : { bytes: given, flops: 0 }
}
