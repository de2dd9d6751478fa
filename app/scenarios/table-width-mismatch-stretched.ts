import type { Scenario } from './scenario.ts'

export const tableWidthMismatchStretched: Scenario = {
  name: 'table-width-mismatch-stretched',
  title: 'A reader that takes table rows for wider than they are',
  fault: 'table-width-mismatch',
  explanation:
    'The buffer has rows of the local width and its reader steps by the global one. The first request ' +
    'is right; the others are read from rows that are not theirs, and behind the last row from the ' +
    'last cell of the buffer.',
  source: 'vllm-project/vllm#46514',
  config: { serving: { backend: 'vllm-flashmla' }, cache: { pageSize: 64 } },
  faults: [{ fault: 'table-width-mismatch', params: { rows: 'stretched' } }],
  shows: ['block_table', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'table-width-mismatch',
}
