import { kernelHeads } from '../run/shape.ts'
import { type Fault, injection, NO_PARAMS, PLAIN, SEVERAL_RANKS } from './fault.ts'

/** The named ranks take the lse of padded heads, tokens first, for one without padding. */
export const lseHeadMisaligned: Fault = {
  name: 'lse-head-misaligned',
  title: 'Head padding trimmed from out and not from LSE',
  summary:
    'Padding heads are trimmed from out but stay in the lse, so that its rows shift from the second one on.',
  injection: injection({
    point: 'lse.trim',
    params: NO_PARAMS,
    needs: [
      SEVERAL_RANKS,
      {
        path: 'engine.paddedHeads',
        holds: (config) => config.engine.paddedHeads > kernelHeads(config),
        rule: 'must be above heads * dcpSize / tpSize',
      },
    ],
    engine: () => PLAIN,
  }),
}
