import type { Scenario } from './scenario.ts'

export const gqaHeadMapLocal: Scenario = {
  name: 'gqa-head-map-local',
  title: 'Query heads that attend with another KV head',
  fault: 'gqa-head-map-local',
  explanation:
    'The kernel runs the query heads of all ranks of the group, and the map from query heads to KV ' +
    'heads is built from the counts of one rank. Most heads attend with the keys and values of a ' +
    'neighbour. Partials, lse and result look healthy, and are those of other heads.',
  source: 'sgl-project/sglang#34161',
  config: { model: { kvHeads: 4, headDim: 64 } },
  faults: [{ fault: 'gqa-head-map-local' }],
  shows: ['out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'gqa-head-map-local',
}
