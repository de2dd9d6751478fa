import type { Scenario } from './scenario.ts'

export const lseLowPrecision: Scenario = {
  name: 'lse-low-precision',
  title: 'An lse in bf16',
  fault: 'lse-low-precision',
  explanation:
    'The lse is stored in the type of the query. At a magnitude of 16 to 32 the steps of bf16 are ' +
    '0.125, so that a weight is off by up to 4.4% in base 2. Partials are right and nothing is NaN:' +
    ' all values of the lse just lie on the grid of bf16.',
  source: 'vllm-project/vllm#47800',
  config: { model: { softmaxScale: 0.45 }, workload: { data: 'normal' }, engine: { lseBase: '2' } },
  faults: [{ fault: 'lse-low-precision' }],
  shows: ['lse_kernel', 'lse', 'merged'],
  diagnosis: 'lse-low-precision',
}
