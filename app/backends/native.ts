import { type Guard, lseNeeded } from './guard.ts'
import { NATIVE_MERGE } from './merges.ts'
import type { Profile } from './profile.ts'

const SOURCE = 'docs/config.md'

/** Our own kernels: whatever they can do. The guards are what they cannot. */
const guards: readonly Guard[] = [
  {
    rule: 'non-causal',
    verdict: 'refused',
    path: 'serving.causal',
    applies: ({ causal }) => !causal,
    reason: 'every query row sees the tokens up to its own and no later ones',
    source: SOURCE,
    instead: 'leave serving.causal on',
  },
  lseNeeded(SOURCE),
  {
    rule: 'q-len',
    verdict: 'refused',
    path: 'serving.queryLens',
    applies: ({ queryLens }) => queryLens !== undefined && new Set(queryLens).size > 1,
    reason: 'all requests of a step have the same number of query tokens',
    source: SOURCE,
    instead: 'give one number in workload.qLen',
  },
  {
    rule: 'prefill-no-merge',
    verdict: 'refused',
    path: 'serving.phase',
    applies: ({ phase }) => phase === 'prefill',
    reason: 'the engine decodes only',
    source: SOURCE,
    instead: 'set serving.phase to decode',
  },
  {
    rule: 'autotune',
    verdict: 'refused',
    path: 'serving.phase',
    applies: ({ phase }) => phase === 'autotune',
    reason: 'the engine tunes nothing while it runs',
    source: SOURCE,
    instead: 'set serving.phase to decode',
  },
]

export const native: Profile = {
  name: 'native',
  title: 'dcpscope engine',
  framework: 'dcpscope',
  sources: ['docs/architecture.md', SOURCE],
  kernels: [],
  semantics: {
    attention: 'any',
    lse: { base: 'e', verified: true, dtype: 'fp32', layout: '[T,H]' },
    emptyRow: 'neutral',
    neutralisedBy: 'step',
    neutralised: 'by a stage of its own before the merge, whatever the kernel left',
    queryRows: 'bound',
    interleave: 'any',
    pages: { multipleOf: 1 },
    kvTypes: ['fp32', 'bf16', 'fp8', 'fp8_ds_mla'],
    archs: ['sm80', 'sm90', 'sm100'],
    transports: ['ag_rs', 'a2a', 'p2p'],
    headPadding: [],
    splitCounters: 'none',
    padRowLength: 0,
    merge: NATIVE_MERGE,
  },
  guards,
}
