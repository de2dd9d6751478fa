import type { Scenario } from './scenario.ts'

export const mergedEmptyNan: Scenario = {
  name: 'merged-empty-nan',
  title: 'A merge of nothing is NaN',
  fault: 'merged-empty-nan',
  explanation:
    'Rows that only pad the batch of a graph have no keys on any rank. Every rank hands over the ' +
    'neutral element, out 0 and lse -inf, and the merge divides by the sum of their weights, which ' +
    'is 0. Rows of the batch are right; what comes after attention sees NaN in the others.',
  source: 'flashinfer-ai/flashinfer#4051',
  config: {
    serving: { backend: 'vllm-flashinfer-mla-legacy' },
    workload: { requests: [{ contextLen: 300 }, { contextLen: 37 }, { contextLen: 150 }] },
    engine: { graphBatch: true },
  },
  faults: [{ fault: 'merged-empty-nan' }],
  shows: ['merged'],
  diagnosis: 'merged-empty-nan',
  harmless: true,
}
