import { localLength } from '../../dcp/ownership.ts'
import { type Case, dealOf } from '../case.ts'
import type { Hypothesis, TablePrediction } from '../hypothesis.ts'
import { needs } from '../needs.ts'
import { FIRST_PAGE, newToken, pageAt } from '../right.ts'

const slots = (c: Case): TablePrediction[] => {
  const { page } = c
  if (page === undefined) return []
  const by = (
    detail: string,
    place: (token: number) => { column: number; offset: number; tokens: number },
  ): TablePrediction => ({
    detail,
    at: (rank, row) => {
      const token = newToken(c, row)
      if (token === undefined) return undefined
      const { column, offset, tokens } = place(token)
      if (rank.table === undefined) return offset % page
      const id = pageAt(rank, c.requestOf[row] ?? -1, column)
      return (id ?? FIRST_PAGE) * tokens + offset
    },
  })
  return [
    by('and are those of the global position, on every rank', (token) => ({
      column: Math.floor(token / page),
      offset: token % page,
      tokens: page,
    })),
    by('and are rows of virtual pages, which the ranks share', (token) => ({
      column: Math.floor(token / (page * c.dcp)),
      offset: token % (page * c.dcp),
      tokens: page * c.dcp,
    })),
    by('and are those of the global position within the right page', (token) => ({
      column: Math.floor(token / (page * c.dcp)),
      offset: token % page,
      tokens: page,
    })),
  ]
}

/** New tokens of the rank that were written to another place are missing at the end of its keys. */
const written = (c: Case): TablePrediction[] => [
  {
    detail: 'since new tokens were written to other places',
    at: ({ rank }, request) => {
      const length = c.lengths?.[request]
      return length === undefined
        ? undefined
        : localLength(Math.max(0, length - (c.queriesOf[request] ?? 1)), rank, dealOf(c, request))
    },
  },
]

export const slotMapIgnoresDcp: Hypothesis = {
  fault: 'slot-map-ignores-dcp',
  title: 'New keys are written by global position',
  causes: [
    {
      text: 'a draft model, a fused kernel that also writes the cache, or an index cache takes the slot map of an engine without DCP',
      source: 'sgl-project/sglang#36886',
    },
  ],
  captureNext:
    'slot_mapping, block_table and seq_lens_global of all ranks, where the writer in question gets them',
  needs: [needs('slot_mapping', 'block_table', 'seq_lens_global', 'page_size')],
  slots,
  written,
}
