import { z } from 'zod'
import { type Fault, injection, SEVERAL_RANKS, variant } from './fault.ts'

const MERGES = ['mean', 'sum'] as const

/** The merge of the named ranks weights every partial alike: by 1 / dcpSize, or by 1. */
export const lseDropped: Fault = {
  name: 'lse-dropped',
  title: 'The LSE is lost on its way to the merge',
  summary: 'The lse does not arrive, and partials are averaged or summed as if all ranks weighed the same.',
  injection: injection({
    point: 'merge.weights',
    params: z.strictObject({
      merge: z.enum(MERGES).default('mean').describe('what is made of the partials'),
    }),
    needs: [SEVERAL_RANKS],
    engine: ({ merge }) => variant(MERGES, merge),
  }),
}
