import { type Fault, GRAPH_BATCH, injection, NO_PARAMS, PADDING, PLAIN } from './fault.ts'

/** Kernels of the named ranks leave NaN and an lse of 64 in the rows that pad the batch, and nothing neutralises those. */
export const padRowGarbage: Fault = {
  name: 'pad-row-garbage',
  title: 'Padding rows of a graph hold garbage',
  summary:
    'Rows that only pad the batch of a CUDA graph hold garbage, which is harmless unless it is merged into real rows.',
  injection: injection({
    point: 'neutralize',
    params: NO_PARAMS,
    needs: [GRAPH_BATCH, PADDING],
    engine: () => PLAIN,
  }),
}
