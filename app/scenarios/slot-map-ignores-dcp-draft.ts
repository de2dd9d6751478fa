import type { Scenario } from './scenario.ts'

export const slotMapIgnoresDcpDraft: Scenario = {
  name: 'slot-map-ignores-dcp-draft',
  title: 'A draft that writes its own cache by global positions',
  fault: 'slot-map-ignores-dcp',
  explanation:
    'The draft has pages and a slot map of its own. The model deals its tokens out over the ranks, and the ' +
    'draft writes by the position in the request, divided by the page alone, on every rank. The model is ' +
    'right in every row; the draft attends to places that nobody wrote for it, and its tokens are hardly ' +
    'ever accepted. Nothing fails, it is only slow.',
  source: 'vllm-project/vllm#46514',
  config: {
    serving: { backend: 'vllm-flashinfer-mla', draft: 'DSpark' },
    workload: { qLen: 4, data: 'normal' },
    capture: { layers: [1] },
  },
  faults: [{ fault: 'slot-map-ignores-dcp', branch: 'draft_extend' }],
  shows: ['slot_mapping', 'kv', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'slot-map-ignores-dcp',
  onDraft: true,
}
