import { type Fault, injection, NO_PARAMS, PLAIN, SEVERAL_RANKS } from './fault.ts'

/** The named ranks write every new token, at its global position; columns beyond those of the request lead to the first page of the pool. */
export const slotMapIgnoresDcp: Fault = {
  name: 'slot-map-ignores-dcp',
  title: 'New keys are written by global position',
  summary: 'A writer uses the global position of a token as if the cache were not dealt out over ranks.',
  injection: injection({
    point: 'metadata.slots',
    scope: 'step',
    params: NO_PARAMS,
    needs: [SEVERAL_RANKS],
    engine: () => PLAIN,
  }),
}
