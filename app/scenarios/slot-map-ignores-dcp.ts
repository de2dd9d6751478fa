import type { Scenario } from './scenario.ts'

export const slotMapIgnoresDcp: Scenario = {
  name: 'slot-map-ignores-dcp',
  title: 'A fused write by global positions',
  fault: 'slot-map-ignores-dcp',
  explanation:
    'A fused kernel writes the new key and knows nothing of DCP: it takes the position in the request ' +
    "for one in the rank's pages, on every rank. Rows of other tokens are overwritten, several tokens " +
    'share one row, and the place where the kernel looks for the new token stays empty.',
  source: 'sgl-project/sglang#36886',
  config: { serving: { backend: 'sglang-trtllm-mla' } },
  faults: [{ fault: 'slot-map-ignores-dcp' }],
  shows: ['slot_mapping', 'kv', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'slot-map-ignores-dcp',
}
