import type { Scenario } from './scenario.ts'

export const lengthViewsSwapped: Scenario = {
  name: 'length-views-swapped',
  title: 'A verify that hands the kernel global lengths',
  fault: 'length-views-swapped',
  explanation:
    'Metadata keeps two views of the lengths, of the request and of the rank. One branch writes the ' +
    'global length where every reader takes it for the local one, so the kernel walks a table of the ' +
    "rank's own pages about as many times too far as there are ranks and attends to whatever the " +
    'pages behind them hold.',
  source: 'sgl-project/sglang#33926',
  config: { serving: { backend: 'sglang-cutedsl-mla' }, workload: { qLen: 2 } },
  faults: [{ fault: 'length-views-swapped' }],
  shows: ['seq_lens_local', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'length-views-swapped',
}
