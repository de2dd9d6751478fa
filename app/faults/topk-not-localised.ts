import { type Fault, injection, NO_PARAMS, PLAIN, SEVERAL_RANKS, SPARSE } from './fault.ts'

/** The named ranks take every id for a local one, whoever owns it. */
export const topkNotLocalised: Fault = {
  name: 'topk-not-localised',
  title: 'Chosen token ids used as they come from the indexer',
  summary: 'Sparse attention takes global token ids for local ones.',
  injection: injection({
    point: 'topk.localize',
    params: NO_PARAMS,
    needs: [SEVERAL_RANKS, SPARSE],
    engine: () => PLAIN,
  }),
}
