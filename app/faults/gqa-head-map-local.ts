import { kernelKvHeads } from '../run/shape.ts'
import { type Fault, injection, NO_PARAMS, PLAIN, SEVERAL_RANKS } from './fault.ts'

/** Kernels of the named ranks count heads / dcpSize / KV heads query heads to a KV head, and begin again behind the last KV head. */
export const gqaHeadMapLocal: Fault = {
  name: 'gqa-head-map-local',
  title: 'Query heads mapped to KV heads by local counts',
  summary:
    'The map from query heads to KV heads is built from the counts of one rank, so heads attend with the KV head of a neighbour.',
  injection: injection({
    point: 'attn.headMap',
    params: NO_PARAMS,
    needs: [
      SEVERAL_RANKS,
      {
        path: 'model.kvHeads',
        holds: (config) => kernelKvHeads(config) > 1,
        rule: 'must be so many that a rank keeps several',
      },
    ],
    engine: () => PLAIN,
    cpuOnly: () => 'kernels for GPUs know one map of heads',
  }),
}
