import {
  arch,
  causalOnly,
  type Guard,
  interleaveOne,
  isDspark,
  kvType,
  lseNeeded,
  mlaOnly,
  pageSize,
  transport,
} from './guard.ts'
import { VLLM_MERGE } from './merges.ts'
import type { Profile } from './profile.ts'
import { isOlder } from './versions.ts'

const DCP = 'vllm-project/vllm#46514'
const PAGES = [64]
const ENVELOPES = [64, 128]

/** Heads that the kernel computes for `heads`: the next of its envelopes. */
const envelope = (heads: number): number => ENVELOPES.find((size) => heads <= size) ?? heads

/** From so many heads of a TP rank on, prefill and decode are computed apart. */
const SEPARATE_FROM = 32

const guards: readonly Guard[] = [
  transport(['ag_rs'], DCP),
  {
    rule: 'mixed-batch',
    verdict: 'refused',
    path: 'model.heads',
    applies: ({ dcp, localHeads }) => dcp > 1 && localHeads >= SEPARATE_FROM,
    reason: `from ${SEPARATE_FROM} local heads on prefill and decode are computed apart, which gives an lse of decode tokens only`,
    found: ({ localHeads }) => `${localHeads} local heads`,
    source: DCP,
    instead: `make tpSize so large that a rank has fewer than ${SEPARATE_FROM} heads`,
  },
  {
    rule: 'head-envelope',
    verdict: 'refused',
    path: 'parallel.dcpSize',
    applies: ({ dcp, localHeads, gatheredHeads }) =>
      dcp > 1 && envelope(localHeads) !== envelope(gatheredHeads),
    reason: 'local and gathered heads must pad to the same 64 or 128',
    found: ({ localHeads, gatheredHeads }) =>
      `${localHeads} local heads pad to ${envelope(localHeads)}, ${gatheredHeads} gathered ones to ${envelope(gatheredHeads)}`,
    source: DCP,
    instead: 'choose a dcpSize that gathers at most 64 heads',
  },
  kvType(['fp8_ds_mla'], DCP),
  {
    rule: 'q-len',
    verdict: 'refused',
    path: 'workload.qLen',
    applies: ({ dcp, qLen, interleave }) => dcp > 1 && qLen > 1 && interleave !== 1,
    reason: 'several query tokens of a request go with interleave 1 only',
    found: ({ qLen, interleave }) => `q_len ${qLen} at interleave ${interleave}`,
    source: DCP,
    instead: 'set parallel.interleave or workload.qLen to 1',
  },
  interleaveOne(
    'vllm-project/vllm#55802',
    'the indexer refuses DCP with another interleave; versions after 2026-09 have lifted that',
  ),
  {
    rule: 'draft',
    verdict: 'refused',
    path: 'serving.draft',
    applies: (facts) => facts.dcp > 1 && isDspark(facts),
    reason:
      'the slot map of the DSpark draft knows no DCP: it reads wrong blocks, and nearly no token is accepted',
    source: 'vllm-project/vllm#48381',
    instead: 'use the MTP layers of the model, or serve without a draft model',
  },
  {
    rule: 'lse-not-returned',
    verdict: 'refused',
    path: 'serving.versions',
    applies: ({ dcp, versions }) => dcp > 1 && isOlder(versions.vllm ?? '1', '0.26.1'),
    reason: 'up to vLLM 0.26.0 this back-end returns no lse of decode',
    found: ({ versions }) => `vllm ${versions.vllm}`,
    source: 'vllm-project/vllm#53134',
    instead: 'install a vLLM that has vllm-project/vllm#46514',
  },
  causalOnly('vllm-project/vllm#57085', 'backend selection refuses non-causal blocks under DCP here'),
  pageSize(PAGES, DCP),
  lseNeeded('vllm-project/vllm#47779'),
  mlaOnly(DCP),
  arch(['sm90'], DCP),
]

export const vllmFlashmlaSparse: Profile = {
  name: 'vllm-flashmla-sparse',
  title: 'vLLM FLASHMLA_SPARSE',
  framework: 'vLLM',
  sources: [DCP, 'vllm-project/vllm#46076'],
  kernels: ['flashmla-sparse'],
  semantics: {
    attention: 'sparse mla',
    lse: { base: 'e', verified: true, dtype: 'fp32', layout: '[1,H,T]' },
    // Undefined where all ids of a row are -1.
    emptyRow: 'unwritten',
    neutralisedBy: 'step',
    neutralised:
      'rows whose ids are all -1 are set to (0, -inf); out is made contiguous before the reduce-scatter',
    queryRows: 'bound',
    interleave: 'one',
    pages: PAGES,
    kvTypes: ['fp8_ds_mla'],
    archs: ['sm90'],
    transports: ['ag_rs'],
    headPadding: ENVELOPES,
    padRowLength: 0,
    merge: VLLM_MERGE,
  },
  guards,
}
