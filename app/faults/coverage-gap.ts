import { z } from 'zod'
import { DENSE, type Fault, injection } from './fault.ts'

/** The local lengths of the named ranks are `tokens` too short (amount), at least 0: their newest tokens are seen by nobody. */
export const coverageGap: Fault = {
  name: 'coverage-gap',
  title: 'A token is counted by nobody',
  summary: 'No rank attends to some token, because the local length of its owner is too short.',
  injection: injection({
    point: 'metadata.lengths',
    scope: 'step',
    params: z.strictObject({ tokens: z.int().min(1).max(1024).default(1) }),
    needs: [DENSE],
    engine: ({ tokens }) => ({ variant: 0, amount: tokens }),
  }),
}
