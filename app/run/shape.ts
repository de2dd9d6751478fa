import type { RunConfig } from './config.ts'

/** Heads that the kernel of one rank sees after the gather: heads * dcpSize / tpSize. */
export const kernelHeads = (config: RunConfig): number =>
  (config.model.heads * config.parallel.dcpSize) / config.parallel.tpSize

/** KV heads to which these attend, and of which each rank keeps its shard; 0 with MLA, whose latent vector is one for all heads. */
export const kernelKvHeads = ({ model, parallel }: RunConfig): number =>
  model.kvHeads === undefined ? 0 : Math.max((model.kvHeads * parallel.dcpSize) / parallel.tpSize, 1)

/** Values of a query or key of one head. */
export const keyWidth = ({ model }: RunConfig): number =>
  model.kvHeads === undefined ? model.kvLoraRank + model.ropeDim : (model.headDim ?? 0)

/** Values of a partial of one head. */
export const valueWidth = ({ model }: RunConfig): number =>
  model.kvHeads === undefined ? model.kvLoraRank : (model.headDim ?? 0)

/** Layers of the model that are computed. */
export const measuredLayers = ({ model }: RunConfig): number => model.measuredLayers ?? model.layers
