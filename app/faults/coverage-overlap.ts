import { DENSE, type Fault, injection, NO_PARAMS, ONE_TOKEN, PLAIN, SEVERAL_RANKS } from './fault.ts'

/** The named ranks also store and count the newest token where another rank owns it, unless it would need a page of its own. */
export const coverageOverlap: Fault = {
  name: 'coverage-overlap',
  title: 'A token counts twice',
  summary: 'Two ranks hold and count the same token.',
  injection: injection({
    point: 'metadata.slots',
    scope: 'step',
    params: NO_PARAMS,
    needs: [SEVERAL_RANKS, ONE_TOKEN, DENSE],
    engine: () => PLAIN,
  }),
}
