import type { Fault } from './fault.ts'

export const gqaHeadMapLocal: Fault = {
  name: 'gqa-head-map-local',
  title: 'Query heads mapped to KV heads by local counts',
  summary:
    'The map from query heads to KV heads is built from the counts of one rank, so heads attend with the KV head of a neighbour.',
}
