import type { Facts } from './facts.ts'
import type { Arch, KvType, Pages, Transport } from './profile.ts'

export const RULES = [
  'q-len',
  'causal-bound',
  'return-lse',
  'lse-not-returned',
  'interleave',
  'transport',
  'head-envelope',
  'heads',
  'mixed-batch',
  'kv-dtype',
  'page-size',
  'version',
  'non-causal',
  'draft',
  'prefill-no-merge',
  'reorder-threshold',
  'fused-write',
  'arch',
  'autotune',
] as const
export type Rule = (typeof RULES)[number]

/** From the mildest on. */
export const VERDICTS = ['accepted', 'fallback', 'refused'] as const
export type Verdict = (typeof VERDICTS)[number]

/** One thing that a serving engine says of some configurations. All sentences are static, so that the manual lists them. */
export interface Guard {
  readonly rule: Rule
  /** `accepted` says of what is often taken for refused that it is not. */
  readonly verdict: Verdict
  /** Field of the configuration that is judged. */
  readonly path: string
  /** Whether it has something to say of a configuration. */
  readonly applies: (facts: Facts) => boolean
  /** The reason, as a clause. */
  readonly reason: string
  /** What was found, for the end of the message. */
  readonly found?: (facts: Facts) => string
  /** repository#number, or what of this project says so. */
  readonly source: string
  /** What to do instead. */
  readonly instead: string
  /** What is lost by a fallback. */
  readonly lost?: string
  /** A fallback to what is no decode by this kernel, or gives other numbers: it does not stand for the back-end any more. */
  readonly elsewhere?: true
}

const qText = ({ qLen }: Facts): string => `q_len ${qLen}`

export const holdsPage = (pages: Pages, page: number): boolean =>
  'multipleOf' in pages
    ? page % pages.multipleOf === 0
    : 'divides' in pages
      ? page > pages.above && pages.divides % page === 0
      : pages.includes(page)

const listed = (words: readonly (string | number)[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

/** `32 or 64`, `a multiple of 16`, `a divisor of 128 above 1`, in tokens. */
export const pagesText = (pages: Pages): string =>
  'multipleOf' in pages
    ? `a multiple of ${pages.multipleOf}`
    : 'divides' in pages
      ? `a divisor of ${pages.divides} above ${pages.above}`
      : listed(pages)

/** Guards that many profiles have, each with the profile's own facts. */

export const pageSize = (pages: Pages, source: string): Guard => ({
  rule: 'page-size',
  verdict: 'refused',
  path: 'cache.pageSize',
  applies: ({ page }) => !holdsPage(pages, page),
  reason: `the kernel reads pages of ${pagesText(pages)} tokens`,
  found: ({ page }) => `a page of ${page}`,
  source,
  instead: `set cache.pageSize to ${pagesText(pages)}`,
})

export const kvType = (types: readonly KvType[], source: string): Guard => ({
  rule: 'kv-dtype',
  verdict: 'refused',
  path: 'cache.kvDtype',
  applies: ({ kv }) => !types.includes(kv),
  reason: `the kernel reads ${listed(types)} caches`,
  found: ({ kv }) => `a cache in ${kv}`,
  source,
  instead: `set cache.kvDtype to ${listed(types)}`,
})

export const transport = (
  transports: readonly Transport[],
  source: string,
  reason = `partials are exchanged by ${listed(transports)}`,
): Guard => ({
  rule: 'transport',
  verdict: 'refused',
  path: 'parallel.comm',
  applies: ({ dcp, comm }) => dcp > 1 && !transports.includes(comm),
  reason,
  found: ({ comm }) => `transport ${comm}`,
  source,
  instead: `set parallel.comm to ${listed(transports)}`,
})

export const arch = (archs: readonly Arch[], source: string): Guard => ({
  rule: 'arch',
  verdict: 'refused',
  path: 'serving.arch',
  applies: (facts) => facts.arch !== undefined && !archs.includes(facts.arch),
  reason: `the kernel is built for ${listed(archs)}`,
  found: (facts) => `a GPU of ${facts.arch}`,
  source,
  instead: `serve on ${listed(archs)}, or choose a back-end of this architecture`,
})

export const interleaveOne = (source: string, reason: string): Guard => ({
  rule: 'interleave',
  verdict: 'refused',
  path: 'parallel.interleave',
  applies: ({ dcp, interleave }) => dcp > 1 && interleave !== 1,
  reason,
  found: ({ interleave }) => `interleave ${interleave}`,
  source,
  instead: 'set parallel.interleave to 1',
})

/** Partials of ranks cannot be merged without their lse, so an engine that has none refuses DCP. */
export const lseNeeded = (source: string): Guard => ({
  rule: 'return-lse',
  verdict: 'refused',
  path: 'serving.returnLse',
  applies: ({ dcp, returnLse }) => dcp > 1 && !returnLse,
  reason: 'under DCP decode has to return the lse, or partials cannot be merged',
  source,
  instead: 'ask for the lse (serving.returnLse)',
})

/** MLA back-ends have no grouped KV heads. */
export const mlaOnly = (source: string): Guard => ({
  rule: 'heads',
  verdict: 'refused',
  path: 'model.kvHeads',
  applies: ({ grouped }) => grouped,
  reason: 'the kernel attends with one latent KV vector for all heads, not with grouped KV heads',
  source,
  instead: 'leave model.kvHeads and model.headDim out, or choose a back-end for grouped-query attention',
})

/** vLLM: several query tokens of a request go where prefill goes. */
export const reorderThreshold = (
  applies: (facts: Facts) => boolean,
  reason: string,
  source: string,
): Guard => ({
  rule: 'reorder-threshold',
  verdict: 'fallback',
  path: 'workload.qLen',
  applies: (facts) => facts.dcp > 1 && facts.qLen > 1 && applies(facts),
  reason,
  found: qText,
  source,
  instead: 'set workload.qLen to 1, or choose a back-end whose decode takes several query tokens',
  lost: 'the decode kernel: the reorder threshold stays 1, and these requests take the prefill path',
  elsewhere: true,
})

/** vLLM: backend selection refuses non-causal blocks under DCP unless the builder says that it has them. */
export const causalOnly = (source: string, reason: string): Guard => ({
  rule: 'non-causal',
  verdict: 'refused',
  path: 'serving.causal',
  applies: ({ dcp, causal }) => dcp > 1 && !causal,
  reason,
  source,
  instead: 'leave serving.causal on, or run the draft with a back-end that has non-causal DCP',
})

/** SGLang: dummy decodes while FlashInfer tunes MoE kernels. */
export const autotune: Guard = {
  rule: 'autotune',
  verdict: 'fallback',
  path: 'serving.phase',
  applies: ({ dcp, phase }) => dcp > 1 && phase === 'autotune',
  reason:
    'dummy decodes of autotuning could overflow the workspace with gathered heads, so they are left out under DCP',
  source: 'sgl-project/sglang#33926',
  instead: 'leave passes of autotuning out of every check',
  lost: 'the output of these passes: it is zeros, and no check may judge it',
  elsewhere: true,
}

export const isDspark = ({ draft }: Facts): boolean => draft !== undefined && /dspark/i.test(draft)

/** SGLang: replicated queries came with the transports that need no gather. */
export const replicateWithA2a: Guard = {
  rule: 'transport',
  verdict: 'refused',
  path: 'parallel.replicateQ',
  applies: ({ dcp, replicateQ, comm }) => replicateQ && (dcp === 1 || comm === 'ag_rs'),
  reason: 'replicated query projections go with DCP and a2a only',
  found: ({ dcp, comm }) => (dcp === 1 ? 'no DCP' : `transport ${comm}`),
  source: 'sgl-project/sglang#21637',
  instead: 'set parallel.comm to a2a, or parallel.replicateQ to false',
}

/** SGLang: of speculative decoding under DCP only DSpark is let through, and only on some back-ends. */
export const dsparkOnly: readonly Guard[] = [
  {
    rule: 'draft',
    verdict: 'refused',
    path: 'serving.draft',
    applies: (facts) => facts.dcp > 1 && facts.draft !== undefined && !isDspark(facts),
    reason: 'under DCP the allow-list of speculative decoding has DSpark alone',
    found: ({ draft }) => `draft model ${draft}`,
    source: 'sgl-project/sglang#29736',
    instead: 'use DSpark, or serve without a draft model',
  },
  {
    rule: 'draft',
    verdict: 'accepted',
    path: 'serving.draft',
    applies: (facts) => facts.dcp > 1 && isDspark(facts),
    reason: 'DSpark with DCP is on the allow-list of speculative decoding, for Kimi Linear models',
    source: 'sgl-project/sglang#29736',
    instead: 'nothing has to change',
  },
]
