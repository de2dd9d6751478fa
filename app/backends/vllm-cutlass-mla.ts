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

const DCP = 'vllm-project/vllm#24385'
const PAGES = [128]

const guards: readonly Guard[] = [
  reorderThreshold(() => true, 'the kernel decodes one query token of a request', DCP),
  causalOnly('vllm-project/vllm#57085', 'backend selection refuses non-causal blocks under DCP here'),
  transport(['ag_rs', 'a2a'], 'vllm-project/vllm#34883'),
  pageSize(PAGES, DCP),
  kvType(['bf16'], DCP),
  lseNeeded('vllm-project/vllm#47779'),
  mlaOnly(DCP),
  arch(['sm100'], DCP),
]

export const vllmCutlassMla: Profile = {
  name: 'vllm-cutlass-mla',
  title: 'vLLM CUTLASS_MLA',
  framework: 'vLLM',
  sources: [DCP, 'vllm-project/vllm#47079'],
  kernels: ['cutlass'],
  semantics: {
    attention: 'mla',
    lse: { base: 'e', verified: true, dtype: 'fp32', layout: '[B,pad]' },
    emptyRow: 'plusInf',
    neutralisedBy: 'merge',
    neutralised: '+inf counts as -inf in the merge, which drops rows of weight 0',
    queryRows: 'single',
    interleave: 'any',
    pages: PAGES,
    kvTypes: ['bf16'],
    archs: ['sm100'],
    transports: ['ag_rs', 'a2a'],
    headPadding: [128],
    padRowLength: 0,
    merge: VLLM_MERGE,
  },
  guards,
}
