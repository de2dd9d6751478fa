import { DENSE, type Fault, injection, NO_PARAMS, PLAIN, SEVERAL_RANKS } from './fault.ts'

/** The table of the named ranks has columns for the global length, those beyond the own ones with pages of others, and the kernel takes
 * its count of keys from them. */
export const pageTableNotLocal: Fault = {
  name: 'page-table-not-local',
  title: 'The page table is built for global lengths',
  summary:
    'Block table or its counts are built from global lengths, so columns beyond those of the rank are read.',
  injection: injection({
    point: 'metadata.pageTable',
    scope: 'step',
    params: NO_PARAMS,
    needs: [SEVERAL_RANKS, DENSE],
    engine: () => PLAIN,
  }),
}
