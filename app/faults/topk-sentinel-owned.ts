import { z } from 'zod'
import { type Fault, injection, SEVERAL_RANKS, SPARSE, variant } from './fault.ts'

const SENTINEL = ['indexed', 'counted'] as const

/** On the last rank, the only one that -1 seems to belong to: `indexed`, it leads to the last place of the last page of the request, which
 * is attended to; `counted`, it counts as a key of its row and leads nowhere. */
export const topkSentinelOwned: Fault = {
  name: 'topk-sentinel-owned',
  title: 'The entry for no token counts as a token',
  summary:
    'The -1 that stands for no token passes the test of ownership on the last rank and is taken for a key.',
  injection: injection({
    point: 'topk.localize',
    params: z.strictObject({
      sentinel: z
        .enum(SENTINEL)
        .default('indexed')
        .describe('indexed: it is attended to; counted: it only counts as a key'),
    }),
    needs: [SEVERAL_RANKS, SPARSE],
    engine: ({ sentinel }) => variant(SENTINEL, sentinel),
  }),
}
