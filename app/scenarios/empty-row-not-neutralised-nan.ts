import type { Scenario } from './scenario.ts'

export const emptyRowNotNeutralisedNan: Scenario = {
  name: 'empty-row-not-neutralised-nan',
  title: 'NaN of a row without keys, times a weight of 0',
  fault: 'empty-row-not-neutralised',
  explanation:
    'The kernel leaves NaN in rows without keys, with an lse of -inf, so that their weight is 0. ' +
    'The merge multiplies all payloads, and 0 * NaN is NaN: one rank without keys spoils the row of' +
    ' all. The NaN is first seen in the partial of that rank.',
  source: 'flashinfer-ai/flashinfer#2883',
  config: {
    engine: { emptyRow: 'nan', zeroWeight: 'multiplied' },
    workload: { requests: [{ contextLen: 300 }, { contextLen: 0 }, { contextLen: 150 }], steps: 2 },
  },
  faults: [{ fault: 'empty-row-not-neutralised' }],
  shows: ['out', 'merged'],
  diagnosis: 'empty-row-not-neutralised',
}
