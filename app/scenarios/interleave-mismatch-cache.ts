import type { Scenario } from './scenario.ts'

export const interleaveMismatchCache: Scenario = {
  name: 'interleave-mismatch-cache',
  title: 'A cache written with another interleave than the lengths',
  fault: 'interleave-mismatch',
  explanation:
    'The writer deals tokens out one by one, while lengths and kernel follow runs of 16. Each token ' +
    'is there once, on another rank than the one that counts it, and where the counts differ tokens ' +
    'are lost.',
  source: 'vllm-project/vllm#30309',
  config: { serving: { backend: 'vllm-flash-attn-mla' }, parallel: { interleave: 16 } },
  faults: [{ fault: 'interleave-mismatch', params: { of: 'cache' } }],
  shows: ['slot_mapping', 'kv', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'interleave-mismatch',
}
