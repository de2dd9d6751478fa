import { z } from 'zod'
import { DENSE, type Fault, GRAPH_BATCH, injection, variant } from './fault.ts'

const STALE = ['both', 'lengths', 'pages'] as const

/** In the steps that it names the local lengths, the block table, or both stay those of the step before; before the first step they are
 * those that the graph was captured with, requests of one token. */
export const staleGraphMetadata: Fault = {
  name: 'stale-graph-metadata',
  title: 'A graph replay sees lengths or pages of another step',
  summary:
    'Buffers that a captured graph reads are not refreshed before a replay, so kernels work on the lengths or pages of another step.',
  injection: injection({
    point: 'graph.refresh',
    scope: 'step',
    params: z.strictObject({ stale: z.enum(STALE).default('both').describe('what is not refreshed') }),
    needs: [
      GRAPH_BATCH,
      { ...DENSE, holds: (config, { stale }) => stale === 'pages' || DENSE.holds(config, stale) },
    ],
    engine: ({ stale }) => variant(STALE, stale),
  }),
}
