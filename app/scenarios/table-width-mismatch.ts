import { type Scenario, SPARSE } from './scenario.ts'

export const tableWidthMismatch: Scenario = {
  name: 'table-width-mismatch',
  title: 'A block table that was divided by the dcp size twice',
  fault: 'table-width-mismatch',
  explanation:
    'The caller hands over a width that is local already, and the buffer is divided by the dcp size ' +
    'once more. Rows of long requests run into the next ones, which are written over them, and the ' +
    'columns behind the width are those of another request.',
  source: 'vllm-project/vllm#50825',
  config: {
    ...SPARSE,
    serving: { backend: 'vllm-flashmla-sparse' },
  },
  faults: [{ fault: 'table-width-mismatch' }],
  shows: ['block_table', 'topk_slots', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'table-width-mismatch',
}
