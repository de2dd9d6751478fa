import type { Scenario } from './scenario.ts'

export const padRowGarbage: Scenario = {
  name: 'pad-row-garbage',
  title: 'Garbage in rows that only pad the batch',
  fault: 'pad-row-garbage',
  explanation:
    'A graph is captured for a few sizes of batch, and smaller ones are padded. The kernel leaves the ' +
    'rows of padding as they are, NaN here. That is harmless as long as nobody takes them for real ' +
    'ones: all rows of the batch are right.',
  source: 'flashinfer-ai/flashinfer#2883',
  config: {
    serving: { backend: 'vllm-flashinfer-mla-legacy' },
    workload: { requests: [{ contextLen: 300 }, { contextLen: 37 }, { contextLen: 150 }] },
    engine: { graphBatch: true },
  },
  faults: [{ fault: 'pad-row-garbage' }],
  shows: ['out_kernel', 'out', 'lse', 'merged'],
  diagnosis: null,
  harmless: true,
}
