import type { Scenario } from './scenario.ts'

export const lseBaseMismatchOneRank: Scenario = {
  name: 'lse-base-mismatch-one-rank',
  title: 'One rank merges in another base than the others',
  fault: 'lse-base-mismatch',
  explanation:
    'On one rank another kernel was picked than on the others, and its merge takes the lse for one of ' +
    'the other base. With a2a each rank merges the heads that it keeps, so those of this rank alone ' +
    'are wrong.',
  source: 'vllm-project/vllm#47079',
  config: { serving: { backend: 'vllm-flashinfer-mla-legacy' }, parallel: { comm: 'a2a' } },
  faults: [{ fault: 'lse-base-mismatch', ranks: [2] }],
  shows: ['merged'],
  diagnosis: 'lse-base-mismatch',
}
