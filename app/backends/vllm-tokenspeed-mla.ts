import { arch, type Guard, kvType, lseNeeded, mlaOnly, pageSize, transport } from './guard.ts'
import { VLLM_MERGE } from './merges.ts'
import type { Profile } from './profile.ts'
import { isOlder, isReadable } from './versions.ts'

const DCP = 'vllm-project/vllm#48180'
const PACKAGE = 'tokenspeed-mla'
const LEAST = '0.1.8'
const PAGES = [32, 64]

const sum = (lens: readonly number[]): number => lens.reduce((total, len) => total + len, 0)

const guards: readonly Guard[] = [
  {
    rule: 'q-len',
    verdict: 'fallback',
    path: 'serving.queryLens',
    applies: ({ queryLens: lens }) => lens !== undefined && sum(lens) % lens.length !== 0,
    reason:
      'query lengths are uneven: a warning is logged, and every query token counts as a request of one token',
    found: ({ queryLens }) => `${queryLens?.length} requests with ${sum(queryLens ?? [])} query tokens`,
    source: DCP,
    instead: 'give every request of a decode batch the same number of query tokens',
    lost: 'the rows of a request: block table and lengths of requests no longer fit the rows',
    elsewhere: true,
  },
  {
    rule: 'version',
    verdict: 'refused',
    path: 'serving.versions',
    applies: ({ versions }) =>
      isOlder(versions[PACKAGE] ?? LEAST, LEAST) || !isReadable(versions[PACKAGE] ?? LEAST),
    reason: `the kernel must return (out, lse), which ${PACKAGE} is known to do from ${LEAST} on`,
    found: ({ versions }) => `${PACKAGE} ${versions[PACKAGE]}`,
    source: DCP,
    instead: `install ${PACKAGE} ${LEAST} or newer`,
  },
  {
    rule: 'interleave',
    verdict: 'fallback',
    path: 'parallel.interleave',
    applies: ({ dcp, interleave }) => dcp > 1 && interleave !== 1,
    reason: 'nothing refuses another interleave, but the bound in the kernel is that of interleave 1',
    found: ({ interleave }) => `interleave ${interleave}`,
    source: DCP,
    instead: 'set parallel.interleave to 1',
    lost: 'keys: ranks with more tokens than that bound leave some out, in silence',
    elsewhere: true,
  },
  pageSize(PAGES, DCP),
  kvType(['fp8'], DCP),
  transport(['ag_rs', 'a2a'], 'vllm-project/vllm#34883'),
  lseNeeded('vllm-project/vllm#47779'),
  mlaOnly(DCP),
  arch(['sm100'], DCP),
  {
    rule: 'non-causal',
    verdict: 'accepted',
    path: 'serving.causal',
    applies: ({ dcp, causal }) => dcp > 1 && !causal,
    reason: 'this back-end computes the non-causal blocks of a draft under DCP',
    source: 'vllm-project/vllm#52188',
    instead: 'nothing has to change',
  },
]

export const vllmTokenspeedMla: Profile = {
  name: 'vllm-tokenspeed-mla',
  title: 'vLLM TOKENSPEED_MLA',
  framework: 'vLLM',
  sources: [DCP, 'vllm-project/vllm#52188'],
  kernels: ['tokenspeed'],
  semantics: {
    attention: 'mla',
    lse: { base: '2', verified: true, dtype: 'fp32', layout: '[B*q,H]' },
    emptyRow: 'unwritten',
    neutralisedBy: 'step',
    neutralised: 'lse masked to -inf before the gather; the merge drops the payload',
    queryRows: 'bound',
    interleave: 'one',
    pages: PAGES,
    kvTypes: ['fp8'],
    archs: ['sm100'],
    transports: ['ag_rs', 'a2a'],
    headPadding: [],
    padRowLength: 0,
    merge: VLLM_MERGE,
  },
  guards,
}
