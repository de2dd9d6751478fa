import { type Fault, injection, NO_PARAMS, PLAIN, SEVERAL_RANKS } from './fault.ts'

/** The merge of the named ranks reads the lse in the other base than `engine.lseBase`, in which kernels write it. */
export const lseBaseMismatch: Fault = {
  name: 'lse-base-mismatch',
  title: 'LSE in another base than the merge takes it for',
  summary: 'The kernel writes the lse in one base, e or 2, and the merge takes it for the other.',
  injection: injection({
    point: 'merge.base',
    params: NO_PARAMS,
    needs: [SEVERAL_RANKS],
    engine: () => PLAIN,
  }),
}
