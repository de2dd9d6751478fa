import type { RunConfig } from './config.ts'

/** Heads that the kernel of one rank sees after the gather: heads * dcpSize / tpSize. */
export const kernelHeads = (config: RunConfig): number =>
  (config.model.heads * config.parallel.dcpSize) / config.parallel.tpSize
