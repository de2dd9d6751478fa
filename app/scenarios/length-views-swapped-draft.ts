import type { Scenario } from './scenario.ts'

export const lengthViewsSwappedDraft: Scenario = {
  name: 'length-views-swapped-draft',
  title: 'A draft extend that hands the kernel global lengths',
  fault: 'length-views-swapped',
  explanation:
    'Metadata keeps two views of the lengths, of the request and of the rank, in each of its branches. Decode ' +
    'and target verify keep both; draft extend writes the global length where every reader takes it for the ' +
    "local one. The draft's kernel then walks a table of the rank's own pages about as many times too far as " +
    'there are ranks. The model is right, and the tokens of the draft are refused.',
  source: 'sgl-project/sglang#33926',
  config: {
    serving: { backend: 'sglang-cutedsl-mla', draft: 'DSpark' },
    workload: { qLen: 4, data: 'normal' },
    capture: { layers: [1] },
  },
  faults: [{ fault: 'length-views-swapped', branch: 'draft_extend' }],
  shows: ['seq_lens_local', 'out_kernel', 'lse_kernel', 'out', 'lse', 'merged'],
  diagnosis: 'length-views-swapped',
  onDraft: true,
}
