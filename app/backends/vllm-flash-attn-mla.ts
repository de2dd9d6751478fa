import {
  arch,
  causalOnly,
  type Guard,
  kvType,
  lseNeeded,
  mlaOnly,
  pageSize,
  reorderThreshold,
  transport,
} from './guard.ts'
import { VLLM_MERGE } from './merges.ts'
import type { Pages, Profile } from './profile.ts'

const DCP = 'vllm-project/vllm#25049'
const PAGES: Pages = { multipleOf: 16 }

const guards: readonly Guard[] = [
  reorderThreshold(
    ({ interleave }) => interleave !== 1,
    'the kernel bounds several query tokens by the rule of interleave 1 only',
    DCP,
  ),
  causalOnly('vllm-project/vllm#57085', 'backend selection refuses non-causal blocks under DCP here'),
  transport(['ag_rs', 'a2a'], 'vllm-project/vllm#34883'),
  pageSize(PAGES, DCP),
  kvType(['bf16'], DCP),
  lseNeeded('vllm-project/vllm#47779'),
  mlaOnly(DCP),
  arch(['sm90'], DCP),
]

export const vllmFlashAttnMla: Profile = {
  name: 'vllm-flash-attn-mla',
  title: 'vLLM FLASH_ATTN_MLA',
  framework: 'vLLM',
  sources: [DCP, 'vllm-project/vllm#23734'],
  kernels: ['flash-attn-3'],
  semantics: {
    attention: 'mla',
    lse: { base: 'e', verified: true, dtype: 'fp32', layout: '[H,B]' },
    emptyRow: 'neutral',
    neutralisedBy: 'kernel',
    neutralised: 'by the kernel itself: lse -inf',
    queryRows: 'bound',
    interleave: 'any',
    pages: PAGES,
    kvTypes: ['bf16'],
    archs: ['sm90'],
    transports: ['ag_rs', 'a2a'],
    headPadding: [],
    padRowLength: 0,
    merge: VLLM_MERGE,
  },
  guards,
}
