import { z } from 'zod'
import type { RunConfig } from '../run/config.ts'
import { DENSE, type Fault, injection, SEVERAL_RANKS } from './fault.ts'

const OF = ['lengths', 'cache'] as const

const other = ({ parallel, cache }: RunConfig, named: number | undefined): number =>
  named ?? (parallel.interleave === 1 ? cache.pageSize : 1)

/** `lengths`: local lengths and bounds of the named ranks follow the other interleave (amount). `cache`: their keys are written by it.
 * The other interleave is the page where the run has 1, else 1. */
export const interleaveMismatch: Fault = {
  name: 'interleave-mismatch',
  title: 'Cache and kernel disagree on the interleave',
  summary: 'The cache is written with one interleave, while lengths or visible keys follow another.',
  injection: injection({
    point: 'metadata.lengths',
    scope: 'run',
    params: z.strictObject({
      of: z
        .enum(OF)
        .default('lengths')
        .describe('what follows the other interleave: lengths and bounds, or the written cache'),
      interleave: z
        .int()
        .min(1)
        .max(1024)
        .optional()
        .describe('the other interleave; the page where the run has 1, else 1'),
    }),
    needs: [
      SEVERAL_RANKS,
      { ...DENSE, holds: (config, { of }) => of === 'cache' || DENSE.holds(config, of) },
      {
        path: '.params.interleave',
        holds: (config, { interleave }) => config.cache.pageSize % other(config, interleave) === 0,
        rule: 'must divide pageSize',
      },
      {
        path: '.params.interleave',
        holds: (config, { interleave }) => other(config, interleave) !== config.parallel.interleave,
        rule: 'must differ from parallel.interleave',
      },
    ],
    engine: ({ of, interleave }, config) => ({ variant: OF.indexOf(of), amount: other(config, interleave) }),
  }),
}
