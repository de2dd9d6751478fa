import type { Fault } from './fault.ts'

export const tableWidthMismatch: Fault = {
  name: 'table-width-mismatch',
  title: 'Table and reader disagree on the width of a row',
  summary:
    'A block table has rows of one width while the reader steps by another that differs by the factor of the dcp size.',
}
