import type { Scenario } from './scenario.ts'

export const staleGraphMetadata: Scenario = {
  name: 'stale-graph-metadata',
  title: 'A replay that works on the lengths of the step before',
  fault: 'stale-graph-metadata',
  explanation:
    'A captured graph reads lengths and page table from buffers at fixed addresses, which must be ' +
    'refreshed before each replay. Here one replay is not: all ranks have the lengths of one step ' +
    'earlier, and the newest token is seen by nobody. The same step run eagerly is right.',
  source: 'vllm-project/vllm#36070',
  config: { serving: { backend: 'vllm-flashmla' }, cache: { pageSize: 64 }, engine: { graphBatch: true } },
  faults: [{ fault: 'stale-graph-metadata', steps: [3] }],
  shows: ['seq_lens_local', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'stale-graph-metadata',
}
