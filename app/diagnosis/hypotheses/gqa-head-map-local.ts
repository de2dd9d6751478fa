import type { Case } from '../case.ts'
import type { Hypothesis, PartialPrediction } from '../hypothesis.ts'
import { needs, REFERENCE } from '../needs.ts'

/** Maps from query heads to key heads that are built from the counts of one rank. */
const partials = (c: Case): PartialPrediction[] => {
  const own = c.heads / c.dcp
  const map = (detail: string, of: (head: number) => number): PartialPrediction => ({
    detail,
    partial: (context) =>
      context.mapped(
        Int32Array.from({ length: c.heads }, (_, head) =>
          Math.min(c.kvHeads - 1, Math.max(0, Math.floor(of(head)))),
        ),
      ),
  })
  return [
    map('with the key heads of heads counted within their rank', (head) => ((head % own) * c.kvHeads) / own),
    map('with groups of heads as large as those of one rank', (head) => (head * c.kvHeads) / own),
    map(
      'with groups of heads as large as those of one rank, and the first key head again behind the last,',
      (head) => Math.floor(head / Math.max(1, Math.floor(own / c.kvHeads))) % c.kvHeads,
    ),
  ]
}

export const gqaHeadMapLocal: Hypothesis = {
  fault: 'gqa-head-map-local',
  title: 'Query heads mapped to KV heads by local counts',
  causes: [
    {
      text: 'the map from query heads to key heads is built from the head counts of one rank while the queries are gathered',
      source: 'sgl-project/sglang#34161',
    },
  ],
  captureNext: 'q, kv_k, kv_v, block_table, seq_lens_global, out and lse of all ranks',
  applies: (c) => c.dcp > 1 && c.kvHeads > 1,
  needs: [needs(...REFERENCE, 'out or out_kernel or lse or lse_kernel')],
  partials,
}
