import {
  arch,
  causalOnly,
  type Guard,
  interleaveOne,
  isDspark,
  kvType,
  mlaOnly,
  pageSize,
  transport,
} from './guard.ts'
import { VLLM_MERGE } from './merges.ts'
import type { Profile } from './profile.ts'
import { isOlder, isReadable } from './versions.ts'

const DCP = 'vllm-project/vllm#54012'
const KERNEL = 'flashinfer-ai/flashinfer#4178'
const LEAST = '0.6.17'
const PAGES = [32, 64]

const guards: readonly Guard[] = [
  interleaveOne(DCP, 'the mask in the kernel is that of tokens dealt out one by one'),
  {
    rule: 'version',
    verdict: 'refused',
    path: 'serving.versions',
    applies: ({ dcp, versions: { flashinfer = LEAST } }) =>
      dcp > 1 && (isOlder(flashinfer, LEAST) || !isReadable(flashinfer)),
    reason: `FlashInfer has DCP arguments in its MLA decode from ${LEAST} on`,
    found: ({ versions }) => `flashinfer ${versions.flashinfer}`,
    source: DCP,
    instead: `install FlashInfer ${LEAST} or newer`,
  },
  {
    rule: 'draft',
    verdict: 'accepted',
    path: 'serving.draft',
    applies: (facts) => facts.dcp > 1 && isDspark(facts),
    reason: 'DSpark with DCP is accepted: the target verifies with the mask in the kernel',
    source: DCP,
    instead: 'nothing has to change',
  },
  causalOnly(DCP, 'non-causal blocks under DCP are refused: the mask in the kernel needs a causal bound'),
  {
    rule: 'return-lse',
    verdict: 'refused',
    path: 'serving.returnLse',
    applies: ({ dcp, returnLse }) => dcp > 1 && !returnLse,
    reason: 'the kernel takes DCP arguments only when the lse is asked for',
    source: KERNEL,
    instead: 'ask for the lse (serving.returnLse)',
  },
  {
    rule: 'causal-bound',
    verdict: 'refused',
    path: 'serving.causalBound',
    applies: ({ dcp, causalBound }) => dcp > 1 && causalBound === 'local',
    reason: 'under DCP the kernel needs the global causal bound of the newest query token',
    source: KERNEL,
    instead: 'pass the global bound (serving.causalBound)',
  },
  pageSize(PAGES, 'flashinfer-ai/flashinfer#2743'),
  kvType(['bf16', 'fp8'], 'flashinfer-ai/flashinfer#2743'),
  transport(['ag_rs', 'a2a'], 'vllm-project/vllm#34883'),
  mlaOnly(DCP),
  arch(['sm100'], KERNEL),
]

export const vllmFlashinferMla: Profile = {
  name: 'vllm-flashinfer-mla',
  title: 'vLLM FLASHINFER_MLA',
  framework: 'vLLM',
  sources: [DCP, KERNEL],
  kernels: ['cute-dsl'],
  semantics: {
    attention: 'mla',
    lse: { base: 'e', verified: true, dtype: 'fp32', layout: '[B,q,H]' },
    emptyRow: 'neutral',
    neutralisedBy: 'kernel',
    neutralised: 'by the kernel itself, with DCP arguments',
    queryRows: 'bound',
    interleave: 'one',
    pages: PAGES,
    kvTypes: ['bf16', 'fp8'],
    archs: ['sm100'],
    transports: ['ag_rs', 'a2a'],
    headPadding: [],
    splitCounters: 'none',
    padRowLength: 0,
    merge: VLLM_MERGE,
  },
  guards,
}
