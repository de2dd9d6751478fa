import { localLengths } from '../../../app/dcp/ownership.ts'
import type { RunConfig } from '../../../app/run/config.ts'
import {
  acceptedPerStep,
  contextLens,
  defaultSoftmaxScale,
  tokenBytes,
} from '../../../app/run/engine-config.ts'
import { kernelHeads, measuredLayers } from '../../../app/run/shape.ts'

/** What a configuration means in numbers; lengths in tokens, indexed by rank where plural. */
export interface Derived {
  readonly ranks: number
  readonly requests: number
  /** Heads that the kernel of a rank sees. */
  readonly kernelHeads: number
  /** Heads that a rank holds after the merge. */
  readonly mergedHeads: number
  readonly softmaxScale: number
  readonly layers: number
  readonly measuredLayers: number
  /** Query rows of one layer's kernel. */
  readonly rows: number
  /** Tokens that the batch gains a step. */
  readonly tokensPerStep: number
  /** Longest request at the first and after the last traced step. */
  readonly longest: number
  readonly longestAtEnd: number
  /** Local lengths of the longest request at the first step. */
  readonly localLengths: readonly number[]
  /** Pages of the pool of one rank that the batch needs at the end, the same on all ranks. */
  readonly pages: number
  /** Bytes of these pages over the measured layers. */
  readonly kvBytesPerRank: number
  /** Bytes of a cache that is not sharded, at the end, of the keys alone. */
  readonly kvBytesWhole: number
}

/** Context of a request as attention of the first traced step sees it; warm-up leaves the context as it is. */
const firstLength = (context: number, { workload }: RunConfig): number => context + workload.qLen

const lastLength = (context: number, config: RunConfig): number =>
  firstLength(context, config) + (config.workload.steps - 1) * acceptedPerStep(config)

export const derivedOf = (config: RunConfig): Derived => {
  const { parallel, cache, model, workload } = config
  const contexts = contextLens(config)
  const ends = contexts.map((context) => lastLength(context, config))
  const longestContext = Math.max(...contexts)
  const longest = firstLength(longestContext, config)
  const layers = measuredLayers(config)
  const virtualPage = cache.pageSize * parallel.dcpSize
  const pages = ends.reduce((sum, len) => sum + Math.ceil(len / virtualPage), 0)
  const perToken = tokenBytes(config) * layers
  return {
    ranks: parallel.dcpSize,
    requests: contexts.length,
    kernelHeads: kernelHeads(config),
    mergedHeads: model.heads / parallel.tpSize,
    softmaxScale: defaultSoftmaxScale(config),
    layers: model.layers,
    measuredLayers: layers,
    rows: contexts.length * workload.qLen,
    tokensPerStep: contexts.length * acceptedPerStep(config),
    longest,
    longestAtEnd: lastLength(longestContext, config),
    localLengths: localLengths(longest, { dcp: parallel.dcpSize, interleave: parallel.interleave }),
    pages,
    kvBytesPerRank: pages * cache.pageSize * perToken,
    kvBytesWhole: ends.reduce((sum, len) => sum + len, 0) * perToken,
  }
}
