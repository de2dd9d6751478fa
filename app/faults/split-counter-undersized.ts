import { type Fault, injection, NO_PARAMS, PLAIN, SEVERAL_RANKS } from './fault.ts'

/** Rows of the named ranks beyond tokens x heads / dcpSize have no counter: of their splits only the first one is combined. */
export const splitCounterUndersized: Fault = {
  name: 'split-counter-undersized',
  title: 'Counters of split KV are too few',
  summary:
    'Counters of split KV are sized for the heads of one rank while the kernel runs the gathered ones, so some tiles hold one split only.',
  injection: injection({
    point: 'attn.splitCounters',
    params: NO_PARAMS,
    needs: [SEVERAL_RANKS],
    engine: () => PLAIN,
  }),
}
