import type { Scenario } from './scenario.ts'

export const lseDropped: Scenario = {
  name: 'lse-dropped',
  title: 'Partials averaged as if all ranks weighed the same',
  fault: 'lse-dropped',
  explanation:
    'The lse is not handed on, because return_lse gets lost where one class delegates to another, ' +
    'and the merge takes the mean of the partials. With tokens dealt out evenly the ranks weigh ' +
    'nearly the same and the result looks plausible; with one key that matters it does not.',
  source: 'sgl-project/sglang#33926',
  config: { serving: { backend: 'sglang-cutedsl-mla' } },
  faults: [{ fault: 'lse-dropped' }],
  shows: ['merged'],
  diagnosis: 'lse-dropped',
}
