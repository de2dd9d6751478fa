import type { Scenario } from './scenario.ts'

export const interleaveMismatch: Scenario = {
  name: 'interleave-mismatch',
  title: 'Lengths of another interleave than the cache',
  fault: 'interleave-mismatch',
  explanation:
    'The cache is dealt out in runs of 16 tokens, while the lengths that the kernel gets are those of ' +
    'a cache dealt out one by one. A rank then misses up to 15 of its tokens, or reads as many places ' +
    'that nobody has written yet.',
  source: 'vllm-project/vllm#30309',
  config: { serving: { backend: 'vllm-flash-attn-mla' }, parallel: { interleave: 16 } },
  faults: [{ fault: 'interleave-mismatch' }],
  shows: ['seq_lens_local', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'interleave-mismatch',
}
