import type { EngineConfig } from '../../app/run/engine-config.ts'
import { smallConfig } from '../native/engine.ts'

/** A small run of four ranks that share the GPU, of the shape that its fastest kernel takes. */
export const gpuConfig = (over: Partial<EngineConfig> = {}): EngineConfig =>
  smallConfig({
    device: 'cuda',
    kvDtype: 'bf16',
    ranks: 4,
    heads: 16,
    kvLoraRank: 512,
    ropeDim: 64,
    softmaxScale: 0.07,
    pageSize: 64,
    ...over,
  })
