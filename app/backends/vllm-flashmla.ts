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
import type { Profile } from './profile.ts'

const DCP = 'vllm-project/vllm#23734'
const PAGES = [64]

const guards: readonly Guard[] = [
  reorderThreshold(
    () => true,
    'the decode kernel has no bound for several query tokens under DCP',
    'vllm-project/vllm#46514',
  ),
  causalOnly('vllm-project/vllm#57085', 'backend selection refuses non-causal blocks under DCP here'),
  transport(['ag_rs', 'a2a'], 'vllm-project/vllm#34883'),
  pageSize(PAGES, DCP),
  kvType(['bf16', 'fp8'], 'vllm-project/vllm#44044'),
  lseNeeded('vllm-project/vllm#47779'),
  mlaOnly(DCP),
  arch(['sm90'], 'vllm-project/vllm#46514'),
]

export const vllmFlashmla: Profile = {
  name: 'vllm-flashmla',
  title: 'vLLM FLASHMLA',
  framework: 'vLLM',
  sources: [DCP, 'vllm-project/vllm#46514', 'vllm-project/vllm#44044'],
  kernels: ['flashmla'],
  semantics: {
    attention: 'mla',
    lse: { base: 'e', verified: true, dtype: 'fp32', layout: '[B,H,q]' },
    emptyRow: 'plusInf',
    neutralisedBy: 'merge',
    neutralised: '+inf counts as -inf in the merge, which drops rows of weight 0',
    queryRows: 'single',
    interleave: 'any',
    pages: PAGES,
    kvTypes: ['bf16', 'fp8'],
    archs: ['sm90'],
    transports: ['ag_rs', 'a2a'],
    headPadding: [],
    padRowLength: 0,
    merge: VLLM_MERGE,
  },
  guards,
}
