import {
  arch,
  autotune,
  dsparkOnly,
  type Guard,
  holdsPage,
  interleaveOne,
  kvType,
  lseNeeded,
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
  interleaveOne(
    DCP,
    'tokens go to the ranks one by one, and the bound in the kernel is that of interleave 1',
  ),
  kvType(['fp8'], 'sgl-project/sglang#28201'),
  transport(['ag_rs', 'a2a'], 'sgl-project/sglang#21637'),
  replicateWithA2a,
  lseNeeded(DCP),
  mlaOnly(DCP),
  arch(['sm100'], DCP),
  ...dsparkOnly,
  autotune,
]

export const sglangTokenspeedMla: Profile = {
  name: 'sglang-tokenspeed-mla',
  title: 'SGLang tokenspeed_mla',
  framework: 'SGLang',
  sources: [DCP, 'sgl-project/sglang#28201'],
  kernels: ['tokenspeed'],
  semantics: {
    attention: 'mla',
    lse: { base: '2', verified: false, dtype: 'fp32', layout: '[T,H]' },
    emptyRow: 'unwritten',
    neutralisedBy: 'step',
    neutralised: 'set to (0, -inf) by a kernel before the merge',
    queryRows: 'bound',
    interleave: 'one',
    pages: PAGES,
    kvTypes: ['fp8'],
    archs: ['sm100'],
    transports: ['ag_rs', 'a2a'],
    headPadding: [],
    padRowLength: 1,
    merge: SGLANG_MERGE,
  },
  guards,
}
