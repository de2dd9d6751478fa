import { localIndex } from '../../dcp/ownership.ts'
import type { Case } from '../case.ts'
import type { Hypothesis, TablePrediction } from '../hypothesis.ts'
import { ofOneRank } from '../needs.ts'
import { newToken, pageAt } from '../right.ts'

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
      const id = pageAt(rank, c.requestOf[row] ?? -1, column)
      return id === undefined ? undefined : id * tokens + offset
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
    by('and are given also on ranks that do not hold the token', (token) => {
      const local = localIndex(token, c)
      return { column: Math.floor(local / page), offset: local % page, tokens: page }
    }),
  ]
}

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
  needs: [ofOneRank('slot_mapping', 'block_table', 'seq_lens_global', 'page_size')],
  slots,
}
