import {
  arch,
  autotune,
  type Guard,
  holdsPage,
  interleaveOne,
  kvType,
  mlaOnly,
  replicateWithA2a,
  transport,
} from './guard.ts'
import { SGLANG_MERGE } from './merges.ts'
import type { Profile } from './profile.ts'

const DCP = 'sgl-project/sglang#33926'
const PAGES = [32, 64]

const guards: readonly Guard[] = [
  {
    rule: 'q-len',
    verdict: 'refused',
    path: 'workload.qLen',
    applies: ({ dcp, qLen }) => dcp > 1 && qLen > 1,
    reason:
      'the kernel takes no global causal bound, and rows before the last would see the wrong keys of a cyclic shard',
    found: ({ qLen }) => `q_len ${qLen}`,
    source: DCP,
    instead: 'verify with cutedsl_mla or tokenspeed_mla, or set workload.qLen to 1',
  },
  {
    rule: 'causal-bound',
    verdict: 'refused',
    path: 'serving.causalBound',
    applies: ({ dcp, causalBound }) => dcp > 1 && causalBound === 'global',
    reason: 'a global causal bound is passed, and the kernel cannot apply one to a shard',
    source: DCP,
    instead: 'leave the bound out for one query token, or use cutedsl_mla or tokenspeed_mla',
  },
  {
    rule: 'return-lse',
    verdict: 'refused',
    path: 'serving.returnLse',
    applies: ({ dcp, returnLse }) => dcp > 1 && !returnLse,
    reason:
      'the lse is not asked for, as in a draft extend of one token, and the merge over ranks would be skipped',
    source: DCP,
    instead: 'ask for the lse (serving.returnLse), or draft without DCP',
  },
  {
    rule: 'heads',
    verdict: 'refused',
    path: 'model.heads',
    applies: ({ gatheredHeads: h }) => h > 64 && h < 128,
    reason: 'the trtllm-gen kernel has no tile for 65 to 127 heads',
    found: ({ gatheredHeads }) => `${gatheredHeads} gathered heads`,
    source: 'flashinfer-ai/flashinfer#4178',
    instead: 'use cutedsl_mla, or a dcp size that gathers at most 64 heads or 128',
  },
  {
    rule: 'draft',
    verdict: 'refused',
    path: 'serving.draft',
    applies: ({ dcp, draft }) => dcp > 1 && draft !== undefined,
    reason: 'under DCP the allow-list of speculative decoding has cutedsl_mla and tokenspeed_mla only',
    found: ({ draft }) => `draft model ${draft}`,
    source: 'sgl-project/sglang#29736',
    instead: 'use cutedsl_mla or tokenspeed_mla, or serve without a draft model',
  },
  {
    rule: 'fused-write',
    verdict: 'fallback',
    path: 'cache.kvDtype',
    applies: ({ dcp, kv, phase }) => dcp > 1 && kv === 'bf16' && phase === 'decode',
    reason:
      'the fused bf16 write knows no rank and would write virtual rows on all of them, so the writer of the pool takes its place',
    source: DCP,
    instead:
      'use an fp8 cache, whose fused write knows ranks, or count the slower write in comparisons with TP',
    lost: 'the fusion of KV write and query concatenation: more kernels a layer, the same numbers',
  },
  {
    rule: 'page-size',
    verdict: 'fallback',
    path: 'cache.pageSize',
    applies: ({ page }) => !holdsPage(PAGES, page),
    reason:
      'the kernel reads pages of 32 or 64 tokens, and the server changes any other size to 64 with a warning',
    found: ({ page }) => `a page of ${page}`,
    source: 'ai-dynamo/dynamo#13216',
    instead: 'set cache.pageSize to 32 or 64',
    lost: 'the page size that was asked for',
    elsewhere: true,
  },
  {
    rule: 'arch',
    verdict: 'accepted',
    path: 'serving.arch',
    applies: (facts) => facts.arch === 'sm100' && (facts.preset?.startsWith('deepseek') ?? false),
    reason: 'on sm100 DeepSeek models select this back-end by themselves, without being asked',
    source: DCP,
    instead: 'nothing has to change',
  },
  interleaveOne(DCP, 'tokens go to the ranks one by one: owner is position mod dcp size'),
  transport(['ag_rs', 'a2a'], 'sgl-project/sglang#21637'),
  replicateWithA2a,
  kvType(['bf16', 'fp8'], DCP),
  mlaOnly(DCP),
  arch(['sm100'], 'flashinfer-ai/flashinfer#1466'),
  autotune,
]

export const sglangTrtllmMla: Profile = {
  name: 'sglang-trtllm-mla',
  title: 'SGLang trtllm_mla',
  framework: 'SGLang',
  sources: [DCP, 'flashinfer-ai/flashinfer#4485'],
  kernels: ['trtllm-gen'],
  semantics: {
    attention: 'mla',
    lse: { base: '2', verified: true, dtype: 'fp32', layout: '[T,H]' },
    emptyRow: 'unwritten',
    neutralisedBy: 'step',
    neutralised: 'set to (0, -inf) by a kernel before the merge',
    queryRows: 'single',
    interleave: 'one',
    pages: PAGES,
    kvTypes: ['bf16', 'fp8'],
    archs: ['sm100'],
    transports: ['ag_rs', 'a2a'],
    headPadding: [],
    splitCounters: 'gathered',
    padRowLength: 1,
    merge: SGLANG_MERGE,
  },
  guards,
}
