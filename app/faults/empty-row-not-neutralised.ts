import type { Fault } from './fault.ts'

export const emptyRowNotNeutralised: Fault = {
  name: 'empty-row-not-neutralised',
  title: 'Rows without keys reach the merge as they are',
  summary: 'A rank without keys hands garbage or NaN to the merge, which has to see out 0 and lse -inf.',
}
