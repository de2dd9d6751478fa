import { arch, type Guard, kvType, lseNeeded, mlaOnly, pageSize, transport } from './guard.ts'
import { HELIX_MERGE } from './merges.ts'
import type { Profile } from './profile.ts'

const HELIX = 'NVIDIA/TensorRT-LLM#9342'
const PAGES = [32, 64]

const guards: readonly Guard[] = [
  {
    rule: 'interleave',
    verdict: 'refused',
    path: 'parallel.interleave',
    applies: ({ dcp, interleave, page }) => dcp > 1 && interleave !== page,
    reason: 'whole blocks go to the ranks in turn, so the interleave is the tokens of a block',
    found: ({ interleave, page }) => `interleave ${interleave} with pages of ${page}`,
    source: 'NVIDIA/TensorRT-LLM#9757',
    instead: 'set parallel.interleave to cache.pageSize',
  },
  {
    rule: 'interleave',
    verdict: 'refused',
    path: 'workload.requests',
    applies: ({ dcp, page, shortestContext }) => dcp > 1 && Math.ceil(shortestContext / page) < dcp,
    reason: 'a prompt with fewer blocks than ranks leaves ranks without a block',
    found: ({ shortestContext, dcp, page }) =>
      `a prompt of ${shortestContext} tokens for ${dcp} ranks, blocks of ${page}`,
    source: 'NVIDIA/TensorRT-LLM#15383',
    instead: 'send prompts of at least one block a rank, or use a version that has NVIDIA/TensorRT-LLM#15383',
  },
  {
    rule: 'q-len',
    verdict: 'accepted',
    path: 'workload.qLen',
    applies: ({ dcp, qLen }) => dcp > 1 && qLen > 1,
    reason: 'each query token counts as a request of its own',
    source: 'NVIDIA/TensorRT-LLM#16003',
    instead: 'nothing has to change',
  },
  transport(['a2a'], HELIX),
  pageSize(PAGES, HELIX),
  kvType(['bf16', 'fp8'], HELIX),
  lseNeeded(HELIX),
  mlaOnly(HELIX),
  arch(['sm100'], 'NVIDIA/TensorRT-LLM#13547'),
]

export const trtllmHelix: Profile = {
  name: 'trtllm-helix',
  title: 'TensorRT-LLM Helix',
  framework: 'TensorRT-LLM',
  sources: [HELIX, 'NVIDIA/TensorRT-LLM#9757', 'NVIDIA/TensorRT-LLM#13547'],
  kernels: ['trtllm-gen'],
  semantics: {
    attention: 'mla',
    lse: { base: 'e', verified: false, carried: true, dtype: 'fp32', layout: '[T,H]' },
    emptyRow: 'unwritten',
    neutralisedBy: 'nothing',
    neutralised: 'not needed: prompts that leave a rank empty are refused',
    queryRows: 'flattened',
    interleave: 'page',
    restartsAfterPrompt: true,
    pages: PAGES,
    kvTypes: ['bf16', 'fp8'],
    archs: ['sm100'],
    transports: ['a2a'],
    headPadding: [],
    merge: HELIX_MERGE,
  },
  guards,
}
