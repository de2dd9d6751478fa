import type { Scenario } from './scenario.ts'

export const topkSentinelOwnedCounted: Scenario = {
  name: 'topk-sentinel-owned-counted',
  title: 'The id of no token is counted as a key',
  fault: 'topk-sentinel-owned',
  explanation:
    'On the last rank each -1 counts as a key, though it leads nowhere. A row that has no key there ' +
    'then passes for one that has some, what the kernel left in it is not neutralised, and stale ' +
    'memory is merged with the weight of its stale lse. Tensors show a row without keys that was not ' +
    'neutralised, with a -1 among its ids, on the last rank alone.',
  source: 'sgl-project/sglang#33926',
  config: {
    workload: { requests: [{ contextLen: 300 }, { contextLen: 1 }], topk: 16, steps: 1 },
    engine: { emptyRow: 'unwritten' },
  },
  faults: [{ fault: 'topk-sentinel-owned', params: { sentinel: 'counted' } }],
  shows: ['out', 'lse', 'merged'],
  diagnosis: 'topk-sentinel-owned',
}
