import type { Scenario } from './scenario.ts'

export const splitCounterUndersized: Scenario = {
  name: 'split-counter-undersized',
  title: 'Counters of split KV for the heads of one rank',
  fault: 'split-counter-undersized',
  explanation:
    'A kernel that splits the keys of a row counts its splits, to know which one is the last and ' +
    'combines. The counters are sized by the heads of one rank, while the kernel runs those of the ' +
    'whole group. Rows behind the counters take the first split for the last and hold that one alone.',
  source: 'sgl-project/sglang#33926',
  config: {
    serving: { backend: 'sglang-trtllm-mla' },
    workload: { requests: [{ contextLen: 12000 }], steps: 2 },
  },
  faults: [{ fault: 'split-counter-undersized' }],
  shows: ['out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'split-counter-undersized',
}
