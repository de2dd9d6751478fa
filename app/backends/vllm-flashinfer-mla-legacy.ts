import {
  arch,
  causalOnly,
  type Guard,
  isDspark,
  kvType,
  lseNeeded,
  mlaOnly,
  pageSize,
  transport,
} from './guard.ts'
import { VLLM_MERGE } from './merges.ts'
import type { Profile } from './profile.ts'

const DCP = 'vllm-project/vllm#43729'
const PAGES = [32, 64]

/** Query heads that one tile of trtllm-gen's MLA decode takes. */
const tile = (heads: number): number => (heads <= 8 ? 8 : heads <= 32 ? 16 : 64)

/** Whether trtllm-gen can tile so many heads; others go to cute-dsl. */
const canTile = (heads: number): boolean => heads % Math.min(heads, tile(heads)) === 0

const guards: readonly Guard[] = [
  {
    rule: 'heads',
    verdict: 'fallback',
    path: 'model.heads',
    applies: ({ dcp, gatheredHeads }) => dcp > 1 && !canTile(gatheredHeads),
    reason:
      'the trtllm-gen kernel cannot tile so many gathered heads, so cute-dsl computes them, whose lse is in base e',
    found: ({ gatheredHeads }) => `${gatheredHeads} gathered heads`,
    source: 'flashinfer-ai/flashinfer#4485',
    instead: 'choose a dcpSize that gathers 8, 16, 32, 64 or 128 heads',
    lost: 'the weights of the merge: it reads these natural logarithms in base 2, in silence',
    elsewhere: true,
  },
  {
    rule: 'q-len',
    verdict: 'accepted',
    path: 'workload.qLen',
    applies: ({ dcp, qLen }) => dcp > 1 && qLen > 1,
    reason: 'query tokens are flattened to single rows with local lengths of their own',
    source: 'vllm-project/vllm#52188',
    instead: 'nothing has to change',
  },
  {
    rule: 'draft',
    verdict: 'refused',
    path: 'serving.draft',
    applies: (facts) => facts.dcp > 1 && isDspark(facts),
    reason: 'FlashInfer MLA is refused where DSpark is configured with DCP',
    source: 'vllm-project/vllm#53139',
    instead: 'let another back-end be selected, or use a vLLM that has vllm-project/vllm#54012',
  },
  causalOnly('vllm-project/vllm#53139', 'the back-end does not say that it has non-causal blocks under DCP'),
  transport(['ag_rs', 'a2a'], 'vllm-project/vllm#34883'),
  pageSize(PAGES, DCP),
  kvType(['bf16', 'fp8'], DCP),
  lseNeeded('vllm-project/vllm#47779'),
  mlaOnly(DCP),
  arch(['sm100'], 'flashinfer-ai/flashinfer#1466'),
]

export const vllmFlashinferMlaLegacy: Profile = {
  name: 'vllm-flashinfer-mla-legacy',
  title: 'vLLM FLASHINFER_MLA, before native DCP',
  framework: 'vLLM',
  sources: [DCP, 'vllm-project/vllm#47079', 'vllm-project/vllm#52188', 'flashinfer-ai/flashinfer#4975'],
  kernels: ['trtllm-gen'],
  semantics: {
    attention: 'mla',
    lse: { base: '2', verified: true, dtype: 'fp32', layout: '[T,H]' },
    emptyRow: 'unwritten',
    neutralisedBy: 'step',
    neutralised: 'lse masked to -inf before the gather; the merge drops the payload',
    queryRows: 'flattened',
    interleave: 'any',
    pages: PAGES,
    kvTypes: ['bf16', 'fp8'],
    archs: ['sm100'],
    transports: ['ag_rs', 'a2a'],
    headPadding: [],
    padRowLength: 0,
    merge: VLLM_MERGE,
  },
  guards,
}
