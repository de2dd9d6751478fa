import { type Scenario, SPARSE } from './scenario.ts'

export const topkNotLocalised: Scenario = {
  name: 'topk-not-localised',
  title: 'Chosen ids used as the indexer gives them',
  fault: 'topk-not-localised',
  explanation:
    'The indexer chooses tokens of the whole request. Each rank should keep those that it owns and ' +
    'turn them into places of its own; here all ranks take all ids for local ones. Ids beyond the ' +
    'local length lead to pages of others, and those below it to other tokens.',
  source: 'vllm-project/vllm#54541',
  config: {
    ...SPARSE,
    serving: { backend: 'vllm-flashmla-sparse' },
  },
  faults: [{ fault: 'topk-not-localised' }],
  shows: ['topk_local', 'topk_slots', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'topk-not-localised',
}
