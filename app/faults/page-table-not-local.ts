import type { Fault } from './fault.ts'

export const pageTableNotLocal: Fault = {
  name: 'page-table-not-local',
  title: 'The page table is built for global lengths',
  summary:
    'Block table or its counts are built from global lengths, so columns beyond those of the rank are read.',
}
