import type { Scenario } from './scenario.ts'

export const headOrderPermuted: Scenario = {
  name: 'head-order-permuted',
  title: 'Merged heads on the wrong rank',
  fault: 'head-order-permuted',
  explanation:
    'The ranks of the collective are counted in another order than the slices of heads, so each ' +
    'rank merges the heads of its neighbour. All of them are right, but the projection that follows' +
    ' has the weights of others.',
  source: 'NVIDIA/TensorRT-LLM#10350',
  config: { parallel: { comm: 'a2a' } },
  faults: [{ fault: 'head-order-permuted' }],
  shows: ['merged'],
  diagnosis: 'head-order-permuted',
}
