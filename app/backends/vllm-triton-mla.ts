import { causalOnly, type Guard, lseNeeded, mlaOnly, pageSize, reorderThreshold, transport } from './guard.ts'
import { VLLM_MERGE } from './merges.ts'
import type { Pages, Profile } from './profile.ts'

const DCP = 'vllm-project/vllm#47079'
const PAGES: Pages = { multipleOf: 16 }

const guards: readonly Guard[] = [
  reorderThreshold(() => true, 'the kernel decodes one query token of a request', DCP),
  transport(
    ['ag_rs'],
    'vllm-project/vllm#47800',
    'the lse has 16 bits, in the type of the query, and a2a packs 32 (vllm-project/vllm#47801 casts it)',
  ),
  causalOnly('vllm-project/vllm#57085', 'backend selection refuses non-causal blocks under DCP here'),
  pageSize(PAGES, DCP),
  lseNeeded('vllm-project/vllm#47779'),
  mlaOnly(DCP),
]

export const vllmTritonMla: Profile = {
  name: 'vllm-triton-mla',
  title: 'vLLM TRITON_MLA',
  framework: 'vLLM',
  sources: [DCP, 'vllm-project/vllm#47800'],
  kernels: ['triton'],
  semantics: {
    attention: 'mla',
    // In bf16 an lse of magnitude 8 to 16 is off by up to 2^-5, which is 3.2% of a weight.
    lse: { base: 'e', verified: true, dtype: 'query', layout: '[T,H]' },
    emptyRow: 'nan',
    neutralisedBy: 'merge',
    neutralised: 'lse is -inf; the merge drops the payload, which is NaN',
    queryRows: 'single',
    interleave: 'any',
    pages: PAGES,
    kvTypes: ['fp32', 'bf16', 'fp8', 'fp8_ds_mla'],
    archs: ['sm80', 'sm90', 'sm100'],
    transports: ['ag_rs'],
    headPadding: [],
    padRowLength: 0,
    merge: VLLM_MERGE,
  },
  guards,
}
