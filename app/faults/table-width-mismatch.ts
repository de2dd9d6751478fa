import { z } from 'zod'
import { type Fault, injection, SEVERAL_RANKS, variant } from './fault.ts'

const ROWS = ['narrow', 'stretched'] as const

/** `narrow`: the buffer of the block table has been divided by the dcp size once more, so rows run into the next ones. `stretched`: its
 * reader takes rows for wider by that factor. */
export const tableWidthMismatch: Fault = {
  name: 'table-width-mismatch',
  title: 'Table and reader disagree on the width of a row',
  summary:
    'A block table has rows of one width while the reader steps by another that differs by the factor of the dcp size.',
  injection: injection({
    point: 'metadata.pageTable',
    scope: 'step',
    params: z.strictObject({
      rows: z
        .enum(ROWS)
        .default('narrow')
        .describe(
          'narrow: the buffer is divided by the dcp size once more; stretched: its reader multiplies by it',
        ),
    }),
    needs: [SEVERAL_RANKS],
    engine: ({ rows }) => variant(ROWS, rows),
  }),
}
