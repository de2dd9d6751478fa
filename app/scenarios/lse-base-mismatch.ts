import type { Scenario } from './scenario.ts'

export const lseBaseMismatch: Scenario = {
  name: 'lse-base-mismatch',
  title: 'A base-2 lse merged as a natural one',
  fault: 'lse-base-mismatch',
  explanation:
    'The kernel returns the lse in base 2 and the merge takes it for one in base e. Every partial and ' +
    'every lse is right; only the weights are not: a rank counts with its softmax mass to the power ' +
    'of 1.443. There is no NaN, and with balanced shards the error is small. The lse divided by a ' +
    'reference in the assumed base is 1.4427 in every row.',
  source: 'sgl-project/sglang#33064',
  config: { serving: { backend: 'sglang-trtllm-mla' } },
  faults: [{ fault: 'lse-base-mismatch' }],
  shows: ['merged'],
  diagnosis: 'lse-base-mismatch',
}
