import type { Scenario } from './scenario.ts'

export const coverageGapRank: Scenario = {
  name: 'coverage-gap-rank',
  title: 'A rank with keys is taken for an empty one',
  fault: 'coverage-gap',
  explanation:
    'The step that neutralises rows without keys covers all rows of one rank. What its kernel ' +
    'computed is right, what it hands to the merge is (0, -inf), and a quarter of the tokens has no ' +
    'say.',
  source: 'sgl-project/sglang#33926',
  config: { serving: { backend: 'sglang-trtllm-mla' } },
  faults: [{ fault: 'coverage-gap', ranks: [1], params: { lost: 'rank' } }],
  shows: ['out', 'lse', 'merged'],
  diagnosis: 'coverage-gap',
}
