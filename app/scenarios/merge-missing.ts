import type { Scenario } from './scenario.ts'

export const mergeMissing: Scenario = {
  name: 'merge-missing',
  title: 'Each rank keeps what its own shard says',
  fault: 'merge-missing',
  explanation:
    'The path that was taken merges nothing over the ranks, so each goes on with attention over its' +
    ' own shard. The original sat in prefill, which the engine does not run; here the merge of ' +
    'decode is left out.',
  source: 'vllm-project/vllm#48180',
  config: { serving: { backend: 'vllm-flashinfer-mla' } },
  faults: [{ fault: 'merge-missing' }],
  shows: ['merged'],
  diagnosis: 'merge-missing',
}
