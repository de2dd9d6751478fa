import { z } from 'zod'
import { DENSE, type Fault, injection, SEVERAL_RANKS, variant } from './fault.ts'

const GIVEN = ['global', 'local'] as const

/** `global`: the kernel of the named ranks gets the length of the request for that of the rank, and reads columns beyond those of the
 * request. `local`: it gets that of the rank for that of the request, and takes its own part of it once more. */
export const lengthViewsSwapped: Fault = {
  name: 'length-views-swapped',
  title: 'Global lengths where local ones are meant',
  summary: 'The kernel gets the length of the whole request where it takes that of the rank, or the reverse.',
  injection: injection({
    point: 'metadata.lengths',
    scope: 'step',
    params: z.strictObject({
      given: z
        .enum(GIVEN)
        .default('global')
        .describe('global: that of the request for that of the rank; local: the reverse'),
    }),
    needs: [SEVERAL_RANKS, DENSE],
    engine: ({ given }) => variant(GIVEN, given),
  }),
}
