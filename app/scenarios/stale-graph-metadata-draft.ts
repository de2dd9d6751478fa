import type { Scenario } from './scenario.ts'

export const staleGraphMetadataDraft: Scenario = {
  name: 'stale-graph-metadata-draft',
  title: 'One of three branches that is not refreshed',
  fault: 'stale-graph-metadata',
  explanation:
    'Decode, target verify and draft extend have buffers of their own, and each refreshes its own before a ' +
    'replay. Here draft extend does not in one step: the draft has the lengths of the step before and does ' +
    'not see the tokens that it has to catch up on. Target verify is refreshed and right, so all that shows ' +
    'is that fewer tokens are accepted.',
  source: 'vllm-project/vllm#36070',
  config: {
    serving: { backend: 'sglang-cutedsl-mla', draft: 'DSpark' },
    workload: { qLen: 4, data: 'normal' },
    engine: { graphBatch: true },
    capture: { layers: [1] },
  },
  faults: [{ fault: 'stale-graph-metadata', branch: 'draft_extend', steps: [3] }],
  shows: ['seq_lens_local', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'stale-graph-metadata',
  onDraft: true,
}
