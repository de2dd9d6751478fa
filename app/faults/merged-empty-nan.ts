import { profileNamed } from '../backends/index.ts'
import { type Fault, GRAPH_BATCH, injection, NO_PARAMS, PADDING, PLAIN, SEVERAL_RANKS } from './fault.ts'

/** Weights of the named ranks are NaN in rows that no rank has keys for, which are those that only pad the batch. */
export const mergedEmptyNan: Fault = {
  name: 'merged-empty-nan',
  title: 'A row that no rank has keys for becomes NaN',
  summary: 'All ranks are empty for a row and the merge divides by zero, where the result is (0, -inf).',
  injection: injection({
    point: 'merge.weights',
    params: NO_PARAMS,
    needs: [
      SEVERAL_RANKS,
      GRAPH_BATCH,
      PADDING,
      {
        path: 'serving.backend',
        holds: ({ serving }) => (profileNamed(serving.backend).semantics.padRowLength ?? 0) === 0,
        rule: 'must be one whose padding rows have the length 0',
      },
    ],
    engine: () => PLAIN,
  }),
}
