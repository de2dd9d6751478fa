import type { Scenario } from './scenario.ts'

export const causalEndAlignedUnbounded: Scenario = {
  name: 'causal-end-aligned-unbounded',
  title: 'Query tokens without a bound of their own',
  fault: 'causal-end-aligned',
  explanation:
    'The global bound of each query row is not passed on, and every row sees all keys of the rank, ' +
    'the tokens after its own among them. Only the last row is right.',
  source: 'vllm-project/vllm#48180',
  config: { serving: { backend: 'vllm-tokenspeed-mla' }, cache: { kvDtype: 'fp8' }, workload: { qLen: 4 } },
  faults: [{ fault: 'causal-end-aligned', params: { rows: 'shows' } }],
  shows: ['out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'causal-end-aligned',
}
