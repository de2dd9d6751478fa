import { z } from 'zod'
import { DENSE, type Fault, injection, SEVERAL_RANKS, SEVERAL_TOKENS, variant } from './fault.ts'

const ROWS = ['hides', 'shows'] as const

/** `hides`: row q of n sees all but the last n-1-q local keys, which hides some that it should see. `shows`: there is no bound of a row
 * at all, and every row sees the newest tokens. */
export const causalEndAligned: Fault = {
  name: 'causal-end-aligned',
  title: 'Several query tokens masked on local keys',
  summary: 'The rows of several query tokens are masked on the keys of the rank as if these were contiguous.',
  injection: injection({
    point: 'attn.bound',
    scope: 'step',
    params: z.strictObject({
      rows: z
        .enum(ROWS)
        .default('hides')
        .describe(
          'hides: row q of n sees all but the last n-1-q local keys; shows: every row sees all of them',
        ),
    }),
    needs: [SEVERAL_RANKS, SEVERAL_TOKENS, DENSE],
    engine: ({ rows }) => variant(ROWS, rows),
  }),
}
