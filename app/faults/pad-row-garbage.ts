import { contextLens, graphBatch } from '../run/engine-config.ts'
import { type Fault, GRAPH_BATCH, injection, NO_PARAMS, PLAIN } from './fault.ts'

/** Kernels of the named ranks leave NaN and an lse of 64 in the rows that pad the batch, and nothing neutralises those. */
export const padRowGarbage: Fault = {
  name: 'pad-row-garbage',
  title: 'Padding rows of a graph hold garbage',
  summary:
    'Rows that only pad the batch of a CUDA graph hold garbage, which is harmless unless it is merged into real rows.',
  injection: injection({
    point: 'neutralize',
    params: NO_PARAMS,
    needs: [
      GRAPH_BATCH,
      {
        path: 'workload.requests',
        holds: (config) => graphBatch(contextLens(config).length) > contextLens(config).length,
        rule: 'must be so many that the batch of a graph (1, 2, 4, 8, 16, 24, ...) has room for more',
      },
    ],
    engine: () => PLAIN,
  }),
}
