import type { RunConfig } from '../run/config.ts'
import { contextLens } from '../run/engine-config.ts'
import { kernelHeads } from '../run/shape.ts'
import type { Arch, KvType, Profile, Transport } from './profile.ts'

/** What guards look at of a configuration; lengths in tokens. */
export interface Facts {
  readonly dcp: number
  readonly tp: number
  readonly comm: Transport
  /** Every rank projects the queries of all heads, so that none are gathered. */
  readonly replicateQ: boolean
  readonly interleave: number
  readonly page: number
  readonly kv: KvType
  /** Heads of the model, of one TP rank, and of one rank's kernel after the gather. */
  readonly heads: number
  readonly localHeads: number
  readonly gatheredHeads: number
  /** Grouped-query attention, and its KV heads (1 for MLA). */
  readonly grouped: boolean
  readonly kvHeads: number
  readonly qLen: number
  /** Query tokens of each request where they differ. */
  readonly queryLens: readonly number[] | undefined
  readonly shortestContext: number
  /** `serving.kernel`, or the back-end's default; undefined where there is one only. */
  readonly kernel: string | undefined
  readonly versions: Readonly<Record<string, string>>
  readonly draft: string | undefined
  readonly causal: boolean
  /** Bound of query rows that is passed explicitly. */
  readonly causalBound: 'local' | 'global' | undefined
  readonly returnLse: boolean
  readonly phase: 'decode' | 'prefill' | 'autotune'
  readonly arch: Arch | undefined
  /** Model that is named, such as deepseek-v3. */
  readonly preset: string | undefined
}

export const factsOf = (config: RunConfig, profile: Pick<Profile, 'kernels'>): Facts => {
  const { model, parallel, cache, workload, serving } = config
  return {
    dcp: parallel.dcpSize,
    tp: parallel.tpSize,
    comm: parallel.comm,
    replicateQ: parallel.replicateQ,
    interleave: parallel.interleave,
    page: cache.pageSize,
    kv: cache.kvDtype,
    heads: model.heads,
    localHeads: model.heads / parallel.tpSize,
    gatheredHeads: kernelHeads(config),
    grouped: model.kvHeads !== undefined || model.headDim !== undefined,
    kvHeads: model.kvHeads ?? 1,
    qLen: workload.qLen,
    queryLens: serving.queryLens,
    shortestContext: Math.min(...contextLens(config)),
    kernel: serving.kernel ?? profile.kernels[0],
    versions: serving.versions ?? {},
    draft: serving.draft,
    causal: serving.causal ?? true,
    causalBound: serving.causalBound,
    returnLse: serving.returnLse,
    phase: serving.phase,
    arch: serving.arch,
    preset: model.preset,
  }
}
