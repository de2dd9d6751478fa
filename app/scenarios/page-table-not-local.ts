import type { Scenario } from './scenario.ts'

export const pageTableNotLocal: Scenario = {
  name: 'page-table-not-local',
  title: 'A page table built from global lengths',
  fault: 'page-table-not-local',
  explanation:
    'The counts of pages are taken from global lengths, so each request is handed about as many times ' +
    "too many columns as there are ranks. Behind the request's own pages the table leads to those of " +
    'others, and a kernel that counts keys by pages attends to them. The local lengths are right and ' +
    'nobody asks them.',
  source: 'vllm-project/vllm#48003',
  config: { serving: { backend: 'vllm-flashinfer-mla' } },
  faults: [{ fault: 'page-table-not-local' }],
  shows: ['block_table', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'page-table-not-local',
}
