import type { Fault } from './fault.ts'

export const topkNotLocalised: Fault = {
  name: 'topk-not-localised',
  title: 'Chosen token ids used as they come from the indexer',
  summary: 'Sparse attention takes global token ids for local ones.',
}
