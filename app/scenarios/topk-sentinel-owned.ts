import type { Scenario } from './scenario.ts'

export const topkSentinelOwned: Scenario = {
  name: 'topk-sentinel-owned',
  title: 'The id of no token passes for one of the last rank',
  fault: 'topk-sentinel-owned',
  explanation:
    'Where a row has fewer keys than are chosen, the rest of its ids is -1. By floored division -1 ' +
    'belongs to the last rank and has local index -1 there, which leads to the last place of the last ' +
    'page: a key that nobody chose, and that may never have been written.',
  source: 'sgl-project/sglang#33926',
  config: {
    workload: { requests: [{ contextLen: 300 }, { contextLen: 5 }, { contextLen: 20 }], topk: 32 },
  },
  faults: [{ fault: 'topk-sentinel-owned' }],
  shows: ['topk_slots', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'topk-sentinel-owned',
}
