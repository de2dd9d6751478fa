import type { Scenario } from './scenario.ts'

export const causalEndAligned: Scenario = {
  name: 'causal-end-aligned',
  title: 'Query tokens masked on local keys from the end',
  fault: 'causal-end-aligned',
  explanation:
    'With several query tokens row q of n may see all but the newest n-1-q tokens of the request. The ' +
    'kernel masks that many of its own keys instead, as if these were contiguous, although at most ' +
    'one of c of the newest tokens is its own. Keys that should be seen are hidden, in every row but ' +
    'the last.',
  source: 'vllm-project/vllm#48180',
  config: { serving: { backend: 'vllm-tokenspeed-mla' }, cache: { kvDtype: 'fp8' }, workload: { qLen: 4 } },
  faults: [{ fault: 'causal-end-aligned' }],
  shows: ['out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'causal-end-aligned',
}
