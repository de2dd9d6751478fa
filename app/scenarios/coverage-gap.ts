import type { Scenario } from './scenario.ts'

export const coverageGap: Scenario = {
  name: 'coverage-gap',
  title: 'The newest token is counted by nobody',
  fault: 'coverage-gap',
  explanation:
    'The local lengths are those of before the step: each rank leaves its newest token out. They sum ' +
    'to less than the request has. Since every shard is only a little short, the outputs are only a ' +
    'little wrong.',
  source: 'sgl-project/sglang#33926',
  config: { serving: { backend: 'sglang-trtllm-mla' } },
  faults: [{ fault: 'coverage-gap' }],
  shows: ['seq_lens_local', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'coverage-gap',
}
