import { type Case, columnsOf } from '../case.ts'
import type { Hypothesis, TablePrediction } from '../hypothesis.ts'
import { needs } from '../needs.ts'
import { keyOf, type RightPages } from '../sites/pages.ts'

/** Columns that the longest request takes. */
const needed = (c: Case): number => {
  const { lengths, batch, page } = c
  return lengths === undefined || page === undefined
    ? 0
    : Math.max(
        0,
        ...[...lengths.subarray(0, batch)].map((length, request) => columnsOf(c, page, length, request)),
      )
}

/**
 * Rows of the right width, read as rows that are wider by the dcp size: the cells are all there in their order, but those of a
 * request lie where rows of the right width have them.
 */
const pages = (c: Case, right: RightPages): TablePrediction[] => {
  const width = needed(c)
  return [
    {
      detail: 'and are those of rows that are wider by the dcp size',
      at: ({ table }, index) => {
        if (table === undefined || width === 0 || table.columns !== width * c.dcp) return undefined
        const request = Math.floor(index / table.columns)
        const column = index % table.columns
        const moved = table.values[request * width + column]
        const page = right.get(keyOf(request, column)) ?? (moved === table.values[index] ? undefined : moved)
        // Behind the last cell a reader finds the last one again.
        const isMoved = page !== undefined && page >= 0 && moved === page
        return isMoved ? table.values[index] : undefined
      },
    },
  ]
}

export const tableWidthMismatch: Hypothesis = {
  fault: 'table-width-mismatch',
  title: 'Table and reader disagree on the width of a row',
  causes: [
    {
      text: 'the buffer of the block table is sized for the pages of a rank and its reader steps by the global width, or the reverse',
      source: 'vllm-project/vllm#50825',
    },
  ],
  captureNext: 'block_table, slot_mapping, seq_lens_global and max_len of all ranks',
  needs: [needs('block_table', 'seq_lens_global', 'page_size', 'slot_mapping')],
  pages,
  width: (c) => [
    {
      detail: 'as if it were divided by the dcp size once more',
      columns: Math.ceil(needed(c) / c.dcp),
    },
  ],
}
