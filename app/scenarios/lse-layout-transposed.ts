import { type Scenario, SPARSE } from './scenario.ts'

export const lseLayoutTransposed: Scenario = {
  name: 'lse-layout-transposed',
  title: 'A strided view of the lse taken for contiguous',
  fault: 'lse-layout-transposed',
  explanation:
    'The kernel returns its lse as [1, H, T]. The step before the merge turns that into a view [T, ' +
    'H] and hands its memory on as if it were contiguous, so rows and heads get the lse of others. ' +
    'Every out is right.',
  source: 'vllm-project/vllm#54305',
  config: { ...SPARSE, serving: { backend: 'vllm-flashmla-sparse' } },
  faults: [{ fault: 'lse-layout-transposed' }],
  shows: ['lse', 'merged'],
  diagnosis: 'lse-layout-transposed',
}
