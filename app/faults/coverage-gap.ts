import { z } from 'zod'
import { DENSE, type Fault, injection } from './fault.ts'

const LOST = ['tokens', 'rank'] as const

/** `tokens`: the local lengths of the named ranks are so many tokens (amount) too short, at least 0, and their newest tokens are seen by
 * nobody. `rank`: all rows of the named ranks are taken for rows without keys, and neutralised. */
export const coverageGap: Fault = {
  name: 'coverage-gap',
  title: 'A token is counted by nobody',
  summary: 'No rank attends to some token, because its owner has too short a length or is taken for empty.',
  injection: injection({
    point: 'metadata.lengths',
    scope: 'step',
    params: z.strictObject({
      lost: z
        .enum(LOST)
        .default('tokens')
        .describe('tokens: the newest of each rank; rank: all rows are taken for empty'),
      tokens: z.int().min(1).max(1024).default(1).describe('how many tokens'),
    }),
    needs: [{ ...DENSE, holds: (config, { lost }) => lost === 'rank' || DENSE.holds(config, lost) }],
    engine: ({ lost, tokens }) => ({ variant: LOST.indexOf(lost), amount: tokens }),
  }),
}
