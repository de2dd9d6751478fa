import type { Scenario } from './scenario.ts'

export const coverageGap: Scenario = {
  name: 'coverage-gap',
  title: 'The newest tokens of a rank are counted by nobody',
  fault: 'coverage-gap',
  explanation:
    'The local lengths of one rank are two tokens too short, so its newest keys are seen by nobody, ' +
    'and the lengths of all ranks sum to less than the request has. Where contexts are long the ' +
    'outputs are only a little wrong.',
  source: 'sgl-project/sglang#33926',
  config: { serving: { backend: 'sglang-trtllm-mla' } },
  faults: [{ fault: 'coverage-gap', ranks: [1], params: { tokens: 2 } }],
  shows: ['seq_lens_local', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'coverage-gap',
}
