import {
  arch,
  autotune,
  causalOnly,
  dsparkOnly,
  type Guard,
  interleaveOne,
  kvType,
  mlaOnly,
  pageSize,
  replicateWithA2a,
  transport,
} from './guard.ts'
import { SGLANG_MERGE } from './merges.ts'
import type { Pages, Profile } from './profile.ts'

const DCP = 'sgl-project/sglang#33926'
const KERNEL = 'flashinfer-ai/flashinfer#4178'
const PAGES: Pages = { divides: 128, above: 1 }

const guards: readonly Guard[] = [
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
    rule: 'return-lse',
    verdict: 'accepted',
    path: 'serving.returnLse',
    applies: ({ dcp, returnLse }) => dcp === 1 && returnLse,
    reason: 'without DCP the call goes to the base class, which is handed return_lse as well',
    source: DCP,
    instead: 'nothing has to change',
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
  interleaveOne(KERNEL, 'the bound in the kernel is that of tokens dealt out one by one'),
  pageSize(PAGES, KERNEL),
  kvType(['bf16', 'fp8'], 'sgl-project/sglang#24737'),
  transport(['ag_rs', 'a2a'], 'sgl-project/sglang#21637'),
  replicateWithA2a,
  mlaOnly(KERNEL),
  causalOnly(KERNEL, 'under DCP the kernel needs a causal bound, so a block without one cannot be computed'),
  arch(['sm100'], 'sgl-project/sglang#24737'),
  ...dsparkOnly,
  autotune,
]

export const sglangCutedslMla: Profile = {
  name: 'sglang-cutedsl-mla',
  title: 'SGLang cutedsl_mla',
  framework: 'SGLang',
  sources: [DCP, KERNEL, 'sgl-project/sglang#33650', 'flashinfer-ai/flashinfer#4485'],
  kernels: ['cute-dsl'],
  semantics: {
    attention: 'mla',
    lse: { base: 'e', verified: true, dtype: 'fp32', layout: '[B,q,H]' },
    // With DCP arguments; without them, which is without DCP, it is +inf, and no row is empty.
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
    padRowLength: 1,
    merge: SGLANG_MERGE,
  },
  guards,
}
