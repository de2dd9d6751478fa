import { causalOnly, type Guard, kvType, lseNeeded, pageSize, reorderThreshold, transport } from './guard.ts'
import { VLLM_MERGE } from './merges.ts'
import type { Profile } from './profile.ts'

const DCP = 'vllm-project/vllm#48180'
const GQA = 'vllm-project/vllm#25438'
const PAGES = [16, 32, 64]

const guards: readonly Guard[] = [
  {
    rule: 'heads',
    verdict: 'refused',
    path: 'model.kvHeads',
    applies: ({ grouped }) => !grouped,
    reason: 'the kernel attends with grouped KV heads, and the model has a latent KV vector',
    source: GQA,
    instead: 'set model.kvHeads and model.headDim, or choose an MLA back-end',
  },
  {
    rule: 'heads',
    verdict: 'refused',
    path: 'parallel.dcpSize',
    applies: ({ dcp, grouped, tp, kvHeads }) => dcp > 1 && grouped && dcp > tp / kvHeads,
    reason: 'DCP takes the place of copies of KV heads, and there are only tpSize / kvHeads copies',
    found: ({ dcp, tp, kvHeads }) => `dcp size ${dcp} with ${kvHeads} KV heads on ${tp} TP ranks`,
    source: GQA,
    instead: 'make dcpSize at most tpSize / kvHeads',
  },
  {
    rule: 'heads',
    verdict: 'refused',
    path: 'model.kvHeads',
    applies: ({ dcp, grouped, heads, kvHeads }) => dcp > 1 && grouped && (heads / kvHeads) % dcp !== 0,
    reason: 'the query heads of one KV head must be divisible by the dcp size',
    found: ({ dcp, heads, kvHeads }) => `${heads} query heads for ${kvHeads} KV heads, dcp size ${dcp}`,
    source: GQA,
    instead: 'choose a dcpSize that divides heads / kvHeads',
  },
  {
    rule: 'lse-not-returned',
    verdict: 'fallback',
    path: 'serving.kernel',
    applies: ({ dcp, kernel }) => dcp > 1 && kernel === 'xqa',
    reason: 'XQA returns no lse, so decode goes back to the native FlashInfer kernel, with a warning',
    source: DCP,
    instead: 'name the native kernel, or serve without DCP',
    lost: 'the speed of XQA; the numbers are those of the native kernel',
  },
  reorderThreshold(
    ({ kernel }) => kernel === 'trtllm-gen',
    'decode by trtllm-gen masks end-aligned on local keys, which is wrong for several query tokens on a cyclic shard',
    DCP,
  ),
  {
    rule: 'prefill-no-merge',
    verdict: 'fallback',
    path: 'serving.phase',
    applies: ({ dcp, phase, kernel }) => dcp > 1 && phase === 'prefill' && kernel === 'trtllm-gen',
    reason:
      'prefill by trtllm merges nothing over ranks, so each would see its own shard only; native prefill takes its place, also where trtllm is forced on',
    source: DCP,
    instead: 'name the native kernel for prefill',
    lost: 'the speed of trtllm prefill',
    elsewhere: true,
  },
  causalOnly('vllm-project/vllm#57085', 'backend selection refuses non-causal blocks under DCP here'),
  transport(['ag_rs', 'a2a'], 'vllm-project/vllm#34883'),
  lseNeeded('vllm-project/vllm#47779'),
  pageSize(PAGES, GQA),
  kvType(['bf16', 'fp8'], GQA),
]

export const vllmFlashinferGqa: Profile = {
  name: 'vllm-flashinfer-gqa',
  title: 'vLLM FLASHINFER',
  framework: 'vLLM',
  sources: [DCP, GQA],
  kernels: ['native', 'trtllm-gen', 'xqa'],
  semantics: {
    attention: 'gqa',
    lse: { base: '2', verified: true, dtype: 'fp32', layout: '[T,H]' },
    emptyRow: 'unwritten',
    neutralisedBy: 'merge',
    neutralised: 'not defined by the kernel; the merge drops rows of weight 0',
    queryRows: 'bound',
    interleave: 'any',
    pages: PAGES,
    kvTypes: ['bf16', 'fp8'],
    archs: ['sm80', 'sm90', 'sm100'],
    transports: ['ag_rs', 'a2a'],
    headPadding: [],
    padRowLength: 0,
    merge: VLLM_MERGE,
  },
  guards,
}
