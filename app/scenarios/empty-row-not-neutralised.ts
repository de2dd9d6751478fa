import type { Scenario } from './scenario.ts'

export const emptyRowNotNeutralised: Scenario = {
  name: 'empty-row-not-neutralised',
  title: 'A rank without keys hands over what was in memory',
  fault: 'empty-row-not-neutralised',
  explanation:
    'A request of one token lies on one rank, and the kernel of the others writes nothing for it. ' +
    'The step that sets such rows to out 0 and lse -inf is not there, so the merge gets whatever ' +
    'the buffers held before, with an lse that outweighs the one real key.',
  source: 'vllm-project/vllm#38416',
  config: {
    serving: { backend: 'sglang-trtllm-mla' },
    workload: { requests: [{ contextLen: 300 }, { contextLen: 0 }, { contextLen: 150 }], steps: 2 },
  },
  faults: [{ fault: 'empty-row-not-neutralised' }],
  shows: ['out', 'lse', 'merged'],
  diagnosis: 'empty-row-not-neutralised',
}
