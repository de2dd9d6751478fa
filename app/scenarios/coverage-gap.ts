import type { Scenario } from './scenario.ts'

export const coverageGap: Scenario = {
  name: 'coverage-gap',
  title: 'The newest token is counted by nobody',
  fault: 'coverage-gap',
  explanation:
    'Every local length is one too short, so the newest token of each rank is seen by nobody, and the ' +
    'lengths sum to less than the request has. Where contexts are long and balanced the outputs are ' +
    'only a little wrong.',
  source: 'sgl-project/sglang#33926',
  config: { serving: { backend: 'sglang-trtllm-mla' } },
  faults: [{ fault: 'coverage-gap' }],
  shows: ['seq_lens_local', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'coverage-gap',
}
