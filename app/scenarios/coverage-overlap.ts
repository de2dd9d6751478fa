import type { Scenario } from './scenario.ts'

export const coverageOverlap: Scenario = {
  name: 'coverage-overlap',
  title: 'The newest token is stored and counted on every rank',
  fault: 'coverage-overlap',
  explanation:
    'Every rank writes the newest token and counts it, not its owner alone. The local lengths sum to ' +
    'more than the request has, and the newest key has as many times its weight.',
  source: 'sgl-project/sglang#33926',
  config: { serving: { backend: 'sglang-trtllm-mla' } },
  faults: [{ fault: 'coverage-overlap' }],
  shows: ['seq_lens_local', 'slot_mapping', 'kv', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'coverage-overlap',
}
