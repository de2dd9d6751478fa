import { type Fault, injection, NO_PARAMS, PLAIN, SEVERAL_RANKS } from './fault.ts'

/** The named ranks keep their own partial of their heads. The original sat in prefill, where the merge was not called. */
export const mergeMissing: Fault = {
  name: 'merge-missing',
  title: 'Every rank keeps its own partial',
  summary: 'Each rank attends to its shard alone and keeps that as the result, because the merge is skipped.',
  injection: injection({
    point: 'merge.skip',
    params: NO_PARAMS,
    needs: [SEVERAL_RANKS],
    engine: () => PLAIN,
  }),
}
