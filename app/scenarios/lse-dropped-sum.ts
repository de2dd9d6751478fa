import type { Scenario } from './scenario.ts'

export const lseDroppedSum: Scenario = {
  name: 'lse-dropped-sum',
  title: 'Partials summed without weights',
  fault: 'lse-dropped',
  explanation:
    'The lse does not arrive and the reduce-scatter adds the partials as they are: the result is ' +
    'too large by about the number of ranks, and wrong by more where ranks differ.',
  source: 'sgl-project/sglang#33926',
  config: { serving: { backend: 'sglang-cutedsl-mla' } },
  faults: [{ fault: 'lse-dropped', params: { merge: 'sum' } }],
  shows: ['merged'],
  diagnosis: 'lse-dropped',
}
