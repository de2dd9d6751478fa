import { type Scenario, SPARSE } from './scenario.ts'

export const kvLayoutMismatch: Scenario = {
  name: 'kv-layout-mismatch',
  title: 'Rows of 656 bytes read as rows of 576',
  fault: 'kv-layout-mismatch',
  explanation:
    'A row of fp8_ds_mla has 656 bytes, with scales and a bf16 rope part behind its codes; a row of ' +
    'plain fp8 has 576. A reader of the other layout finds the first row, and from the second one on ' +
    'takes codes for scales.',
  source: 'vllm-project/vllm#48379',
  config: {
    ...SPARSE,
    serving: { backend: 'vllm-flashmla-sparse' },
  },
  faults: [{ fault: 'kv-layout-mismatch' }],
  shows: ['out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'kv-layout-mismatch',
}
