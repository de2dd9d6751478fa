import type { RunConfig } from '../run/config.ts'
import { tokenBytes } from '../run/engine-config.ts'
import { rankWeightBytes } from '../run/rest-of-layer.ts'
import type { SweepConfig } from './config.ts'

/** What fits the GPUs that a point stands for, whatever the one that measures holds. */
export interface Capacity {
  /** Weights of one rank, bytes. */
  readonly weightBytes: number
  /** KV cache of one token over all layers, bytes. */
  readonly tokenBytes: number
  /** Tokens that the KV pools of a DCP group hold together: those of one rank times dcp. Whole, 0 where weights leave no room. */
  readonly tokens: number
}

/** Weights of one rank: given, else those of the model that the base names, else 0. */
export const weightBytesOf = (config: RunConfig, memory: SweepConfig['memory']): number =>
  memory.weightBytes ?? rankWeightBytes(config) ?? 0

/**
 * (GPU memory * utilisation - weights per rank) / (KV bytes per token * layers) * dcp. `gpuBytes` is the memory of the
 * device that measures, for a sweep that gives none.
 */
export const capacityOf = (config: RunConfig, memory: SweepConfig['memory'], gpuBytes: number): Capacity => {
  const weightBytes = weightBytesOf(config, memory)
  const perToken = tokenBytes(config) * config.model.layers
  const room = (memory.bytes ?? gpuBytes) * memory.utilisation - weightBytes
  const tokens = Math.max(0, Math.floor(room / perToken) * config.parallel.dcpSize)
  return { weightBytes, tokenBytes: perToken, tokens }
}
