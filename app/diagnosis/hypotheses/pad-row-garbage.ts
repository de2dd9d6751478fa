import type { Hypothesis } from '../hypothesis.ts'
import { needs } from '../needs.ts'

/** Told as information: rows of padding are harmless unless they are merged into real rows. */
export const padRowGarbage: Hypothesis = {
  fault: 'pad-row-garbage',
  title: 'Padding rows of a graph hold garbage',
  causes: [
    {
      text: 'rows that only pad the batch of a graph are never written',
      source: 'flashinfer-ai/flashinfer#2883',
    },
  ],
  captureNext: 'out of all rows of the graph, the padding included',
  applies: (c) => c.graph,
  needs: [needs('out or out_kernel', 'seq_lens_global')],
}
