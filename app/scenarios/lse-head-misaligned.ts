import { type Scenario, SPARSE } from './scenario.ts'

export const lseHeadMisaligned: Scenario = {
  name: 'lse-head-misaligned',
  title: 'Padding of heads trimmed from out alone',
  fault: 'lse-head-misaligned',
  explanation:
    'The kernel pads 32 heads to 64. The padding is cut off from out but not from the lse, whose ' +
    'rows then begin 32 values too early from the second one on: rows get the lse of other rows and' +
    ' of heads that nobody computed. The first row is right.',
  source: 'vllm-project/vllm#46514',
  config: { ...SPARSE, model: { ...SPARSE.model, heads: 32 }, serving: { backend: 'vllm-flashmla-sparse' } },
  faults: [{ fault: 'lse-head-misaligned' }],
  shows: ['lse', 'merged'],
  diagnosis: 'lse-head-misaligned',
}
